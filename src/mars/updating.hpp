// The search for a knot by updating: O(n) a (parent, predictor) pair and step, however many terms there are.
//
// The state of one fit: the sums of all candidate knots, brought up to the model parent by parent when their turn
// comes, and an orthonormal basis of the model.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"
#include "design.hpp"
#include "gram_schmidt.hpp"
#include "knots.hpp"
#include "terms.hpp"

namespace earthdof {

// Of a linear candidate: it is there, it lies in the model for good, or only earth's own arithmetic can tell.
enum class Linear : std::uint8_t { kAlive, kDead, kDoubtful };

// Of small data all pairs of a step are in the nearest cache, if they are no larger than a line of it.
struct alignas(64) Pair {
  std::size_t offset = 0;  // first entry in the knots
  std::uint32_t n_knots = 0;
  bool open = false;  // whether the predictor may extend the parent
  bool need = false;  // whether the pair must be computed in earth's order of operations
  Linear linear = Linear::kAlive;
  Linear state = Linear::kAlive;  // the same in this step, in which it may also be no new form
  std::size_t first = 0;          // first entry in the cases
  double gain = 0.0;              // of its best candidate in this step
  double upper = 0.0;             // what it may be at the most
  double square = 0.0;            // upper bound of that of parent times predictor
  double rounding = 0.0;          // square of the noise of |h|^2
};

// When a pair's linear candidate was last computed, not updated: its square, and the quality of the basis.
struct Computed {
  double square = 0.0, quality = 1.0;
};

// The candidate that the updating search takes, if rounding cannot decide otherwise.
struct Decision {
  bool decided = false, tied = false;
  Candidate candidate;
};

class Updating {
 public:
  // `capacity` is the number of slots, `n_mates` that of the searches which share the memory of a thread; `again` says
  // whether it starts more than once.
  Updating(const Design& design, const Settings& settings, std::size_t n_resp, std::size_t capacity, Team& team,
           std::size_t n_mates, bool again);
  virtual ~Updating() = default;

  // Begin with new responses, as rows, and their coefficients on the intercept, the only basis column: their means
  // where its column is 1.
  void start(Rows<const double> y, const std::vector<double>& y_mean, const double* intercept);
  // Give the terms of a step their places in the basis; returns the least share of a centred square that is new.
  double append(const Terms& terms, std::size_t slot);
  // Drop all that was known of candidate knots, as after a change of what is allowed.
  void forget_knots();
  // Give the memory back: there is no search after this.
  void release();
  // Give back what only a search writes to, until the next.
  void release_work();
  // The best candidate of all parents in the queue, whose gains are written there. Pairs that are too close to
  // call are marked.
  Decision search(const Terms& terms, Queue& queue, std::size_t n_slots, double limit, double rss_null);
  // Whether the next search looks at the intercept's pairs.
  bool wants_intercept(const Queue& queue) const;
  // Bring the intercept's pairs of several searches on the same X up to their bases, all in one go.
  static void prepare_intercepts(const std::vector<Updating*>& searches, const Terms& terms);
  // The line of a pair lies in the model for good.
  void set_linear_dead(std::size_t slot, std::size_t pred) { pair_at(slot, pred).linear = Linear::kDead; }

  const Pair& pair(std::size_t slot, std::size_t pred) const { return pairs_[slot * design_.p + pred]; }
  bool is_too_noisy() const;
  // Whether the columns of the basis were safely independent as they came, far from the tolerance of the rank test.
  bool has_full_rank() const;
  double noise() const { return noise_; }
  std::size_t size() const { return size_; }
  const double* q(std::size_t k) const { return q_[k]; }
  const double* r(std::size_t k) const { return r_[k]; }
  // For those who make a basis of their own.
  Table<double>& basis() { return q_; }
  Table<double>& triangle() { return r_; }
  const Table<double>& triangle() const { return r_; }

  static constexpr double kDegenerate = 1e-8;  // a smaller share is left to the exact loops

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
    double error;         // how far its gain may be off
    bool new_form;
  };
  // What a pair is scored by.
  struct Step {
    std::size_t n_slots;
    double limit, rss_null;
  };

  // Find the best gain of a pair, and what it may be at the most.
  virtual void score_pair(const Terms& terms, std::size_t slot, std::size_t pred, const Step& step, int thread);
  // Whether one candidate of the pair and no other may reach the bar, with no test in doubt.
  virtual Winner clear_winner(const Terms& terms, const Top& top, const Step& step, double bar);
  // Whether near-ties are left to earth's own arithmetic.
  virtual bool is_strict() const { return true; }
  // A candidate has to gain so much more to win over one that came earlier.
  virtual double least_lead() const { return 0.0; }
  // Whether only earth can tell where a parent stands among others of later steps, whose gains are not yet known: its
  // best gain is found, and how far that may be off.
  virtual bool is_unsure_order([[maybe_unused]] double best, [[maybe_unused]] double spread) const { return false; }
  // The column of a parent for its pairs.
  virtual ParentColumn parent_column(const Terms& terms, std::size_t slot) const { return {terms.bx[slot], design_.n}; }

  // The linear candidate of a pair; nothing but zeros where there is none.
  struct Line {
    double inverse, gain;  // 1/B, A^2/B
    double error;          // how far the gain may be off by the means of the responses
  };

  // The next column is in its place: take the basis out of it. Returns the square that is left.
  double reduce_column() { return orthogonalise(q_, size_, q_[size_], r_[size_]); }
  // It joins the basis.
  void keep_column(double square);
  // Compute the square of a line anew; returns that of parent times predictor.
  double compute_line(const Terms& terms, std::size_t slot, std::size_t pred, int thread);
  // Writes A/B of each response to `slope`.
  Line line_of(const Pair& pair, bool linear, double noise, double* slope) const;
  Pair& pair_at(std::size_t slot, std::size_t pred) { return pairs_[slot * design_.p + pred]; }
  // What the sums of a pair take into account are lanes: the responses, and then the basis without its column 0, the
  // intercept, which the sums of a new parent have already.
  std::size_t n_lanes() const { return n_resp_ + size_ - 1; }

 private:
  struct Parent {
    std::size_t synced = 0;  // lanes that its sums know, 0 if it has none
    bool listed = false;
    double spread = 0.0;  // how far its best gain may be off
    std::vector<std::uint32_t> support;
  };

  double append_column();
  void make_work();
  void clear_parents();
  void start_parent(const Terms& terms, std::size_t slot);
  void make_room(std::size_t n_knots, std::size_t n_cases);
  void create_parent(const Terms& terms, std::size_t slot);
  // Brings the sums of all pairs of a parent up to the responses and the basis, each pair with `then` at the end.
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
  std::size_t last_ = 0, last_knots_ = 0, last_cases_ = 0;  // the last parent that was made, and where its own begin
  std::size_t own_knots_ = 0;                               // those of the intercept, which come first and stay
  Buffer<double> first_c_;                                  // C of the intercept's pairs, to start again with
  std::vector<Pair> pairs_;
  std::vector<Computed> computed_;  // of each pair
  std::vector<Parent> parents_;
  double noise_ = 0.0;    // square of the model's noise, see noise.hpp
  double quality_ = 1.0;  // least share of a basis column that was new when it came
  std::size_t size_ = 0;
  Table<double> q_;                      // orthonormal basis
  Table<double> r_;                      // triangular factor of the basis columns, a row per column
  Table<double> y_, z_;                  // a row a response: centred, and its <y, q> of each lane
  Buffer<double> weight_;                // |q|^2 of each lane, 0 for a response
  double offset_ = 0.0;                  // root of the sum of n mean^2 of the responses
  Table<double> coefficients_, slopes_;  // a row a thread
  // What a search writes to, and nobody reads after it.
  Buffer<double> products_;
  std::vector<PairWork> pair_work_;  // a thread each
  Table<double> hinges_, columns_;   // a row a thread
};

}  // namespace earthdof
