// Forward pass with case weights, for which earth repeats the regression for every knot, without fast sums.
//
// Columns of bx are multiplied by the square roots of the weights. The regression includes every column in the table of
// terms, even the second hinge of a step that added only one term. Candidates are found by updating; near-ties, and the
// gain of a step on a threshold, are decided by earth's regressions.
#pragma once

#include <memory>
#include <vector>

#include "exact.hpp"
#include "forward.hpp"
#include "householder.hpp"
#include "weighted_updating.hpp"

namespace earthdof {

class WeightedPass : public Pass {
 public:
  WeightedPass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds,
               std::size_t n_resp, Team& team, std::size_t n_mates = 1, bool again = false);

  // Start with weighted and scaled responses as rows, the weights, and the null RSS. With `exact`, every step uses
  // earth's regressions.
  void start(Rows<const double> y, const double* weights, double rss_null, bool exact);
  void release() override;
  Updating& updating() override { return updating_; }
  const Updating& updating() const override { return updating_; }
  double exact_gain(std::size_t slot, std::size_t pred) override;
  bool has_full_rank() const override;

 private:
  struct Work {
    Block block;
    Factored with_linear;
    Buffer<double> x;  // predictor by case

    Work(std::size_t n, std::size_t n_resp) : block(n), with_linear(1, n_resp, n), x(n) {}
  };
  struct Found {
    bool new_form = false, straight = false;
    double rss = 0.0;
    std::ptrdiff_t place = -1;
  };

  void step() override;
  void restart(bool exact);
  Candidate search_exact(bool all);
  Found search_pair(std::size_t slot, std::size_t pred, const Spans& spans, double model_rss, Work& work) const;
  void best_knot(const double* base, std::size_t pred, const Spans& spans, const Factored& model, double model_rss,
                 Work& work, Found& best) const;
  Spans spans_of(std::size_t slot) const;
  double exact_rss(const Candidate& candidate);
  void complete_model(std::size_t slots);
  void settle();
  void add_columns(std::size_t slot, Candidate& found);
  bool is_on_threshold(double gain) const;
  bool second_adds(std::size_t slot);

  std::size_t n_resp_;
  WeightedUpdating updating_;
  Rows<const double> y_{nullptr, 0, 0};
  const double* weights_ = nullptr;
  double given_rss_ = 0.0;
  // earth's own arithmetic, created on first use
  std::unique_ptr<ExactBasis> basis_;
  std::unique_ptr<Factored> model_;
  std::vector<std::unique_ptr<Work>> works_;
  std::size_t factored_ = 0;          // slots whose columns are in the model or depend on it
  std::size_t in_basis_ = 0;          // slots whose columns are in the basis, if they are used
  std::vector<Candidate> unsettled_;  // steps whose gains are not yet from earth's regressions
  double settled_rss_ = 0.0;          // RSS before them
};

}  // namespace earthdof
