// Knot search by updating: O(n) per (parent, predictor) pair and step, for any number of terms.
//
// State of one fit: sums of all candidate knots, updated to the model parent by parent on demand, and an orthonormal
// basis of the model.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"
#include "design.hpp"
#include "gram_schmidt.hpp"
#include "knots.hpp"
#include "noise.hpp"
#include "terms.hpp"

namespace earthdof {

// State of a linear candidate: available, in the span of the model, or decided only by earth's own arithmetic.
enum class Linear : std::uint8_t { kAlive, kDead, kDoubtful };

// One cache line, so that for small data all pairs of a step fit into the first-level cache.
struct alignas(64) Pair {
  std::size_t offset = 0;  // first entry in the knots
  std::uint32_t n_knots = 0;
  bool open = false;  // the predictor may extend the parent
  bool need = false;  // the pair must be computed in earth's order of operations
  Linear linear = Linear::kAlive;
  Linear state = Linear::kAlive;  // the same in this step, where it may also be no new form
  std::size_t first = 0;          // first entry in the cases
  double gain = 0.0;              // gain of the best candidate in this step
  double upper = 0.0;             // upper bound of this gain
  double square = 0.0;            // upper bound of the squared norm of parent times predictor
  double rounding = 0.0;          // square of the noise of |h|^2
};

// Last recomputation of the linear candidate of a pair: its squared norm, and the quality of the basis.
struct Computed {
  double square = 0.0, quality = 1.0;
};

// Candidate selected by the updating search, unless rounding may decide otherwise.
struct Decision {
  bool decided = false, tied = false;
  Candidate candidate;
};

class Updating {
 public:
  // `capacity` is the number of slots, `n_mates` the number of searches that share the memory of a thread; `again` is
  // true if the search starts more than once.
  Updating(const Design& design, const Settings& settings, std::size_t n_resp, std::size_t capacity, Team& team,
           std::size_t n_mates, bool again);
  virtual ~Updating() = default;

  // Start with new responses, as rows, and their coefficients on the intercept, the only basis column: their means if
  // this column is 1.
  void start(Rows<const double> y, const std::vector<double>& y_mean, const double* intercept);
  // Append the terms of a step to the basis; returns the minimum share of a centred square that is new.
  double append(const Terms& terms, std::size_t slot);
  // Discard all candidate knots, as required after a change of the allowed terms.
  void forget_knots();
  // Release the memory; no search may follow.
  void release();
  // Release the work space of the search until the next one.
  void release_work();
  // Best candidate of all parents in the queue, whose gains are written to it. Pairs that are too close to call are
  // marked.
  Decision search(const Terms& terms, Queue& queue, std::size_t n_slots, double limit, double rss_null);
  // True if the next search evaluates the intercept's pairs.
  bool wants_intercept(const Queue& queue) const;
  // Update the intercept's pairs of several searches on the same X to their bases simultaneously.
  static void prepare_intercepts(const std::vector<Updating*>& searches, const Terms& terms);
  // Record that the line of a pair is permanently in the span of the model.
  void set_linear_dead(std::size_t slot, std::size_t pred) { pair_at(slot, pred).linear = Linear::kDead; }

  const Pair& pair(std::size_t slot, std::size_t pred) const { return pairs_[slot * design_.p + pred]; }
  bool is_too_noisy() const;
  // True if all basis columns were independent when added, by a safe margin of the rank test.
  bool has_full_rank() const;
  double noise() const { return noise_; }
  std::size_t size() const { return size_; }
  const double* q(std::size_t k) const { return q_[k]; }
  const double* r(std::size_t k) const { return r_[k]; }
  // For callers that construct their own basis.
  Table<double>& basis() { return q_; }
  Table<double>& triangle() { return r_; }
  const Table<double>& triangle() const { return r_; }

  static constexpr double kDegenerate = 1e-8;  // smaller shares are left to the exact loops

 protected:
  struct Top {
    double gain = 0.0;
    std::ptrdiff_t slot = -1;
    std::size_t pred = 0;
    bool linear = false;
  };
  struct Winner {
    bool clear;
    std::ptrdiff_t knot;  // -1 for the linear candidate
    double error;         // error bound of its gain
    bool new_form;
  };
  // Quantities by which a pair is scored.
  struct Step {
    std::size_t n_slots;
    double limit, rss_null;
  };

  // Find the best gain of a pair and its upper bound.
  virtual void score_pair(const Terms& terms, std::size_t slot, std::size_t pred, const Step& step, int thread);
  // Returns a winner if exactly one candidate of the pair may reach the bar, with no test in doubt.
  virtual Winner clear_winner(const Terms& terms, const Top& top, const Step& step, double bar);
  // True if near-ties are decided by earth's own arithmetic.
  virtual bool is_strict() const { return true; }
  // Minimum lead in gain of a candidate over an earlier one.
  virtual double least_lead() const { return 0.0; }
  // True if the rank of a parent in later steps, whose gains are not yet known, depends on earth's own arithmetic;
  // given its best gain and the error bound.
  virtual bool is_unsure_order([[maybe_unused]] double best, [[maybe_unused]] double spread) const { return false; }
  // Column of a parent for its pairs.
  virtual ParentColumn parent_column(const Terms& terms, std::size_t slot) const { return {terms.bx[slot], design_.n}; }

  // Linear candidate of a pair; all zero if none.
  struct Line {
    double inverse, gain;  // 1/B, A^2/B
    double error;          // error bound of the gain due to the means of the responses
  };

  // Orthogonalise the next column, stored in place, to the basis. Returns its remaining square.
  double reduce_column() { return orthogonalise(q_, size_, q_[size_], r_[size_]); }
  // Add it to the basis.
  void keep_column(double square);
  // Recompute the square of a line; returns that of parent times predictor.
  double compute_line(const Terms& terms, std::size_t slot, std::size_t pred, int thread);
  // Writes A/B of each response to `slope`.
  Line line_of(const Pair& pair, bool linear, double noise, double* slope) const;
  Pair& pair_at(std::size_t slot, std::size_t pred) { return pairs_[slot * design_.p + pred]; }
  // The sums of a pair are updated by lanes: the responses, then the basis without column 0, the intercept, which is
  // already included in the sums of a new parent.
  std::size_t n_lanes() const { return n_resp_ + size_ - 1; }

 private:
  struct Parent {
    std::size_t synced = 0;  // lanes included in its sums, 0 if it has none
    bool listed = false;
    double spread = 0.0;                 // error bound of its best gain
    std::vector<std::uint32_t> support;  // cases in which its column is not zero, and the values there, if listed
    std::vector<double> values;
  };

  double append_column();
  void make_work();
  void clear_parents();
  void start_parent(const Terms& terms, std::size_t slot);
  void make_room(std::size_t n_knots, std::size_t n_cases);
  void create_parent(const Terms& terms, std::size_t slot);
  // Update the sums of all pairs of a parent to the responses and the basis; calls `then` after each pair.
  template <class Then>
  void prepare_parent(const Terms& terms, std::size_t slot, const Then& then);
  template <class Then>
  void take_lanes(const Terms& terms, std::size_t slot, std::size_t first, std::size_t count, const Then& then);
  void walk_pair(std::size_t slot, std::size_t pred, std::size_t lanes, double* hinge) const;
  void update_sums(std::size_t slot, std::size_t pred, std::size_t first, std::size_t count, const double* hinge);
  const double* lane(std::size_t k) const { return k < n_resp_ ? y_[k] : q_[k - n_resp_ + 1]; }
  Linear linear_state(const Terms& terms, std::size_t slot, std::size_t pred, std::size_t n_slots, int thread);
  Linear check_linear(const Terms& terms, std::size_t slot, std::size_t pred, int thread);
  double pair_noise(const Pair& pair, bool linear) const;
  bool mark_ties(const Terms& terms, const Queue& queue, const Top& top, double rss_null, double& bar);

 protected:
  const Design& design_;
  const Settings& settings_;
  Team& team_;
  std::size_t n_resp_;
  std::size_t most_knots_;  // of a pair, with h_min
  Knots knots_;
  Cases cases_;
  std::size_t knots_filled_ = 0, cases_filled_ = 0;
  std::size_t last_ = 0, last_knots_ = 0, last_cases_ = 0;  // last parent created, and the start of its entries
  std::size_t own_knots_ = 0;                               // knots of the intercept, which come first and are kept
  Buffer<double> first_c_;                                  // initial C of the intercept's pairs, for restarts
  std::vector<Pair> pairs_;
  std::vector<Computed> computed_;  // of each pair
  std::vector<Parent> parents_;
  double noise_ = 0.0;    // squared noise of the model, see noise.hpp
  double quality_ = 1.0;  // minimum share of a basis column that was new when added
  std::size_t size_ = 0;
  Table<double> q_;                      // orthonormal basis
  Table<double> r_;                      // triangular factor of the basis columns, one row per column
  Table<double> y_, z_;                  // one row per response: centred, and its <y, q> of each lane
  Buffer<double> weight_;                // |q|^2 of each lane, 0 for a response
  double offset_ = 0.0;                  // root of the sum of n mean^2 of the responses
  Table<double> coefficients_, slopes_;  // one row per thread
  // Work space of the search.
  Buffer<double> products_;
  std::vector<PairWork> pair_work_;  // one per thread
  Table<double> hinges_, columns_;   // one row per thread
};

inline Updating::Line Updating::line_of(const Pair& own, bool linear, double noise, double* slope) const {
  const std::size_t last = own.offset + own.n_knots;
  const double inverse = linear ? 1 / knots_.b[last] : 0.0;
  double gain = 0.0;
  const double* a = knots_.a.data() + last;
  for (std::size_t r = 0; r < n_resp_; ++r, a += knots_.a.width()) {
    slope[r] = *a * inverse;
    gain += *a * slope[r];
  }
  if (!linear) return {0.0, 0.0, 0.0};
  if (offset_ == 0) return {inverse, gain, 0.0};
  const double loss = knots_.v[last] * inverse;
  return {inverse, gain, line_error(gain, loss, noise, offset_, static_cast<double>(design_.n))};
}

}  // namespace earthdof
