// Coefficients and leverages, in R's order of operations.
//
// Ill-conditioned fits (weights that differ by many powers of ten) lose digits in R's way only so, and the rounding
// that is left of a perfect fit decides how many of its terms are pruned.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

constexpr double kRankTolerance = 1e-8;  // of earth's regressions
constexpr double kLmTolerance = 1e-7;    // of R's lm(), earth's last one

// Which rows of `columns` do not depend on those before them, as R's QR decides it.
std::vector<std::size_t> find_independent(Rows<const double> columns, double tolerance, Team& team);

// Responses regressed on columns; without numbers if a column depends on those before it.
struct Regression {
  bool is_independent = false;
  Table<double> coef;         // (m, n_resp)
  double rss = 0.0;           // of all responses
  Table<double> residuals;    // (n_resp, n)
  Table<double> triangle;     // (m, m): row j makes column j out of the orthonormal basis
  Table<double> rotated;      // (n_resp, m): the responses in that basis
  Table<double> reflections;  // (m, n)
};

// Regress each row of y on the rows of `columns`.
Regression regress(Rows<const double> columns, Rows<const double> y, double tolerance, Team& team);

// Diagonal of the projection on the columns that were reflected: the squares of the basis, by case.
Buffer<double> hat_values(const Table<double>& reflections, Team& team);

// Solve for the coefficients in place, from the last column to the first; they are `stride` apart.
void solve_triangle(const Table<double>& triangle, std::size_t m, double* values, std::size_t stride);

// Orthonormal basis q of the rows of `columns`, which are independent; row k of r makes row k of them.
void orthonormalise(Rows<const double> columns, Table<double>& q, Table<double>& r);

}  // namespace earthdof
