#include "../core/numbers.hpp"
#include "regress.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "../simd/loops.hpp"
#include "gram_schmidt.hpp"

namespace earthdof {

namespace {

constexpr double kRankTolerance = 1e-8;  // R's for lm()
constexpr double kInaccurate = 1e-6;     // share of a squared norm below which it is summed again
constexpr std::size_t kChunk = 8;        // columns that a thread takes at a time

// Columns side by side, a row a case: their sums run in step, each in the order of the cases.
class Lanes {
 public:
  Lanes(Rows<const double> columns, Team& team) : values_(columns.width, columns.rows), team_(team) {
    for (std::size_t i = 0; i < columns.width; ++i)
      for (std::size_t c = 0; c < columns.rows; ++c) values_[i][c] = columns[c][i];
  }
  Lanes(std::size_t n, std::size_t m, Team& team) : values_(n, m, 0.0), team_(team) {}

  double* operator[](std::size_t i) { return values_[i]; }
  std::size_t width() const { return values_.width(); }

  double square(std::size_t c, std::size_t from) const {
    double total = 0.0;
    for (std::size_t i = from; i < values_.rows(); ++i) total += values_[i][c] * values_[i][c];
    return total;
  }

  // Reflect the columns from `first` on, by a reflection that leaves the first k cases alone.
  void reflect(const double* reflection, std::size_t k, std::size_t first) {
    const std::size_t count = width() - first;
    team_.run((count + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
      const std::size_t c = first + chunk * kChunk;
      reflect_some(reflection, k, c, std::min(kChunk, width() - c));
    });
  }
  void reflect_some(const double* reflection, std::size_t k, std::size_t c, std::size_t count) {
    const Loops& l = loops();
    double sums[kChunk] = {};
    const std::size_t n = values_.rows() - k;
    l.lane_sums(reflection + k, values_[k] + c, n, width(), count, sums);
    for (std::size_t i = 0; i < count; ++i) sums[i] = -sums[i] / reflection[k];
    l.lane_add(reflection + k, values_[k] + c, n, width(), count, sums);
  }

 private:
  Table<double> values_;
  Team& team_;
};

// One column as a row.
void reflect_row(const double* reflection, std::size_t k, double* row, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = k; i < n; ++i) sum += reflection[i] * row[i];
  if (reflection[k] != 0) sum = -sum / reflection[k];
  for (std::size_t i = k; i < n; ++i) row[i] += sum * reflection[i];
}

// Solve for the coefficients in place, from the last column to the first.
void solve_triangle(const Table<double>& triangle, std::size_t m, double* values, std::size_t stride) {
  for (std::size_t j = m; j-- > 0;) {
    values[j * stride] /= triangle[j][j];
    for (std::size_t t = 0; t < j; ++t) values[t * stride] += -values[j * stride] * triangle[j][t];
  }
}

// Diagonal of the inverse of the cross-products.
std::vector<double> inverse_diagonal(const Table<double>& triangle) {
  const std::size_t m = triangle.rows();
  Table<double> inverse(m, m, 0.0);  // row j: column j of the inverse triangle
  std::vector<double> diagonal(m, 0.0);
  for (std::size_t j = 0; j < m; ++j) {
    inverse[j][j] = 1.0;
    solve_triangle(triangle, j + 1, inverse[j], 1);
  }
  for (std::size_t t = 0; t < m; ++t)
    for (std::size_t j = t; j < m; ++j) diagonal[t] += inverse[j][t] * inverse[j][t];
  return diagonal;
}

}  // namespace

Regression regress(Rows<const double> columns, Rows<const double> y, Team& team) {
  const std::size_t m = columns.rows, n = columns.width, n_resp = y.rows;
  Regression fit;
  fit.coef = Table<double>(m, n_resp, 0.0);
  fit.residuals = Table<double>(n_resp, n, 0.0);
  fit.triangle = Table<double>(m, m, 0.0);
  fit.reflections = Table<double>(m, n, 0.0);
  Lanes lanes(columns, team);
  Table<double> rotated(n_resp, n);
  std::copy(y[0], y[0] + n_resp * n, rotated[0]);
  std::vector<double> norm(m), left(m);
  for (std::size_t c = 0; c < m; ++c) norm[c] = left[c] = std::sqrt(lanes.square(c, 0));
  for (std::size_t k = 0; k < m; ++k) {
    if (k == n || !(left[k] >= (norm[k] != 0 ? norm[k] : 1.0) * kRankTolerance)) return fit;
    for (std::size_t t = 0; t < k; ++t) fit.triangle[k][t] = lanes[t][k];
    fit.triangle[k][k] = lanes[k][k];
    if (k == n - 1) continue;  // the last dimension needs no reflection
    double length = std::sqrt(lanes.square(k, k));
    if (lanes[k][k] < 0) length = -length;
    fit.triangle[k][k] = -length;
    const double scale = length != 0 ? 1 / length : 0.0;
    double* reflection = fit.reflections[k];
    for (std::size_t i = k; i < n; ++i) reflection[i] = lanes[i][k] * scale;
    reflection[k] = 1 + reflection[k];
    lanes.reflect(reflection, k, k + 1);
    for (std::size_t c = k + 1; c < m; ++c) {
      if (left[c] == 0) continue;
      const double share = std::fabs(lanes[k][c]) / left[c], rest = larger(1 - share * share, 0.0);
      left[c] = rest < kInaccurate ? std::sqrt(lanes.square(c, k + 1)) : left[c] * std::sqrt(rest);
    }
    for (std::size_t r = 0; r < n_resp; ++r) reflect_row(reflection, k, rotated[r], n);
    team.check();
  }
  fit.is_independent = true;
  for (std::size_t r = 0; r < n_resp; ++r) {
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
  Lanes basis(n, m, team);
  for (std::size_t c = 0; c < m; ++c) basis[c][c] = 1.0;
  team.run((m + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t first = chunk * kChunk, count = std::min(kChunk, m - first);
    // reflections that come after leave these unit vectors alone
    for (std::size_t t = std::min(first + count, n - 1); t > 0; --t)
      basis.reflect_some(reflections[t - 1], t - 1, first, count);
  });
  Buffer<double> values(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < m; ++c) values[i] += basis[i][c] * basis[i][c];
  return values;
}

Elimination eliminate_backward(Rows<const double> columns, Rows<const double> y, Team& team) {
  const std::size_t m = columns.rows, n = columns.width;
  Elimination found;
  found.rss.resize(m);
  found.best = Table<std::size_t>(m, m, 0);
  std::vector<std::size_t> present(m);
  std::iota(present.begin(), present.end(), std::size_t{0});
  Table<double> kept(m, n);
  for (std::size_t size = m; size > 0; --size) {
    for (std::size_t k = 0; k < size; ++k) std::copy(columns[present[k]], columns[present[k]] + n, kept[k]);
    const Regression fit = regress({kept.data(), size, n}, y, team);
    if (!fit.is_independent) return found;
    found.rss[size - 1] = fit.rss;
    std::copy(present.begin(), present.end(), found.best[size - 1]);
    if (size == 1) break;
    const std::vector<double> diagonal = inverse_diagonal(fit.triangle);
    std::size_t drop = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 1; t < size; ++t) {
      double increase = 0.0;
      for (std::size_t r = 0; r < y.rows; ++r) increase += fit.coef[t][r] * fit.coef[t][r] / diagonal[t];
      if (increase < least) {
        drop = t;
        least = increase;
      }
    }
    present.erase(present.begin() + static_cast<std::ptrdiff_t>(drop));
  }
  found.is_independent = true;
  return found;
}

std::vector<std::size_t> independent_columns(Rows<const double> columns, Table<double>& q, Table<double>& r) {
  const Loops& l = loops();
  const std::size_t m = columns.rows, n = columns.width;
  std::vector<std::size_t> kept;
  Buffer<double> column(n);
  for (std::size_t t = 0; t < m && kept.size() < n; ++t) {
    const std::size_t k = kept.size();
    std::copy(columns[t], columns[t] + n, column.data());
    const double size = std::sqrt(l.dot(column.data(), column.data(), n));
    const double length = std::sqrt(orthogonalise(q, k, column.data(), r[k]));
    if (!(length > kDependent * size)) continue;
    r[k][k] = length;
    for (std::size_t i = 0; i < n; ++i) q[k][i] = column[i] / length;
    kept.push_back(t);
  }
  return kept;
}

}  // namespace earthdof
