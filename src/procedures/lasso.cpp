#include "lasso.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "../simd/loops.hpp"

namespace earthdof {

namespace {

constexpr double kViolation = 1e-13;  // smallest gradient that adds a column, in units of |z|
constexpr double kDependent = 1e-10;  // remainder of a unit column below which it depends on the active ones

double sign_of(double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0; }

}  // namespace

// One row more than the rank: dependence of a column is detected after its last step.
LassoPath::LassoPath(Rows<const double> columns)
    : columns_(columns),
      beta_(columns.rows, 0.0),
      sign_(columns.rows, 0.0),
      q_(columns.width + 1, columns.width, 0.0),
      t_(columns.width + 1, columns.width + 1, 0.0) {}

bool LassoPath::minimise(const double* z, const double* half) {
  const Loops& l = loops();
  const std::size_t p = columns_.rows, r = columns_.width;
  std::vector<double> residual(r);
  blocked_.assign(p, 0);
  for (std::size_t turn = 0; turn < 50 * (p + 10); ++turn) {
    settle(z, half);
    std::copy(z, z + r, residual.begin());
    for (std::size_t j : active_) l.add_scaled(residual.data(), -beta_[j], columns_[j], r);
    std::ptrdiff_t entering = -1;
    double worst = kViolation, direction = 0.0;
    for (std::size_t j = 0; j < p; ++j) {
      if (sign_[j] != 0 || blocked_[j]) continue;
      const double gradient = l.dot(columns_[j], residual.data(), r), excess = std::fabs(gradient) - half[j];
      if (excess > worst) {
        entering = static_cast<std::ptrdiff_t>(j);
        worst = excess;
        direction = sign_of(gradient);
      }
    }
    if (entering < 0) return true;
    sign_[entering] = direction;
    enter(static_cast<std::size_t>(entering));
  }
  return false;
}

// Move to the minimum on the active set; coefficients that cross zero leave it.
void LassoPath::settle(const double* z, const double* half) {
  const Loops& l = loops();
  while (!active_.empty()) {
    // T'T target = T'Q z - half * sign: forward, then backward substitution
    const std::size_t k = active_.size();
    std::vector<double> target(k), shift(k);
    for (std::size_t i = 0; i < k; ++i) {
      double total = half[active_[i]] * sign_[active_[i]];
      for (std::size_t before = 0; before < i; ++before) total -= t_[before][i] * shift[before];
      shift[i] = total / t_[i][i];
      target[i] = l.dot(q_[i], z, columns_.width) - shift[i];
    }
    back_substitute(target);
    double share = 1.0;
    std::ptrdiff_t leaving = -1;
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t j = active_[i];
      if (target[i] * sign_[j] > 0) continue;
      const double crossing = beta_[j] != target[i] ? beta_[j] / (beta_[j] - target[i]) : 0.0;
      if (leaving < 0 || crossing < share) {
        share = crossing;
        leaving = static_cast<std::ptrdiff_t>(i);
      }
    }
    if (leaving < 0) {
      for (std::size_t i = 0; i < k; ++i) beta_[active_[i]] = target[i];
      return;
    }
    for (std::size_t i = 0; i < k; ++i) beta_[active_[i]] += share * (target[i] - beta_[active_[i]]);
    // The violation of a column that leaves as it enters was rounding: do not add it again.
    blocked_[active_[leaving]] = share == 0.0;
    leave(static_cast<std::size_t>(leaving));
  }
}

// Add column j to the active set, in exchange for another if it depends on them.
void LassoPath::enter(std::size_t j) {
  if (!factorise(columns_[j])) {
    // column_j = sum_i w_i column_i. Along beta_j += t sign_j, beta_i -= t sign_j w_i the fit does not change and the
    // penalty falls, until some coefficient is zero.
    const std::size_t k = active_.size();
    std::vector<double> w(k);
    for (std::size_t i = 0; i < k; ++i) w[i] = t_[i][k];
    back_substitute(w);
    double way = std::numeric_limits<double>::infinity();
    std::ptrdiff_t leaving = -1;
    for (std::size_t i = 0; i < k; ++i) {
      const double drift = sign_[j] * w[i] * sign_[active_[i]], size = std::fabs(beta_[active_[i]]);
      if (drift > 0 && size < way * drift) {
        way = size / drift;
        leaving = static_cast<std::ptrdiff_t>(i);
      }
    }
    if (leaving < 0) {
      blocked_[j] = 1;
      sign_[j] = 0.0;
      return;
    }
    for (std::size_t i = 0; i < k; ++i) beta_[active_[i]] -= way * sign_[j] * w[i];
    beta_[j] = way * sign_[j];
    leave(static_cast<std::size_t>(leaving));
    factorise(columns_[j]);
  }
  active_.push_back(j);
}

// Append a column to q and t; false if it depends on earlier columns.
bool LassoPath::factorise(const double* column) {
  const Loops& l = loops();
  const std::size_t k = active_.size(), r = columns_.width;
  std::vector<double> direction(column, column + r);
  for (std::size_t i = 0; i <= k; ++i) t_[i][k] = 0.0;
  for (int turn = 0; turn < 2; ++turn)  // Gram-Schmidt, twice for orthogonality to rounding error
    for (std::size_t i = 0; i < k; ++i) {
      const double part = l.dot(q_[i], direction.data(), r);
      t_[i][k] += part;
      l.add_scaled(direction.data(), -part, q_[i], r);
    }
  const double length = std::sqrt(l.dot(direction.data(), direction.data(), r));
  if (length <= kDependent) return false;
  t_[k][k] = length;
  for (std::size_t i = 0; i < r; ++i) q_[k][i] = direction[i] / length;
  return true;
}

// Remove the column at a position from the model by Givens rotations.
void LassoPath::leave(std::size_t position) {
  beta_[active_[position]] = sign_[active_[position]] = 0.0;
  const std::size_t last = active_.size() - 1;
  active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(position));
  for (std::size_t i = position; i < last; ++i)
    for (std::size_t row = 0; row < i + 2; ++row) t_[row][i] = t_[row][i + 1];
  const auto rotate = [](double* a, double* b, std::size_t from, std::size_t to, double cosine, double sine) {
    for (std::size_t c = from; c < to; ++c) {
      const double upper = a[c], lower = b[c];
      a[c] = cosine * upper + sine * lower;
      b[c] = cosine * lower - sine * upper;
    }
  };
  for (std::size_t i = position; i < last; ++i) {
    const double length = std::hypot(t_[i][i], t_[i + 1][i]);
    const double cosine = t_[i][i] / length, sine = t_[i + 1][i] / length;
    rotate(t_[i], t_[i + 1], i, last, cosine, sine);
    rotate(q_[i], q_[i + 1], 0, columns_.width, cosine, sine);
  }
}

void LassoPath::back_substitute(std::vector<double>& b) const {
  for (std::size_t i = b.size(); i-- > 0;) {
    for (std::size_t after = i + 1; after < b.size(); ++after) b[i] -= t_[i][after] * b[after];
    b[i] /= t_[i][i];
  }
}

bool solve_lassos(Rows<const double> columns, Rows<const double> responses, Rows<const double> half,
                  Rows<double> solutions, Team& team) {
  std::atomic<bool> converged{true};
  team.run(responses.rows, [&](std::size_t j, int) {
    LassoPath path(columns);
    if (!path.minimise(responses[j], half[j])) converged = false;
    std::copy(path.beta().begin(), path.beta().end(), solutions[j]);
  });
  return converged;
}

bool solve_lasso_path(Rows<const double> columns, const double* z, Rows<const double> half, Rows<double> solutions,
                      Team& team) {
  LassoPath path(columns);
  bool converged = true;
  for (std::size_t step = 0; step < half.rows; ++step) {
    converged &= path.minimise(z, half[step]);
    std::copy(path.beta().begin(), path.beta().end(), solutions[step]);
    team.check();
  }
  return converged;
}

}  // namespace earthdof
