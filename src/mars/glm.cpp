#include "glm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../core/numbers.hpp"
#include "../simd/loops.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

constexpr double kInaccurate = 1e-6;       // share of a squared norm below which it is recomputed
constexpr double kFarOut = 30.0;           // log-odds beyond which R clips the means
constexpr std::size_t kLanes = 8;          // columns processed by a thread at a time
constexpr std::size_t kManyCases = 20000;  // below it a second thread does not pay off

double y_log_y(double y, double mean) { return y != 0 ? y * std::log(y / mean) : 0.0; }

// Columns and target side by side, one row per case, so that their sums are computed simultaneously, each in the order
// of the cases. Lanes beyond the target are zeros, so all vectors are full.
class Lanes {
 public:
  Lanes(Rows<const double> columns, const double* root, const double* target, Team& team)
      : n_(columns.width),
        m_(columns.rows),
        team_(team),
        values_(n_, (m_ + kLanes) / kLanes * kLanes, 0.0),
        sums_(values_.width()) {
    for (std::size_t i = 0; i < n_; ++i) {
      double* row = values_[i];
      for (std::size_t c = 0; c < m_; ++c) row[c] = columns[c][i] * root[i];
      row[m_] = target[i];
    }
  }

  double at(std::size_t i, std::size_t c) const { return values_[i][c]; }
  double square(std::size_t c, std::size_t from) const {
    double total = 0.0;
    for (std::size_t i = from; i < n_; ++i) total += values_[i][c] * values_[i][c];
    return total;
  }
  std::vector<double> squares() const {
    std::vector<double> total(values_.width());
    for (std::size_t first = 0; first < total.size(); first += kLanes) {
      double sums[kLanes] = {};
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t c = 0; c < kLanes; ++c) sums[c] += values_[i][first + c] * values_[i][first + c];
      std::copy_n(sums, kLanes, total.data() + first);
    }
    return total;
  }
  // Apply a reflection that leaves the first k cases unchanged to the columns after k. Columns before k are no longer
  // used, so changes to those that share a vector with column k are harmless.
  void reflect(const double* reflection, std::size_t k) {
    const std::size_t first = (k + 1) / kLanes * kLanes, count = values_.width() - first;
    const auto reflect_lanes = [&](std::size_t c, std::size_t width) {
      const Loops& l = loops();
      double *rows = values_[k] + c, *sums = sums_.data() + c;
      std::fill_n(sums, width, 0.0);
      l.lane_sums(reflection + k, rows, n_ - k, values_.width(), width, sums);
      for (std::size_t i = 0; i < width; ++i) sums[i] = -sums[i] / reflection[k];
      l.lane_add(reflection + k, rows, n_ - k, values_.width(), width, sums);
    };
    if (n_ < kManyCases)
      reflect_lanes(first, count);
    else
      team_.run(count / kLanes, [&](std::size_t i, int) { reflect_lanes(first + i * kLanes, kLanes); });
    team_.check();
  }

 private:
  std::size_t n_, m_;
  Team& team_;
  Table<double> values_;
  Buffer<double> sums_;
};

}  // namespace

std::vector<double> solve_reweighted(Rows<const double> columns, const double* root, const double* target,
                                     double tolerance, Team& team) {
  const std::size_t n = columns.width, m = columns.rows;
  Lanes lanes(columns, root, target, team);
  Table<double> triangle(m, m, 0.0);
  Buffer<double> reflection(n);
  std::vector<double> left = lanes.squares();
  for (double& value : left) value = std::sqrt(value);
  const std::vector<double> norm = left;
  for (std::size_t k = 0; k < m; ++k) {
    if (k == n || !(left[k] >= (norm[k] != 0 ? norm[k] : 1.0) * tolerance)) return {};
    for (std::size_t t = 0; t <= k; ++t) triangle[k][t] = lanes.at(t, k);
    if (k == n - 1) continue;  // the last dimension needs no reflection
    double length = std::sqrt(lanes.square(k, k));
    if (lanes.at(k, k) < 0) length = -length;
    triangle[k][k] = -length;
    const double scale = length != 0 ? 1 / length : 0.0;
    for (std::size_t i = k; i < n; ++i) reflection[i] = lanes.at(i, k) * scale;
    reflection[k] = 1 + reflection[k];
    lanes.reflect(reflection.data(), k);
    for (std::size_t other = k + 1; other < m; ++other) {
      if (left[other] == 0) continue;
      const double share = std::fabs(lanes.at(k, other)) / left[other], rest = larger(1 - share * share, 0.0);
      left[other] = rest < kInaccurate ? std::sqrt(lanes.square(other, k + 1)) : left[other] * std::sqrt(rest);
    }
  }
  std::vector<double> coef(m);
  for (std::size_t k = 0; k < m; ++k) coef[k] = lanes.at(k, m);
  solve_triangle(triangle, m, coef.data(), 1);
  return coef;
}

double logistic(double eta) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double odds = eta < -kFarOut ? kEpsilon : eta > kFarOut ? 1 / kEpsilon : std::exp(eta);
  return odds / (1 + odds);
}

double logistic_slope(double eta) {
  if (std::fabs(eta) > kFarOut) return std::numeric_limits<double>::epsilon();
  const double growth = std::exp(eta);
  return growth / ((1 + growth) * (1 + growth));
}

double binomial_deviance(double y, double mean, double weight) {
  return 2 * weight * (y_log_y(y, mean) + y_log_y(1 - y, 1 - mean));
}

}  // namespace earthdof
