// Memory for numbers. It is not initialised, so pages that are never touched cost nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#define EARTHDOF_PAGES
#endif

namespace earthdof {

// Size in bytes above which memory is requested from and returned to the system directly. The library would keep freed
// memory for later requests, which increases the memory use of long fits.
constexpr std::size_t kWholePages = std::size_t{1} << 20;

inline void* allocate_bytes(std::size_t bytes, std::size_t alignment) {
#ifdef EARTHDOF_PAGES
  if (bytes >= kWholePages) {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return pages;
  }
#endif
  return ::operator new(bytes, std::align_val_t{alignment});
}

inline void release_bytes(void* memory, std::size_t bytes, std::size_t alignment) {
#ifdef EARTHDOF_PAGES
  if (bytes >= kWholePages) {
    munmap(memory, bytes);
    return;
  }
#endif
  ::operator delete(memory, std::align_val_t{alignment});
}

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "a buffer holds plain numbers");

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : data_(allocate(size)), size_(size) {}
  Buffer(std::size_t size, T value) : Buffer(size) { fill(value); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) release_bytes(data_, bytes(size_), kAlignment);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  void fill(T value) { std::fill(begin(), end(), value); }

 private:
  static constexpr std::size_t kAlignment = 64;

  static std::size_t bytes(std::size_t size) { return std::max<std::size_t>(size, 1) * sizeof(T); }
  static T* allocate(std::size_t size) { return static_cast<T*>(allocate_bytes(bytes(size), kAlignment)); }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Rows of equal length, stored contiguously.
template <class T>
class Table {
 public:
  Table() = default;
  Table(std::size_t rows, std::size_t width) : values_(rows * width), rows_(rows), width_(width) {}
  Table(std::size_t rows, std::size_t width, T value) : Table(rows, width) { values_.fill(value); }

  T* operator[](std::size_t row) { return values_.data() + row * width_; }
  const T* operator[](std::size_t row) const { return values_.data() + row * width_; }
  std::size_t rows() const { return rows_; }
  std::size_t width() const { return width_; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  void fill(T value) { values_.fill(value); }

 private:
  Buffer<T> values_;
  std::size_t rows_ = 0, width_ = 0;
};

// The same as a view of memory owned elsewhere.
template <class T>
struct Rows {
  T* data;
  std::size_t rows, width;

  T* operator[](std::size_t row) const { return data + row * width; }
};

}  // namespace earthdof
