#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "../core/extended.hpp"
#include "arrays.hpp"

namespace earthdof {

namespace {

// Call work(E{}) with emulated numbers or with those of this machine.
template <class Work>
auto in_precision(bool emulated, Work&& work) {
  return emulated ? work(SoftExtended{}) : work(Extended{});
}

double sum(const In1<double>& values, bool emulated) {
  return in_precision(emulated,
                      [&](auto zero) { return extended_sum<decltype(zero)>(values.data(), values.shape(0)); });
}

double mean(const In1<double>& values, bool emulated) {
  return in_precision(emulated,
                      [&](auto zero) { return extended_mean<decltype(zero)>(values.data(), values.shape(0)); });
}

double variance(const In1<double>& values, bool emulated) {
  return in_precision(emulated,
                      [&](auto zero) { return extended_variance<decltype(zero)>(values.data(), values.shape(0)); });
}

Out<double> column_means(const In2<double>& matrix, bool emulated) {
  const std::size_t n = matrix.shape(0), m = matrix.shape(1);
  Out<double> means = make_array<double>({m});
  in_precision(emulated, [&](auto zero) {
    using E = decltype(zero);
    std::vector<E> totals(m, E(0.0));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < m; ++c) totals[c] += matrix.data()[i * m + c];
    const E count = static_cast<double>(n);
    for (std::size_t c = 0; c < m; ++c) means.data()[c] = static_cast<double>(totals[c] / count);
    return 0;
  });
  return means;
}

std::tuple<Out<double>, Out<double>> division(const In1<double>& a, const In1<double>& b, bool emulated) {
  require(a.shape(0) == b.shape(0), "there should be a divisor for each value");
  const std::size_t n = a.shape(0);
  Out<double> rest = make_array<double>({n}), steps = make_array<double>({n});
  in_precision(emulated, [&](auto zero) {
    for (std::size_t i = 0; i < n; ++i)
      std::tie(rest.data()[i], steps.data()[i]) = extended_division<decltype(zero)>(a.data()[i], b.data()[i]);
    return 0;
  });
  return {rest, steps};
}

}  // namespace

void bind_extended(nb::module_& m) {
  using namespace nb::literals;
  // `emulated` computes in software even if the machine has the format, for tests.
  m.def("extended_sum", &sum, "values"_a, "emulated"_a = false);
  m.def("extended_mean", &mean, "values"_a, "emulated"_a = false);
  m.def("extended_variance", &variance, "values"_a, "emulated"_a = false);
  m.def("extended_column_means", &column_means, "matrix"_a, "emulated"_a = false);
  m.def("extended_division", &division, "a"_a, "b"_a, "emulated"_a = false);
  m.attr("LONG_DOUBLE_DIGITS") = LDBL_MANT_DIG;
}

}  // namespace earthdof
