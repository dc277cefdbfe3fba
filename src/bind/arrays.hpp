// Conversion between arrays of numpy and memory of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <new>

#include "../core/buffer.hpp"

namespace earthdof {

namespace nb = nanobind;

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Strided2 = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

template <class T>
Rows<const T> rows(const In2<T>& array) {
  return {array.data(), array.shape(0), array.shape(1)};
}

// Python checks the input of users; this check is for direct callers of the core.
inline void require(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}

// A new, uninitialised array of numpy.
template <class T>
Out<T> make_array(std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (std::size_t extent : shape) {
    if (extent != 0 && size > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T) / extent) throw std::bad_alloc();
    size *= extent;
  }
  auto* values = new Buffer<T>(size);
  nb::capsule owner(values, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
  return Out<T>(values->data(), shape.size(), shape.begin(), owner);
}

template <class T, class Source>
Out<T> copied(const Source* source, std::initializer_list<std::size_t> shape) {
  Out<T> array = make_array<T>(shape);
  std::copy_n(source, array.size(), array.data());
  return array;
}

template <class T>
Out<T> copied(const Table<T>& table) {
  return copied<T>(table.data(), {table.rows(), table.width()});
}

}  // namespace earthdof
