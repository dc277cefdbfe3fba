// Smoothing splines from the triangle of their design: coefficients, traces, and the best lambda by GCV.
#pragma once

#include <cstdint>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Triangle of the design, Q'Y, and two penalty rows per column.
struct SmoothingProblem {
  Rows<const double> triangle, rotated, penalty;
};

// Column j of `coef` and entry j of `trace` with the lambda of response j.
void solve_each(const SmoothingProblem& problem, const double* lams, Rows<double> coef, double* trace, Team& team);

// Log lambda with minimum GCV for each response: the best of a grid, then golden sections. `outside` are the sums of
// squares outside the column space of the design, `n` is the number of cases in GCV.
void minimise_gcv(const SmoothingProblem& problem, const double* outside, double n, const double* grid,
                  std::size_t grid_size, double* best, Team& team);

// The four B-splines of order four that are not zero on an interval, by the recursion of Cox and de Boor. They are
// polynomials, also valid outside the interval.
void nonzero_basis(const double* x, const std::int64_t* interval, std::size_t n, const double* knots, Rows<double> out);

}  // namespace earthdof
