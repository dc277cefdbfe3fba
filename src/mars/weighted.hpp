// The forward pass with case weights, for which earth regresses anew for every knot, without its fast sums.
//
// Columns of bx carry the square root of the weights. The regression is on every column in the table of terms, also on
// the second hinge of a step that added only one term.
#pragma once

#include <memory>
#include <vector>

#include "exact.hpp"
#include "forward.hpp"
#include "householder.hpp"

namespace earthdof {

class WeightedPass : public Pass {
 public:
  WeightedPass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds,
               std::size_t n_resp, Team& team);

  // Begin with responses as rows, weighted and scaled, the weights, and the null RSS.
  void start(Rows<const double> y, const double* weights, double rss_null);

 private:
  struct Work {
    Block block;
    Factored with_linear;
    Buffer<double> x;  // of the predictor, by case

    Work(std::size_t n, std::size_t n_resp) : block(n), with_linear(1, n_resp, n), x(n) {}
  };
  struct Found {
    bool new_form = false, straight = false;
    double rss = 0.0;
    std::ptrdiff_t place = -1;
  };

  void step() override;
  Candidate search();
  Found search_pair(std::size_t slot, std::size_t pred, const Spans& spans, double model_rss, Work& work) const;
  void best_knot(const double* base, std::size_t pred, const Spans& spans, const Factored& model, double model_rss,
                 Work& work, Found& best) const;

  ExactBasis basis_;
  Factored model_;
  std::size_t factored_ = 0;  // slots whose columns are in the model, or depend on it
  std::vector<std::unique_ptr<Work>> works_;
};

}  // namespace earthdof
