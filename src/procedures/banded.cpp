#include "banded.hpp"

#include <cmath>

namespace earthdof {

namespace {

std::size_t width_at(std::size_t i, std::size_t k) { return std::min<std::size_t>(4, k - i); }

}  // namespace

void Triangle::rotate_in(std::size_t start, double* row, double* rhs) {
  for (std::size_t a = 0; a < width_at(start, R.rows()); ++a) {
    if (row[a] == 0.0) continue;
    double *upper = R[start + a], *z = Z[start + a];
    const double length = std::hypot(upper[0], row[a]), c = upper[0] / length, s = row[a] / length;
    for (std::size_t b = 0; b < 4 - a; ++b) {
      const double old = upper[b];
      upper[b] = c * old + s * row[a + b];
      row[a + b] = c * row[a + b] - s * old;
    }
    for (std::size_t j = 0; j < Z.width(); ++j) {
      const double old = z[j];
      z[j] = c * old + s * rhs[j];
      rhs[j] = c * rhs[j] - s * old;
    }
  }
}

Triangle reduce_data(const std::int64_t* start, Rows<const double> values, std::size_t n_columns, Rows<const double> Y,
                     double* outside) {
  Triangle found(n_columns, Y.width);
  std::vector<double> rhs(Y.width);
  std::fill(outside, outside + Y.width, 0.0);
  double row[4];
  for (std::size_t i = 0; i < values.rows; ++i) {
    std::copy(values[i], values[i] + 4, row);
    std::copy(Y[i], Y[i] + Y.width, rhs.begin());
    found.rotate_in(static_cast<std::size_t>(start[i]), row, rhs.data());
    for (std::size_t j = 0; j < Y.width; ++j) outside[j] += rhs[j] * rhs[j];
  }
  return found;
}

Triangle reduce_penalised(Rows<const double> R0, Rows<const double> Z0, Rows<const double> penalty, double lam) {
  const std::size_t k = R0.rows;
  Triangle found(k, Z0.width);
  std::vector<double> rhs(Z0.width);
  const double root = std::sqrt(lam);
  double row[4];
  for (std::size_t i = 0; i < k; ++i) {
    std::copy(R0[i], R0[i] + 4, row);
    std::copy(Z0[i], Z0[i] + Z0.width, rhs.begin());
    found.rotate_in(i, row, rhs.data());
    for (std::size_t q = 2 * i; q < std::min(2 * i + 2, penalty.rows); ++q) {
      for (std::size_t a = 0; a < 4; ++a) row[a] = root * penalty[q][a];
      std::fill(rhs.begin(), rhs.end(), 0.0);
      found.rotate_in(i, row, rhs.data());
    }
  }
  return found;
}

Table<double> back_substitute(Rows<const double> R, Rows<const double> Z) {
  const std::size_t k = R.rows, m = Z.width;
  Table<double> C(k, m);
  for (std::size_t i = k; i-- > 0;) {
    std::copy(Z[i], Z[i] + m, C[i]);
    for (std::size_t d = 1; d < width_at(i, k); ++d)
      for (std::size_t j = 0; j < m; ++j) C[i][j] -= R[i][d] * C[i + d][j];
    for (std::size_t j = 0; j < m; ++j) C[i][j] /= R[i][0];
  }
  return C;
}

// R A = R'^-1 is lower triangular with diagonal 1/R_ii. Hence row i of A, within the band, follows from the rows below.
Band band_inverse(Rows<const double> R) {
  const std::size_t k = R.rows;
  Band A(k, 4, 0.0);
  for (std::size_t i = k; i-- > 0;) {
    const std::size_t width = width_at(i, k);
    for (std::size_t d = width - 1; d > 0; --d) {
      double total = 0.0;
      for (std::size_t e = 1; e < width; ++e) total += R[i][e] * A[i + std::min(d, e)][d > e ? d - e : e - d];
      A[i][d] = -total / R[i][0];
    }
    double total = 1.0 / R[i][0];
    for (std::size_t e = 1; e < width; ++e) total -= R[i][e] * A[i][e];
    A[i][0] = total / R[i][0];
  }
  return A;
}

Trace trace_of_smoother(Rows<const double> R0, Rows<const double> R) {
  const Band A = band_inverse(R);
  const std::size_t k = R0.rows;
  Trace trace{0.0, 0.0};
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t a = 0; a < width_at(i, k); ++a)
      for (std::size_t b = a; b < width_at(i, k); ++b) {
        const double term = R0[i][a] * R0[i][b] * A[i + a][b - a] * (a == b ? 1.0 : 2.0);
        trace.value += term;
        trace.size += std::fabs(term);
      }
  return trace;
}

bool band_cholesky(Rows<const double> H, Band& R) {
  const std::size_t k = H.rows;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t d = 0; d < width_at(i, k); ++d) {
      double total = H[i][d];
      for (std::size_t e = 1; e < std::min<std::size_t>(4 - d, i + 1); ++e) total -= R[i - e][e] * R[i - e][e + d];
      if (d > 0) {
        R[i][d] = total / R[i][0];
        continue;
      }
      if (total <= 1e-14 * H[i][0]) return false;
      R[i][0] = std::sqrt(total);
    }
  return true;
}

}  // namespace earthdof
