#include "exact.hpp"

#include <cmath>
#include <numeric>

#include "../simd/loops.hpp"

namespace earthdof {

namespace {

constexpr std::size_t kMostCentred = std::size_t{1} << 21;  // 16 MB

}  // namespace

double running_mean(const double* column, std::size_t n) {
  double mean = 0.0;
  for (std::size_t i = 0; i < n; ++i) mean += column[i] / static_cast<double>(n);
  return mean;
}

ExactBasis::ExactBasis(std::size_t n, std::size_t capacity, std::size_t n_resp, bool searches)
    : n_(n),
      kept_(searches && n * capacity <= kMostCentred),
      q_(capacity, n),
      mean_(capacity),
      centred_(kept_ ? n : 0, (capacity + kExactColumns - 1) / kExactColumns * kExactColumns),
      yq_(capacity, n_resp) {}

void ExactBasis::start(Rows<const double> y, const std::vector<double>& y_mean) {
  y_ = y;
  y_mean_ = y_mean;
  const double length = 1 / std::sqrt(static_cast<double>(n_));
  std::fill(q_[0], q_[0] + n_, length);
  mean_[0] = length;
  for (std::size_t i = 0; i < centred_.rows(); ++i) std::fill_n(centred_[i], kExactColumns, 0.0);
  project(q_[0], yq_[0]);
  size_ = 1;
}

double ExactBasis::append(const double* column, double floor) {
  std::copy(column, column + n_, q_[size_]);
  return append_own(floor);
}

// Append the next column, already stored in place.
double ExactBasis::append_own(double floor) {
  double *q = q_[size_], &mean = mean_[size_];
  take_out(0, size_, &q, 1);
  const double square = finish(floor, q, mean, yq_[size_]);
  keep(mean);
  return square;
}

void ExactBasis::append_next(std::size_t count) {
  if (count == 2 && size_ > 1) {  // sum two columns simultaneously
    double* columns[] = {q_[size_], q_[size_ + 1]};
    take_out(0, size_, columns, 2);
    for (std::size_t c = 0; c < 2; ++c) {
      if (c > 0) take_out(size_ - 1, size_, columns + 1, 1);
      finish(0.0, columns[c], mean_[size_], yq_[size_]);
      keep(mean_[size_]);
    }
    return;
  }
  for (; count > 0; --count) append_own(0.0);
}

// Add the column stored in place to the basis.
void ExactBasis::keep(double mean) {
  const double* q = q_[size_];
  for (std::size_t i = 0; i < centred_.rows(); ++i) {
    if (size_ % kExactColumns == 0) std::fill_n(centred_[i] + size_, kExactColumns, 0.0);
    centred_[i][size_] = q[i] - mean;
  }
  ++size_;
}

// Orthogonalise one or two columns to basis columns. A single loop subtracts one basis column and multiplies the
// remainder by the next.
void ExactBasis::take_out(std::size_t first, std::size_t last, double* const* columns, std::size_t count) const {
  double *u = columns[0], *v = columns[count - 1];
  if (size_ == 1) {
    const double mean = running_mean(u, n_);
    for (std::size_t i = 0; i < n_; ++i) u[i] -= mean;
    return;
  }
  double beta_u = 0.0, beta_v = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    beta_u += q_[first][i] * u[i];
    beta_v += q_[first][i] * v[i];
  }
  for (std::size_t t = first; t < last; ++t) {
    const double *other = q_[t], *next = q_[std::min(t + 1, last - 1)], factor_u = -beta_u, factor_v = -beta_v;
    beta_u = beta_v = 0.0;
    if (count == 1)
      for (std::size_t i = 0; i < n_; ++i) {
        u[i] += factor_u * other[i];
        beta_u += next[i] * u[i];
      }
    else
      for (std::size_t i = 0; i < n_; ++i) {
        u[i] += factor_u * other[i];
        v[i] += factor_v * other[i];
        beta_u += next[i] * u[i];
        beta_v += next[i] * v[i];
      }
  }
}

// Scale the residual of a column. Returns its sum of squares; at or below `floor`, it is set to zero.
double ExactBasis::finish(double floor, double* q, double& mean, double* yq) const {
  double square = 0.0;
  for (std::size_t i = 0; i < n_; ++i) square += q[i] * q[i];
  mean = 0.0;
  if (square > floor) {
    mean = running_mean(q, n_);  // as in earth, the mean precedes the division by the length
    const double length = std::sqrt(square);
    for (std::size_t i = 0; i < n_; ++i) q[i] /= length;
  } else {
    std::fill(q, q + n_, 0.0);
  }
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

// Centred columns of some cases, one row of kExactColumns per case.
void ExactBasis::gather(const std::uint32_t* rows, std::size_t count, std::size_t first, double* tile) const {
  for (std::size_t t = first; t < std::min(first + kExactColumns, size_); ++t) {
    const double *q = q_[t], mean = mean_[t];
    for (std::size_t i = 0; i < count; ++i) tile[i * kExactColumns + t - first] = q[rows[i]] - mean;
  }
}

// Find the candidate knots and their quantities independent of the basis.
void ExactBasis::find_knots(const Design& design, const double* base, std::size_t pred, const Spans& spans,
                            Trial& trial) const {
  const std::uint32_t* order = design.order[pred];
  const double *sorted = design.sorted[pred], n = static_cast<double>(n_);
  trial.y_slope.fill(0.0);
  trial.y_hinge.fill(0.0);
  trial.places.clear();
  trial.variances.clear();
  trial.y_hinges.clear();
  RunningVariance running;
  int wait = spans.start;
  for (std::size_t place = 1; place + spans.end < n_; ++place) {
    const std::uint32_t row = order[place - 1];
    const double x0 = sorted[place], x1 = sorted[place - 1], b = base[row], step = x1 - x0;
    trial.b[place - 1] = b;
    trial.step[place - 1] = step;
    running.add(b, x0, x1, n);
    for (std::size_t r = 0; r < y_.rows; ++r) {
      trial.y_slope[r] += (y_[r][row] - y_mean_[r]) * b;
      trial.y_hinge[r] += step * trial.y_slope[r];
    }
    if (!(b > 0 && running.variance > 0) || --wait != 0) continue;
    wait = spans.minimum;
    trial.places.push_back(place);
    trial.variances.push_back(running.variance);
    trial.y_hinges.insert(trial.y_hinges.end(), trial.y_hinge.begin(), trial.y_hinge.end());
  }
  trial.covariances.resize(trial.places.size() * (size_ + 1));
}

// Append the linear candidate of a pair to the basis. Returns its residual sum of squares.
double ExactBasis::take_linear(const Design& design, const double* base, std::size_t pred, Trial& trial) const {
  double* q = trial.q.data();
  design.column(pred, q);
  for (std::size_t i = 0; i < n_; ++i) q[i] *= base[i];
  take_out(0, size_, &q, 1);
  return finish(kMinSumOfSquares, q, trial.mean, trial.yq.data());
}

// Covariances of all knots with the linear candidate, stored after the basis.
void ExactBasis::walk_linear(const std::uint32_t* order, Trial& trial) const {
  double slope = 0.0, covariance = 0.0;
  std::size_t i = 0;
  for (std::size_t knot = 0; knot < trial.places.size(); ++knot) {
    for (; i < trial.places[knot]; ++i) {
      slope += trial.b[i] * (trial.q[order[i]] - trial.mean);
      covariance += trial.step[i] * slope;
    }
    trial.covariances[knot * (size_ + 1) + size_] = covariance;
  }
}

// Covariances of all knots with the basis columns from `first` on.
void ExactBasis::walk(const std::uint32_t* order, std::size_t first, Trial& trial) const {
  static constexpr std::size_t kTile = 128;  // cases gathered at a time
  static const std::vector<std::uint32_t> in_order = [] {
    std::vector<std::uint32_t> rows(kTile);
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    return rows;
  }();
  const auto exact_cases = loops().exact_cases;
  const std::size_t count = std::min(kExactColumns, size_ - first), width = size_ + 1;
  const double *b = trial.b.data(), *step = trial.step.data();
  double slope[kExactColumns] = {}, covariance[kExactColumns] = {}, tile[kTile * kExactColumns] = {};
  std::size_t i = 0;
  for (std::size_t knot = 0; knot < trial.places.size(); ++knot) {
    const std::size_t end = trial.places[knot];
    if (kept_)
      exact_cases(slope, covariance, centred_[0] + first, order + i, centred_.width(), b + i, step + i, end - i);
    for (std::size_t next = i; !kept_ && i < end; i = next) {
      const std::size_t at = i % kTile;
      if (at == 0) gather(order + i, std::min(kTile, trial.places.back() - i), first, tile);
      next = std::min(end, i - at + kTile);
      exact_cases(slope, covariance, tile, in_order.data() + at, kExactColumns, b + i, step + i, next - i);
    }
    i = end;
    std::copy_n(covariance, count, trial.covariances.data() + knot * width + first);
  }
}

ExactPair ExactBasis::search(const Design& design, const double* base, std::size_t pred, const Spans& spans,
                             bool new_form, std::size_t slot, double adjust, double limit, bool linear_only,
                             Trial& trial, Team& team) const {
  const std::uint32_t* order = design.order[pred];
  if (linear_only)
    trial.places.clear();
  else
    find_knots(design, base, pred, spans, trial);
  const bool has_linear = new_form;
  const std::size_t groups = linear_only ? 0 : (size_ + kExactColumns - 1) / kExactColumns;
  team.run(groups + 1, [&](std::size_t job, int) {
    if (job > 0) return walk(order, (job - 1) * kExactColumns, trial);
    if (!has_linear) return;
    new_form = take_linear(design, base, pred, trial) > kMinSumOfSquares;
    walk_linear(order, trial);
  });
  double linear = 0.0;
  for (std::size_t r = 0; has_linear && r < y_.rows; ++r) {
    double total = 0.0;
    for (std::size_t i = 0; i < n_; ++i) total += y_[r][i] * trial.q[i];
    linear += total * total;
  }
  ExactPair best{new_form, adjust * linear, -1, adjust * linear};

  // the linear candidate, if any, is the last column of the basis here
  const std::size_t k = size_, with_linear = new_form ? k + 1 : k;
  const double tolerance = knot_tolerance(new_form ? slot + 1 : slot);
  for (std::size_t knot = 0; knot < trial.places.size(); ++knot) {
    const double *covariance = trial.covariances.data() + knot * (k + 1), variance = trial.variances[knot];
    double explained = 0.0;
    for (std::size_t t = 0; t < with_linear; ++t) explained += covariance[t] * covariance[t];
    const double left = variance - explained;
    double gain = 0.0;
    if (left / variance > tolerance) {
      for (std::size_t r = 0; r < y_.rows; ++r) {
        double shared = 0.0;
        for (std::size_t t = 0; t < k; ++t) shared += yq_[t][r] * covariance[t];
        if (new_form) shared += trial.yq[r] * covariance[k];
        const double a = trial.y_hinges[knot * y_.rows + r] - shared;
        gain += a * a / left;
      }
    }
    gain = adjust * (linear + gain);
    if (best.gain < gain && gain < limit) {
      best.place = static_cast<std::ptrdiff_t>(trial.places[knot]);
      best.gain = gain;
    }
  }
  return best;
}

}  // namespace earthdof
