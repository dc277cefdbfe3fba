// Knot search in earth's own order of operations, for near-ties and degenerate data.
//
// If two candidates are mathematically equal, earth's choice depends on rounding. These loops therefore sum case by
// case, from high to low x, on the same centred orthonormal basis, and must not be re-associated or fused. Their cost
// is O(n * terms) per pair, as in earth.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"
#include "design.hpp"
#include "terms.hpp"

namespace earthdof {

// Mean as in earth: a sum of values over n.
double running_mean(const double* column, std::size_t n);

// earth's running centred sum of squares of a hinge as the knot moves down.
struct RunningVariance {
  double variance = 0.0;

  // Add the case at x1 with value b of the parent, and move the knot to x0.
  void add(double b, double x0, double x1, double n) {
    const double step = x1 - x0, square = b * b;
    sum_b += b;
    sum_bb += square;
    sum_bx += b * x1;
    sum_bbx += square * x1;
    const double previous = hinge;
    hinge = sum_bx - sum_b * x0;
    variance += step * (2 * sum_bbx - sum_bb * (x0 + x1)) + (previous * previous - hinge * hinge) / n;
  }

 private:
  double sum_b = 0.0, sum_bb = 0.0, sum_bbx = 0.0, sum_bx = 0.0, hinge = 0.0;
};

// Candidate basis column, and the work space of one thread.
struct Trial {
  Buffer<double> q, yq;
  double mean = 0.0;       // subtracted from q
  Buffer<double> b, step;  // by descending x: value of the parent, and distance to the next case
  Buffer<double> y_slope, y_hinge;
  std::vector<std::size_t> places;  // of the knots
  std::vector<double> variances;    // of each knot
  std::vector<double> y_hinges;     // one row per knot
  std::vector<double> covariances;  // one row per knot

  Trial(std::size_t n, std::size_t n_resp) : q(n), yq(n_resp), b(n), step(n), y_slope(n_resp), y_hinge(n_resp) {}
};

// Best candidate of one (parent, predictor) pair; gains include the penalty for a new variable.
struct ExactPair {
  bool new_form;
  double linear;         // gain of the linear candidate
  std::ptrdiff_t place;  // of the best knot, -1 if none
  double gain;           // of the best candidate
};

// Orthonormal basis by modified Gram-Schmidt, in the order of the terms.
class ExactBasis {
 public:
  // `searches`: prepare for a search.
  ExactBasis(std::size_t n, std::size_t capacity, std::size_t n_resp, bool searches = true);

  // Start with the intercept, for responses as rows and their means.
  void start(Rows<const double> y, const std::vector<double>& y_mean);
  // Add a column and return its residual sum of squares. At or below `floor`, zeros are stored.
  double append(const double* column, double floor);
  // Add one or two columns written to the memory of the next ones, without a floor.
  double* next(std::size_t c) { return q_[size_ + c]; }
  void append_next(std::size_t count);
  std::size_t size() const { return size_; }
  void truncate(std::size_t size) { size_ = size; }

  // Best candidate of a pair.
  ExactPair search(const Design& design, const double* base, std::size_t pred, const Spans& spans, bool new_form,
                   std::size_t slot, double adjust, double limit, bool linear_only, Trial& trial, Team& team) const;

 private:
  void take_out(std::size_t first, std::size_t last, double* const* columns, std::size_t count) const;
  double finish(double floor, double* q, double& mean, double* yq) const;
  void keep(double mean);
  double append_own(double floor);
  double take_linear(const Design& design, const double* base, std::size_t pred, Trial& trial) const;
  void project(const double* q, double* yq) const;
  void find_knots(const Design& design, const double* base, std::size_t pred, const Spans& spans, Trial& trial) const;
  void walk_linear(const std::uint32_t* order, Trial& trial) const;
  void walk(const std::uint32_t* order, std::size_t first, Trial& trial) const;
  void gather(const std::uint32_t* rows, std::size_t count, std::size_t first, double* tile) const;

  std::size_t n_, size_ = 0;
  bool kept_;              // `centred_` is stored; for many cases, its rows are gathered on demand
  Table<double> q_;        // a row per column
  Buffer<double> mean_;    // subtracted from each column
  Table<double> centred_;  // one row per case: centred q, in groups of kExactColumns
  Table<double> yq_;       // a row per column: <y - mean y, q> of each response
  Rows<const double> y_{nullptr, 0, 0};
  std::vector<double> y_mean_;
};

}  // namespace earthdof
