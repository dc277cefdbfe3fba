// Least squares with four entries per row, and quantities computed from its triangular factor, in O(n).
//
// The normal equations of a smoothing spline with many knots have a condition number far beyond 1e16 (the penalty grows
// with the cube of the number of knots). The stacked rows of design and penalty are therefore reduced to a triangle by
// Givens rotations, whose condition number is the square root of that.
//
// A triangle or a symmetric matrix is an upper band: entry [i][d] is element (i, i + d), d = 0 to 3.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"

namespace earthdof {

using Band = Table<double>;  // four entries per row

// A triangle R, and Q'Y for the right-hand sides rotated with it.
struct Triangle {
  Band R;
  Table<double> Z;

  Triangle(std::size_t k, std::size_t m) : R(k, 4, 0.0), Z(k, m, 0.0) {}
  // Rotate one row into the triangle; the remainder of its right-hand side is written to `rhs`. Rows must be in the
  // order of `start`: then the triangle below start + 3 is still empty, and four rotations suffice.
  void rotate_in(std::size_t start, double* row, double* rhs);
};

// QR of a design whose row i has four values from column start[i] on. `outside` is the sum of squares of Y outside the
// column space.
Triangle reduce_data(const std::int64_t* start, Rows<const double> values, std::size_t n_columns, Rows<const double> Y,
                     double* outside);
// QR of a triangle stacked on sqrt(lam) times the penalty rows, two per column.
Triangle reduce_penalised(Rows<const double> R0, Rows<const double> Z0, Rows<const double> penalty, double lam);
// Solve R C = Z.
Table<double> back_substitute(Rows<const double> R, Rows<const double> Z);
// Band of (R'R)^-1, after Hutchinson and de Hoog (1985).
Band band_inverse(Rows<const double> R);

struct Trace {
  double value, size;  // size: sum of the absolute terms; if it is much larger than the value, they cancel
};
// tr(S) = tr[(R'R)^-1 R0'R0]: the sum over the rows r of R0 of r' (R'R)^-1 r.
Trace trace_of_smoother(Rows<const double> R0, Rows<const double> R);
// Write the upper factor of H = R'R to R; false if H is singular to rounding.
bool band_cholesky(Rows<const double> H, Band& R);

inline Rows<const double> view(const Table<double>& table) { return {table.data(), table.rows(), table.width()}; }

}  // namespace earthdof
