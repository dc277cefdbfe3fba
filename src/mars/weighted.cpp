#include "../core/numbers.hpp"
#include "weighted.hpp"

#include <cmath>

namespace earthdof {

WeightedPass::WeightedPass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds,
                           std::size_t n_resp, Team& team)
    : Pass(design, settings, linpreds, team, settings.degree + 1),
      basis_(design.n, settings.nk + 2, n_resp),
      model_(settings.nk + 2, n_resp, design.n) {
  for (int thread = 0; thread < team.size(); ++thread) works_.push_back(std::make_unique<Work>(design.n, n_resp));
}

void WeightedPass::start(Rows<const double> y, const double* weights, double rss_null) {
  begin(rss_null);
  for (std::size_t i = 0; i < design_.n; ++i) terms_.bx[0][i] = std::sqrt(weights[i]);
  basis_.start(y, std::vector<double>(y.rows, 0.0));
  model_.start(y);
  factored_ = 0;
}

void WeightedPass::step() {
  Block& block = works_[0]->block;
  for (; factored_ < slots_; ++factored_) {
    for (std::size_t i = 0; i < design_.n; ++i) block.columns[i][0] = terms_.bx[factored_][i];
    model_.extend(block);
  }
  Candidate found = search();
  const std::size_t slot = slots_;
  const bool straight = found.linear;
  if (found.found()) {
    if (!settings_.auto_linpreds && !terms_.linear_only[found.pred]) found.linear = false;
    terms_.add(design_, slot, found);
    // the second slot has a column of the model all the same
    if (found.linear)
      std::fill_n(terms_.bx[slot + 1], design_.n, 0.0);
    else if (!terms_.used[slot + 1])
      terms_.make_columns(design_, slot, terms_.bx[slot], terms_.bx[slot + 1]);
    basis_.append(terms_.bx[slot], 0.0);
    if (terms_.used[slot + 1] && !(basis_.append(terms_.bx[slot + 1], 0.0) > kMinSumOfSquares)) {
      basis_.truncate(basis_.size() - 1);  // the second hinge adds nothing
      found.new_form = false;
      terms_.used[slot + 1] = 0;
      terms_.degree[slot + 1] = kNoParent;
    }
  }
  finish_step(found, found.new_form && !straight);
}

// Best term by regression.
Candidate WeightedPass::search() {
  const double model_rss = model_.rss(works_[0]->block);
  struct Job {
    std::size_t slot, pred;
    Spans spans;
    Found found;
  };
  std::vector<Job> jobs;
  const std::size_t considered = queue_.considered(settings_);
  for (std::size_t entry = 0; entry < considered; ++entry) {
    const std::size_t slot = queue_.ranked[entry];
    if (terms_.degree[slot] >= settings_.degree) continue;
    const Spans spans =
        span_limits(design_.n, design_.p, terms_.count_positive(slot), terms_.degree[slot] + 1, settings_);
    for (std::size_t j = 0; j < design_.p; ++j)
      if (terms_.may_extend(slot, j)) jobs.push_back({slot, j, spans, {}});
  }
  team_.run(jobs.size(), [&](std::size_t i, int thread) {
    Job& job = jobs[i];
    job.found = search_pair(job.slot, job.pred, job.spans, model_rss, *works_[thread]);
  });

  Candidate best;
  auto job = jobs.begin();
  for (std::size_t entry = 0; entry < considered; ++entry) {
    const std::size_t slot = queue_.ranked[entry];
    if (terms_.degree[slot] >= settings_.degree) continue;
    double best_of_parent = -1.0;
    for (; job != jobs.end() && job->slot == slot; ++job) {
      const Found& found = job->found;
      const double gain = rss_ - found.rss;
      best_of_parent = larger(best_of_parent, gain);
      if (gain > best.gain) best = {found.place, job->pred, slot, gain, found.new_form, found.straight};
    }
    queue_.when[slot] = slots_;
    queue_.delta[slot] = best_of_parent;
  }
  return best;
}

WeightedPass::Found WeightedPass::search_pair(std::size_t slot, std::size_t pred, const Spans& spans, double model_rss,
                                              Work& work) const {
  const double* base = terms_.bx[slot];
  design_.column(pred, work.x.data());
  Found best;
  best.new_form = terms_.is_new_form(slots_, slot, pred);
  best.rss = rss_;
  best.place = static_cast<std::ptrdiff_t>(design_.n - 1);
  const Factored* model = &model_;
  if (best.new_form) {
    for (std::size_t i = 0; i < design_.n; ++i) work.block.columns[i][0] = base[i] * work.x[i];
    work.with_linear.continue_from(model_);
    work.with_linear.extend(work.block);
    model = &work.with_linear;
    best.rss = model_rss = model->rss(work.block);
  }
  const double straight = best.rss;
  if (!terms_.linear_only[pred]) best_knot(base, pred, spans, *model, model_rss, work, best);
  best.straight = straight <= best.rss;
  return best;
}

// The best knot of a pair, if one beats what `best` has.
void WeightedPass::best_knot(const double* base, std::size_t pred, const Spans& spans, const Factored& model,
                             double model_rss, Work& work, Found& best) const {
  const std::size_t n = design_.n;
  const double *x = work.x.data(), *sorted = design_.sorted[pred];
  Block& block = work.block;
  std::size_t knots[Block::kWidth], width = 0;
  int wait = spans.start;
  for (std::size_t knot = 1; knot + spans.end < n; ++knot) {
    if (base[design_.order[pred][knot - 1]] > 0 && --wait == 0) {
      wait = spans.minimum;
      knots[width++] = knot;
    }
    const bool last = knot + spans.end + 1 == n;
    if (width == 0 || (width < Block::kWidth && !last)) continue;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < width; ++c) {
        const double distance = x[i] - sorted[knots[c]];
        block.columns[i][c] = distance > 0 ? base[i] * distance : 0.0;
      }
    model.rss_of_candidates(block, width, model_rss);
    for (std::size_t c = 0; c < width; ++c)
      if (block.rss[c] < best.rss - kAlmostZero) {
        best.rss = block.rss[c];
        best.place = static_cast<std::ptrdiff_t>(knots[c]);
      }
    width = 0;
  }
}

}  // namespace earthdof
