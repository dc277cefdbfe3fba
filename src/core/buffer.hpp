// Memory for numbers. Nothing is set when it is made, so that what is never touched costs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace earthdof {

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
  ~Buffer() { release(data_); }

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
  static constexpr std::align_val_t kAlignment{64};

  static T* allocate(std::size_t size) {
    return static_cast<T*>(::operator new(std::max<std::size_t>(size, 1) * sizeof(T), kAlignment));
  }
  static void release(T* data) {
    if (data != nullptr) ::operator delete(data, kAlignment);
  }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Rows of equal length, one after the other.
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

// The same, of memory that belongs to somebody else.
template <class T>
struct Rows {
  T* data;
  std::size_t rows, width;

  T* operator[](std::size_t row) const { return data + row * width; }
};

}  // namespace earthdof
