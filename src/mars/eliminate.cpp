#include "eliminate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../core/numbers.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

constexpr double kPerfect = 1e-9;    // share of |y|^2 below which rounding decides the number of terms
constexpr double kRounding = 1e-13;  // relative to |y|, of a coefficient of well-conditioned columns

// RSS increases from dropping each column but the first. `conditioning` bounds the amplification of rounding in them:
// the largest ratio of the length of a column to its distance from the others.
struct Increases {
  std::vector<double> of;
  double conditioning = 1.0;

  // Row j of `triangle`: coordinates of column j in the orthonormal basis; coef: one row per column.
  Increases(const Table<double>& triangle, const Table<double>& coef, std::size_t size) : of(size, 0.0) {
    Table<double> inverse(size, size, 0.0);  // row j is column j of the inverse triangle
    for (std::size_t j = 0; j < size; ++j) {
      inverse[j][j] = 1.0;
      solve_triangle(triangle, j + 1, inverse[j], 1);
    }
    for (std::size_t t = 0; t < size; ++t) {
      double diagonal = 0.0, length = 0.0;
      for (std::size_t j = t; j < size; ++j) diagonal += inverse[j][t] * inverse[j][t];
      for (std::size_t j = 0; j <= t; ++j) length += triangle[t][j] * triangle[t][j];
      for (std::size_t r = 0; r < coef.width(); ++r) of[t] += coef[t][r] * coef[t][r] / diagonal;
      conditioning = larger(conditioning, std::sqrt(diagonal * length));
    }
  }

  // Position of the first minimum; the first column is never dropped.
  std::size_t least() const {
    std::size_t drop = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t t = 1; t < of.size(); ++t)
      if (of[t] < smallest) {
        drop = t;
        smallest = of[t];
      }
    return drop;
  }

  // True if no other increase is so close that rounding may decide; `size` is |y|.
  bool is_clear(std::size_t drop, double size) const {
    const double error = kRounding * conditioning * size;
    for (std::size_t t = 1; t < of.size(); ++t) {
      if (t == drop) continue;
      const double band = 2 * (std::sqrt(of[t]) + std::sqrt(of[drop])) * error + error * error;
      if (!(of[t] - of[drop] > band)) return false;
    }
    return true;
  }
};

// Regression on a shrinking set of columns: a triangle, and the responses in its basis.
class Shrinking {
 public:
  explicit Shrinking(const Regression& fit)
      : rss_(fit.rss),
        size_(fit.coef.rows()),
        triangle_(fit.triangle.rows(), fit.triangle.width()),
        rotated_(fit.rotated.rows(), fit.rotated.width()) {
    std::copy_n(fit.triangle.data(), size_ * size_, triangle_.data());
    std::copy_n(fit.rotated.data(), rotated_.rows() * size_, rotated_.data());
  }

  double rss() const { return rss_; }
  Increases increases() const {
    Table<double> coef(size_, rotated_.rows());
    for (std::size_t r = 0; r < rotated_.rows(); ++r) {
      for (std::size_t j = 0; j < size_; ++j) coef[j][r] = rotated_[r][j];
      solve_triangle(triangle_, size_, coef[0] + r, coef.width());
    }
    return {triangle_, coef, size_};
  }
  // Dropping column j leaves one entry below the diagonal in each later column: eliminate them by rotations.
  void drop(std::size_t j) {
    --size_;
    for (std::size_t c = j; c < size_; ++c) std::copy_n(triangle_[c + 1], c + 2, triangle_[c]);
    for (std::size_t i = j; i < size_; ++i) {
      const double a = triangle_[i][i], b = triangle_[i][i + 1], length = std::sqrt(a * a + b * b);
      if (b == 0 || length == 0) continue;  // no rotation needed, or the square underflows
      const double cosine = a / length, sine = b / length;
      for (std::size_t c = i; c < size_; ++c) rotate(triangle_[c], i, cosine, sine);
      for (std::size_t r = 0; r < rotated_.rows(); ++r) rotate(rotated_[r], i, cosine, sine);
    }
    for (std::size_t r = 0; r < rotated_.rows(); ++r) rss_ += rotated_[r][size_] * rotated_[r][size_];
  }

 private:
  static void rotate(double* row, std::size_t i, double cosine, double sine) {
    const double upper = row[i], lower = row[i + 1];
    row[i] = cosine * upper + sine * lower;
    row[i + 1] = cosine * lower - sine * upper;
  }

  double rss_;
  std::size_t size_;
  Table<double> triangle_, rotated_;
};

double square_of(Rows<const double> y) {
  double total = 0.0;
  for (std::size_t i = 0; i < y.rows * y.width; ++i) total += y.data[i] * y.data[i];
  return total;
}

// With unequal case weights, R's loss of digits is reproduced only in R's order of operations.
bool is_weighted(Rows<const double> columns) {
  const double* intercept = columns[0];
  return std::any_of(intercept, intercept + columns.width, [&](double value) { return value != intercept[0]; });
}

}  // namespace

// earth repeats the regression for each size. Here, the regression on all columns is downdated, and earth's regressions
// are computed only if rounding may decide.
Elimination eliminate_backward(Rows<const double> columns, Rows<const double> y, Team& team) {
  const std::size_t m = columns.rows, n = columns.width;
  Elimination found;
  found.rss.resize(m);
  found.best = Table<std::size_t>(m, m, 0);
  std::vector<std::size_t> present(m);
  std::iota(present.begin(), present.end(), std::size_t{0});
  Table<double> kept(m, n);
  const auto regress_on_present = [&] {
    for (std::size_t k = 0; k < present.size(); ++k) std::copy_n(columns[present[k]], n, kept[k]);
    return regress({kept.data(), present.size(), n}, y, kRankTolerance, team);
  };
  Regression fit = regress_on_present();
  if (!fit.is_independent) return found;
  const double square = square_of(y);
  const bool by_earth = is_weighted(columns) || !(fit.rss > kPerfect * square);
  Shrinking shrinking(fit);
  for (std::size_t size = m;; --size) {
    found.rss[size - 1] = by_earth ? fit.rss : shrinking.rss();
    std::copy(present.begin(), present.end(), found.best[size - 1]);
    if (size == 1) break;
    const Increases increases = by_earth ? Increases(fit.triangle, fit.coef, size) : shrinking.increases();
    std::size_t drop = increases.least();
    if (!by_earth && !increases.is_clear(drop, std::sqrt(square))) {
      fit = regress_on_present();
      if (!fit.is_independent) return found;
      drop = Increases(fit.triangle, fit.coef, size).least();
    }
    present.erase(present.begin() + static_cast<std::ptrdiff_t>(drop));
    if (by_earth) {
      fit = regress_on_present();
      if (!fit.is_independent) return found;
    } else {
      shrinking.drop(drop);
    }
  }
  found.is_independent = true;
  return found;
}

}  // namespace earthdof
