// Coefficients and leverages, in R's order of operations.
//
// R's order is required to reproduce its loss of digits in ill-conditioned fits (weights that differ by many powers of
// ten), and because the rounding in a perfect fit determines the number of pruned terms.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

constexpr double kRankTolerance = 1e-8;  // of earth's regressions
constexpr double kLmTolerance = 1e-7;    // of R's lm(), earth's last one

// Rows of `columns` that do not depend on earlier ones according to R's QR.
std::vector<std::size_t> find_independent(Rows<const double> columns, double tolerance, Team& team);

// Regression of responses on columns; empty if a column depends on earlier ones.
struct Regression {
  bool is_independent = false;
  Table<double> coef;         // (m, n_resp)
  double rss = 0.0;           // over all responses
  Table<double> residuals;    // (n_resp, n)
  Table<double> triangle;     // (m, m): row j contains column j in the orthonormal basis
  Table<double> rotated;      // (n_resp, m): the responses in that basis
  Table<double> reflections;  // (m, n)
};

// Regress each row of y on the rows of `columns`.
Regression regress(Rows<const double> columns, Rows<const double> y, double tolerance, Team& team);

// Diagonal of the projection on the reflected columns: sums of squares of the basis, by case.
Buffer<double> hat_values(const Table<double>& reflections, Team& team);

// Solve for the coefficients in place, from last to first; they are `stride` apart.
void solve_triangle(const Table<double>& triangle, std::size_t m, double* values, std::size_t stride);

// Orthonormal basis q of the independent rows of `columns`; row k of r contains the coefficients of row k.
void orthonormalise(Rows<const double> columns, Table<double>& q, Table<double>& r);

}  // namespace earthdof
