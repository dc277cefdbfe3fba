// Least squares with four entries a row, and what follows from its triangular factor, in O(n).
//
// The normal equations of a smoothing spline with many knots have a condition number far beyond 1e16 (the penalty grows
// with the cube of the number of knots). So the stacked rows of design and penalty are reduced to a triangle by Givens
// rotations; its condition number is only the square root of that.
//
// A triangle or a symmetric matrix is an upper band: entry [i][d] is element (i, i + d), d = 0 to 3.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"

namespace earthdof {

using Band = Table<double>;  // four entries a row

// A triangle R, and Q'Y of the right-hand sides that were rotated with it.
struct Triangle {
  Band R;
  Table<double> Z;

  Triangle(std::size_t k, std::size_t m) : R(k, 4, 0.0), Z(k, m, 0.0) {}
  // Rotate one row into the triangle; what is left of its right-hand side stays in `rhs`. Rows must come in the order
  // of `start`: then the triangle below start + 3 is still empty and four rotations are enough.
  void rotate_in(std::size_t start, double* row, double* rhs);
};

// QR of a design whose row i has four values from column start[i] on. `outside` is the sum of squares of Y outside of
// the column space.
Triangle reduce_data(const std::int64_t* start, Rows<const double> values, std::size_t n_columns, Rows<const double> Y,
                     double* outside);
// QR of a triangle with the penalty rows times sqrt(lam) below it, two of them a column.
Triangle reduce_penalised(Rows<const double> R0, Rows<const double> Z0, Rows<const double> penalty, double lam);
// Solve R C = Z.
Table<double> back_substitute(Rows<const double> R, Rows<const double> Z);
// The band of (R'R)^-1, after Hutchinson and de Hoog (1985).
Band band_inverse(Rows<const double> R);

struct Trace {
  double value, size;  // size: the sum of the sizes of its terms; where that is much larger, they cancel
};
// tr(S) = tr[(R'R)^-1 R0'R0]: the sum over the rows r of R0 of r' (R'R)^-1 r.
Trace trace_of_smoother(Rows<const double> R0, Rows<const double> R);
// The upper factor of H = R'R into R; false if H is singular to rounding.
bool band_cholesky(Rows<const double> H, Band& R);

inline Rows<const double> view(const Table<double>& table) { return {table.data(), table.rows(), table.width()}; }

}  // namespace earthdof
