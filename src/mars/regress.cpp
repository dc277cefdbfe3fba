#include "../core/numbers.hpp"
#include "regress.hpp"

#include <cmath>

#include "../simd/loops.hpp"
#include "gram_schmidt.hpp"

namespace earthdof {

namespace {

constexpr double kInaccurate = 1e-6;  // share of a squared norm below which it is summed again
constexpr std::size_t kChunk = 8;     // columns that a thread takes at a time

// Reflect `count` columns from c on, by a reflection that leaves the first k cases alone.
void reflect_lanes(Table<double>& values, const double* reflection, std::size_t k, std::size_t c, std::size_t count) {
  const Loops& l = loops();
  double sums[kChunk] = {};
  const std::size_t n = values.rows() - k;
  l.lane_sums(reflection + k, values[k] + c, n, values.width(), count, sums);
  for (std::size_t i = 0; i < count; ++i) sums[i] = -sums[i] / reflection[k];
  l.lane_add(reflection + k, values[k] + c, n, values.width(), count, sums);
}

// The QR of columns as R does it. They stand side by side, a row per case: their sums run in step, each in the order of
// the cases. A column that depends on those before it is left out.
class Qr {
 public:
  Qr(Rows<const double> columns, double tolerance, Team& team)
      : n_(columns.width), m_(columns.rows), tolerance_(tolerance), team_(team), values_(n_, m_), norm_(m_), left_(m_) {
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t c = 0; c < m_; ++c) values_[i][c] = columns[c][i];
    for (std::size_t c = 0; c < m_; ++c) norm_[c] = left_[c] = std::sqrt(square(c, 0));
  }

  // Take column c in as number k: write its reflection, which leaves the first k cases alone, and apply it to the
  // columns that follow. False if the column depends on those that were taken in.
  bool take(std::size_t c, std::size_t k, double* reflection) {
    if (k == n_ || !(left_[c] >= (norm_[c] != 0 ? norm_[c] : 1.0) * tolerance_)) return false;
    pivot_ = values_[k][c];
    if (k == n_ - 1) return true;  // the last dimension needs no reflection
    double length = std::sqrt(square(c, k));
    if (values_[k][c] < 0) length = -length;
    pivot_ = -length;
    const double scale = length != 0 ? 1 / length : 0.0;
    for (std::size_t i = k; i < n_; ++i) reflection[i] = values_[i][c] * scale;
    reflection[k] = 1 + reflection[k];
    reflect_from(c + 1, reflection, k);
    for (std::size_t other = c + 1; other < m_; ++other) {
      double& left = left_[other];
      if (left == 0) continue;
      const double share = std::fabs(values_[k][other]) / left, rest = larger(1 - share * share, 0.0);
      left = rest < kInaccurate ? std::sqrt(square(other, k + 1)) : left * std::sqrt(rest);
    }
    team_.check();
    return true;
  }
  double pivot() const { return pivot_; }  // diagonal element of the last column
  double at(std::size_t i, std::size_t c) const { return values_[i][c]; }

 private:
  double square(std::size_t c, std::size_t from) const {
    double total = 0.0;
    for (std::size_t i = from; i < n_; ++i) total += values_[i][c] * values_[i][c];
    return total;
  }
  void reflect_from(std::size_t first, const double* reflection, std::size_t k) {
    team_.run((m_ - first + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
      const std::size_t c = first + chunk * kChunk;
      reflect_lanes(values_, reflection, k, c, std::min(kChunk, m_ - c));
    });
  }

  std::size_t n_, m_;
  double tolerance_, pivot_ = 0.0;
  Team& team_;
  Table<double> values_;
  std::vector<double> norm_, left_;  // of each column as it came, and of what is left of it
};

// One column as a row.
void reflect_row(const double* reflection, std::size_t k, double* row, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = k; i < n; ++i) sum += reflection[i] * row[i];
  if (reflection[k] != 0) sum = -sum / reflection[k];
  for (std::size_t i = k; i < n; ++i) row[i] += sum * reflection[i];
}

}  // namespace

void solve_triangle(const Table<double>& triangle, std::size_t m, double* values, std::size_t stride) {
  for (std::size_t j = m; j-- > 0;) {
    values[j * stride] /= triangle[j][j];
    for (std::size_t t = 0; t < j; ++t) values[t * stride] += -values[j * stride] * triangle[j][t];
  }
}

std::vector<std::size_t> find_independent(Rows<const double> columns, double tolerance, Team& team) {
  Qr qr(columns, tolerance, team);
  Buffer<double> reflection(columns.width);
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < columns.rows; ++c)
    if (qr.take(c, kept.size(), reflection.data())) kept.push_back(c);
  return kept;
}

Regression regress(Rows<const double> columns, Rows<const double> y, double tolerance, Team& team) {
  const std::size_t m = columns.rows, n = columns.width, n_resp = y.rows;
  Regression fit;
  fit.coef = Table<double>(m, n_resp, 0.0);
  fit.residuals = Table<double>(n_resp, n, 0.0);
  fit.triangle = Table<double>(m, m, 0.0);
  fit.reflections = Table<double>(m, n, 0.0);
  Qr qr(columns, tolerance, team);
  Table<double> rotated(n_resp, n);
  std::copy(y[0], y[0] + n_resp * n, rotated[0]);
  for (std::size_t k = 0; k < m; ++k) {
    if (!qr.take(k, k, fit.reflections[k])) return fit;
    for (std::size_t t = 0; t < k; ++t) fit.triangle[k][t] = qr.at(t, k);
    fit.triangle[k][k] = qr.pivot();
    if (k < n - 1)
      for (std::size_t r = 0; r < n_resp; ++r) reflect_row(fit.reflections[k], k, rotated[r], n);
  }
  fit.is_independent = true;
  fit.rotated = Table<double>(n_resp, m);
  for (std::size_t r = 0; r < n_resp; ++r) {
    std::copy_n(rotated[r], m, fit.rotated[r]);
    for (std::size_t j = 0; j < m; ++j) fit.coef[j][r] = rotated[r][j];
    solve_triangle(fit.triangle, m, fit.coef[0] + r, n_resp);
    double* residuals = fit.residuals[r];
    std::copy(rotated[r], rotated[r] + n, residuals);
    std::fill(residuals, residuals + m, 0.0);
    for (std::size_t t = std::min(m, n - 1); t > 0; --t) reflect_row(fit.reflections[t - 1], t - 1, residuals, n);
    for (std::size_t i = 0; i < n; ++i) fit.rss += residuals[i] * residuals[i];
    team.check();
  }
  return fit;
}

Buffer<double> hat_values(const Table<double>& reflections, Team& team) {
  const std::size_t m = reflections.rows(), n = reflections.width();
  Table<double> basis(n, m, 0.0);
  for (std::size_t c = 0; c < m; ++c) basis[c][c] = 1.0;
  team.run((m + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t first = chunk * kChunk, count = std::min(kChunk, m - first);
    // reflections that come after leave these unit vectors alone
    for (std::size_t t = std::min(first + count, n - 1); t > 0; --t)
      reflect_lanes(basis, reflections[t - 1], t - 1, first, count);
  });
  Buffer<double> values(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < m; ++c) values[i] += basis[i][c] * basis[i][c];
  return values;
}

void orthonormalise(Rows<const double> columns, Table<double>& q, Table<double>& r) {
  Buffer<double> column(columns.width);
  for (std::size_t k = 0; k < columns.rows; ++k) {
    std::copy(columns[k], columns[k] + columns.width, column.data());
    const double length = std::sqrt(orthogonalise(q, k, column.data(), r[k])), inverse = 1 / length;
    r[k][k] = length;
    for (std::size_t i = 0; i < columns.width; ++i) q[k][i] = column[i] * inverse;
  }
}

}  // namespace earthdof
