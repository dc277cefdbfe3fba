#include "gram_schmidt.hpp"

#include "../simd/loops.hpp"

namespace earthdof {

double orthogonalise(const Table<double>& q, std::size_t k, double* column, double* coefficients) {
  const Loops& l = loops();
  const std::size_t n = q.width();
  double after = l.dot(column, column, n);
  if (k == 0) return after;
  std::fill(coefficients, coefficients + k, 0.0);
  for (int turn = 0; turn < 3; ++turn) {
    const double before = after;
    double beta = l.dot(q[0], column, n);
    // a single loop subtracts a row and multiplies the remainder by the next: loops of their own would cost as much
    for (std::size_t t = 0; t + 1 < k; ++t) {
      coefficients[t] += beta;
      beta = l.take_out(column, beta, q[t], q[t + 1], n);
    }
    coefficients[k - 1] += beta;
    after = l.take_out_last(column, beta, q[k - 1], n);
    if (after > 0.1 * before) break;
  }
  return after;
}

}  // namespace earthdof
