// Generalised linear models for Python.
#include "../mars/glm.hpp"

#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "calls.hpp"

namespace earthdof {

namespace {

// The coefficients, or None if a column depends on those before it.
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
  Out<double> found = make_array<double>({values.shape(0)});
  for (std::size_t i = 0; i < values.shape(0); ++i) found.data()[i] = Function(values.data()[i]);
  return found;
}

Out<double> deviances(const In1<double>& y, const In1<double>& mean, const In1<double>& weights) {
  Out<double> found = make_array<double>({y.shape(0)});
  for (std::size_t i = 0; i < y.shape(0); ++i)
    found.data()[i] = binomial_deviance(y.data()[i], mean.data()[i], weights.data()[i]);
  return found;
}

}  // namespace

void bind_glm(nb::module_& m) {
  using namespace nb::literals;
  m.def("solve_reweighted", &reweighted, "columns"_a, "root"_a, "target"_a, "tolerance"_a, "n_threads"_a = 1);
  m.def("logistic", &each<logistic>, "eta"_a);
  m.def("logistic_slope", &each<logistic_slope>, "eta"_a);
  m.def("binomial_deviances", &deviances, "y"_a, "mean"_a, "weights"_a);
}

}  // namespace earthdof
