// Coefficients, leverages, and backward elimination for several responses, in R's order of operations.
//
// Ill-conditioned fits (weights that differ by many powers of ten) lose digits in R's way only so, and the rounding that
// is left of a perfect fit decides how many of its terms are pruned.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Responses regressed on columns; without numbers if a column depends on those before it.
struct Regression {
  bool is_independent = false;
  Table<double> coef;         // (m, n_resp)
  double rss = 0.0;           // of all responses
  Table<double> residuals;    // (n_resp, n)
  Table<double> triangle;     // (m, m): row j makes column j out of the orthonormal basis
  Table<double> reflections;  // (m, n)
};

// Regress each row of y on the rows of `columns`.
Regression regress(Rows<const double> columns, Rows<const double> y, Team& team);

// Diagonal of the projection on the columns that were reflected: the squares of the basis, by case.
Buffer<double> hat_values(const Table<double>& reflections, Team& team);

struct Elimination {
  bool is_independent = false;
  std::vector<double> rss;   // of each size
  Table<std::size_t> best;   // columns of each size, a row a size
};

// Drop the column that raises the RSS least, until the first is alone.
Elimination eliminate_backward(Rows<const double> columns, Rows<const double> y, Team& team);

// Orthonormal basis of the rows of `columns` in turn, into q and r (row k holds the coefficients of the k-th column that
// is kept); a dependent one is left out. Returns those that are kept.
std::vector<std::size_t> independent_columns(Rows<const double> columns, Table<double>& q, Table<double>& r);

constexpr double kDependent = 1e-8;  // tolerance of the pivoting QR that drops dependent columns

}  // namespace earthdof
