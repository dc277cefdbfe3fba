// Generalised linear models for Python.
#include "../mars/glm.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>

#include "../simd/loops.hpp"
#include "arrays.hpp"
#include "calls.hpp"

namespace earthdof {

namespace {

// Coefficients, or None if a column depends on earlier ones.
nb::object reweighted(const In2<double>& columns, const In1<double>& root, const In1<double>& target, double tolerance,
                      int n_threads) {
  const std::vector<double> coef = in_threads(n_threads, [&](Team& team) {
    return solve_reweighted(rows(columns), root.data(), target.data(), tolerance, team);
  });
  if (coef.empty()) return nb::none();
  return nb::cast(copied<double>(coef.data(), {coef.size()}));
}

template <double (*Function)(double)>
Out<double> each(const In1<double>& values) {
  const std::size_t n = values.shape(0);
  Out<double> found = make_array<double>({n});
  const double* source = values.data();
  double* out = found.data();
  nb::gil_scoped_release release;  // models of several responses are fitted in parallel
  for (std::size_t i = 0; i < n; ++i) out[i] = Function(source[i]);
  return found;
}

Out<double> deviances(const In1<double>& y, const In1<double>& mean, const In1<double>& weights) {
  const std::size_t n = y.shape(0);
  require(mean.shape(0) == n && weights.shape(0) == n, "there should be a mean and a weight for each case");
  Out<double> found = make_array<double>({n});
  const double *response = y.data(), *expected = mean.data(), *weight = weights.data();
  double* out = found.data();
  nb::gil_scoped_release release;
  for (std::size_t i = 0; i < n; ++i) out[i] = binomial_deviance(response[i], expected[i], weight[i]);
  return found;
}

// Sum of the columns times their coefficients, column by column.
Out<double> product(const In2<double>& columns, const In1<double>& coef) {
  require(columns.shape(0) == coef.shape(0), "there should be a coefficient for each column");
  const std::size_t n = columns.shape(1);
  Out<double> found = make_array<double>({n});
  const Rows<const double> each = rows(columns);
  const double* factor = coef.data();
  double* out = found.data();
  nb::gil_scoped_release release;
  std::fill(out, out + n, 0.0);
  for (std::size_t k = 0; k < each.rows; ++k) loops().add_scaled(out, factor[k], each[k], n);
  return found;
}

}  // namespace

void bind_glm(nb::module_& m) {
  using namespace nb::literals;
  m.def("solve_reweighted", &reweighted, "columns"_a, "root"_a, "target"_a, "tolerance"_a, "n_threads"_a = 1);
  m.def("logistic", &each<logistic>, "eta"_a);
  m.def("logistic_slope", &each<logistic_slope>, "eta"_a);
  m.def("product_in_order", &product, "columns"_a, "coef"_a);
  m.def("binomial_deviances", &deviances, "y"_a, "mean"_a, "weights"_a);
}

}  // namespace earthdof
