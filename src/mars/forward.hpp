// Forward pass: each step adds the term or pair of terms that reduces the RSS most.
#pragma once

#include <memory>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"
#include "design.hpp"
#include "exact.hpp"
#include "terms.hpp"
#include "updating.hpp"

namespace earthdof {

// earth's codes for why a pass stopped; kRunning until then.
enum Condition {
  kRunning = 0,
  kTooFewSlots = 1,
  kGrsqLow = 2,
  kGrsqPoor = 3,
  kSmallChange = 4,
  kFull = 5,
  kNothing = 6,
  kReachedNk = 7
};

// Common base of the passes with and without case weights.
class Pass {
 public:
  // Columns of terms of degree below `kept` are stored.
  Pass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds, Team& team, int kept);
  virtual ~Pass() = default;

  // Take up to `most` steps.
  void run(std::size_t most);
  // Release memory used only by the search; keep the terms.
  virtual void release() { updating().release(); }
  // The search by updating.
  virtual Updating& updating() = 0;
  virtual const Updating& updating() const = 0;
  // Gain of the best candidate of a pair in the next step, in earth's arithmetic.
  virtual double exact_gain(std::size_t slot, std::size_t pred) = 0;

  // True if all steps follow earth's order of operations; number of near-ties that do.
  bool is_exact() const { return exact_; }
  std::size_t n_ties() const { return ties_; }

  bool is_running() const { return condition_ == kRunning; }
  Condition condition() const { return condition_; }
  double rss() const { return rss_; }
  double rss_null() const { return rss_null_; }
  const Terms& terms() const { return terms_; }
  Terms& terms() { return terms_; }
  const Queue& queue() const { return queue_; }
  const Settings& settings() const { return settings_; }
  const Design& design() const { return design_; }
  std::size_t n_slots() const { return slots_; }
  // RSS and number of terms, including dependent ones, after each attempted step. They determine the pass for any
  // other penalty, because only the end of the pass depends on the penalty.
  const std::vector<double>& rss_after() const { return rss_after_; }
  const std::vector<std::size_t>& terms_after() const { return terms_after_; }
  // Independent columns of the used terms, one per row, and their slots in the table of terms.
  Table<double> independent_columns(Team& team);
  const std::vector<std::size_t>& independent_slots() const { return independent_; }
  // True if the columns of the used terms are independent by a safe margin of the rank test.
  virtual bool has_full_rank() const { return false; }

 protected:
  virtual void step() = 0;
  void begin(double rss_null);
  // Upper limit of the gain of a knot.
  double limit() const;
  // Record a step: RSS, stopping rules, queue. A step with too small a gain is undone.
  void finish_step(const Candidate& step, bool paired);

  const Design& design_;
  Settings settings_;
  Team& team_;
  Terms terms_;
  Queue queue_;
  std::size_t slots_ = 0, used_ = 0;
  Condition condition_ = kRunning;
  double rss_null_ = 0.0, rss_ = 0.0, delta_ = 0.0, rsq_ = 0.0;
  bool exact_ = false;
  bool updated_ = false;  // some step was decided by updating
  std::size_t ties_ = 0;
  std::vector<std::size_t> independent_, terms_after_;
  std::vector<double> rss_after_;
};

// A pass without case weights, over one or several responses.
class ForwardPass : public Pass {
 public:
  ForwardPass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds,
              std::size_t n_resp, Team& team, std::size_t n_mates = 1, bool again = false);

  // Start with scaled responses as rows. With `exact`, every step follows earth's order of operations.
  void start(Rows<const double> y, bool exact);
  void release() override {
    Pass::release();
    basis_.reset();
    trials_.clear();
  }
  bool has_full_rank() const override;
  Updating& updating() override { return updating_; }
  const Updating& updating() const override { return updating_; }
  double exact_gain(std::size_t slot, std::size_t pred) override;

 private:
  void restart(bool exact);
  void step() override;
  Candidate search_exact(bool all);
  ExactPair exact_pair(std::size_t slot, std::size_t pred, const Spans& spans, Trial& trial, Team& team) const;
  Spans spans_of(std::size_t slot) const;
  void complete_basis();
  void extend_basis(std::size_t slot);

  std::size_t n_resp_;
  Team alone_{1, nullptr};  // for jobs that already run in a thread
  Updating updating_;
  std::unique_ptr<ExactBasis> basis_;  // created on first use
  std::vector<std::unique_ptr<Trial>> trials_;
  std::vector<std::size_t> columns_;  // slot of each basis column
  Rows<const double> y_{nullptr, 0, 0};
  std::vector<double> y_mean_;
};

}  // namespace earthdof
