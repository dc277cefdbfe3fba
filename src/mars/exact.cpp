#include "exact.hpp"

#include <cmath>

#include "../simd/loops.hpp"

namespace earthdof {

double running_mean(const double* column, std::size_t n) {
  double mean = 0.0;
  for (std::size_t i = 0; i < n; ++i) mean += column[i] / static_cast<double>(n);
  return mean;
}

ExactBasis::ExactBasis(std::size_t n, std::size_t capacity, std::size_t n_resp)
    : n_(n), q_(capacity, n), centred_(n, capacity), yq_(capacity, n_resp), work_q_(n), work_centred_(n) {}

void ExactBasis::start(Rows<const double> y, const std::vector<double>& y_mean) {
  y_ = y;
  y_mean_ = y_mean;
  const double length = 1 / std::sqrt(static_cast<double>(n_));
  for (std::size_t i = 0; i < n_; ++i) {
    q_[0][i] = length;
    centred_[i][0] = 0.0;
  }
  project(q_[0], yq_[0]);
  size_ = 1;
}

double ExactBasis::append(const double* column, double floor) {
  const double square = orthonormalise(column, floor, work_q_.data(), work_centred_.data(), yq_[size_]);
  std::copy(work_q_.begin(), work_q_.end(), q_[size_]);
  for (std::size_t i = 0; i < n_; ++i) centred_[i][size_] = work_centred_[i];
  ++size_;
  return square;
}

double ExactBasis::orthonormalise(const double* column, double floor, double* q, double* centred, double* yq) const {
  if (size_ == 1) {
    const double mean = running_mean(column, n_);
    for (std::size_t i = 0; i < n_; ++i) q[i] = column[i] - mean;
  } else {
    std::copy(column, column + n_, q);
    for (std::size_t t = 0; t < size_; ++t) {
      const double* other = q_[t];
      double beta = 0.0;
      for (std::size_t i = 0; i < n_; ++i) beta += other[i] * q[i];
      for (std::size_t i = 0; i < n_; ++i) q[i] += -beta * other[i];
    }
  }
  double square = 0.0;
  for (std::size_t i = 0; i < n_; ++i) square += q[i] * q[i];
  double mean = 0.0;
  if (square > floor) {
    mean = running_mean(q, n_);  // earth takes the mean before it divides by the length
    const double length = std::sqrt(square);
    for (std::size_t i = 0; i < n_; ++i) q[i] /= length;
  } else {
    std::fill(q, q + n_, 0.0);
  }
  for (std::size_t i = 0; i < n_; ++i) centred[i] = q[i] - mean;
  project(q, yq);
  return square;
}

void ExactBasis::project(const double* q, double* yq) const {
  for (std::size_t r = 0; r < y_.rows; ++r) {
    const double *y = y_[r], mean = y_mean_[r];
    double total = 0.0;
    for (std::size_t i = 0; i < n_; ++i) total += (y[i] - mean) * q[i];
    yq[r] = total;
  }
}

ExactPair ExactBasis::search(const Design& design, const double* base, std::size_t pred, const Spans& spans,
                             bool new_form, std::size_t slot, double adjust, double limit, bool linear_only,
                             Trial& trial) const {
  double linear = 0.0;
  if (new_form) {
    const double* x = design.x[pred];
    for (std::size_t i = 0; i < n_; ++i) trial.column[i] = x[i] * base[i];
    const double square =
        orthonormalise(trial.column.data(), kMinSumOfSquares, trial.q.data(), trial.centred.data(), trial.yq.data());
    new_form = square > kMinSumOfSquares;
    for (std::size_t r = 0; r < y_.rows; ++r) {
      double total = 0.0;
      for (std::size_t i = 0; i < n_; ++i) total += y_[r][i] * trial.q[i];
      linear += total * total;
    }
  }
  ExactPair best{new_form, adjust * linear, -1, adjust * linear};
  if (linear_only) return best;

  // the linear candidate, if there is one, is the last column of the basis here
  const std::size_t k = size_, with_linear = new_form ? k + 1 : k;
  const double tolerance = knot_tolerance(new_form ? slot + 1 : slot), n = static_cast<double>(n_);
  double *covariance = trial.covariance.data(), *slope = trial.slope.data();
  std::fill(covariance, covariance + with_linear, 0.0);
  std::fill(slope, slope + with_linear, 0.0);
  trial.y_slope.fill(0.0);
  trial.y_hinge.fill(0.0);
  const auto exact_case = loops().exact_case;
  const std::uint32_t* order = design.order[pred];
  const double* sorted = design.sorted[pred];
  RunningVariance running;
  int wait = spans.start;
  for (std::size_t place = 1; place + spans.end < n_; ++place) {
    const std::uint32_t row = order[place - 1];
    const double x0 = sorted[place], x1 = sorted[place - 1], b = base[row], step = x1 - x0;
    exact_case(slope, covariance, centred_[row], b, step, k);
    if (new_form) {
      slope[k] += b * trial.centred[row];
      covariance[k] += step * slope[k];
    }
    running.add(b, x0, x1, n);
    for (std::size_t r = 0; r < y_.rows; ++r) {
      trial.y_slope[r] += (y_[r][row] - y_mean_[r]) * b;
      trial.y_hinge[r] += step * trial.y_slope[r];
    }
    if (!(b > 0 && running.variance > 0) || --wait != 0) continue;
    wait = spans.minimum;
    double explained = 0.0;
    for (std::size_t t = 0; t < with_linear; ++t) explained += covariance[t] * covariance[t];
    const double left = running.variance - explained;
    double gain = 0.0;
    if (left / running.variance > tolerance) {
      for (std::size_t r = 0; r < y_.rows; ++r) {
        double shared = 0.0;
        for (std::size_t t = 0; t < k; ++t) shared += yq_[t][r] * covariance[t];
        if (new_form) shared += trial.yq[r] * covariance[k];
        const double a = trial.y_hinge[r] - shared;
        gain += a * a / left;
      }
    }
    gain = adjust * (linear + gain);
    if (best.gain < gain && gain < limit) {
      best.place = static_cast<std::ptrdiff_t>(place);
      best.gain = gain;
    }
  }
  return best;
}

}  // namespace earthdof
