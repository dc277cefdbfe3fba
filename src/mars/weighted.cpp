#include "../core/numbers.hpp"
#include "weighted.hpp"

#include <cmath>

namespace earthdof {

namespace {

constexpr double kSaturated = 1e-7;      // share of the null RSS below which the rest is rounding
constexpr double kSameRss = 1e-9;        // share of the null RSS by which updating and regressions may differ
constexpr double kNearThreshold = 1e-9;  // in R squared: distance to a threshold for earth's own arithmetic

}  // namespace

WeightedPass::WeightedPass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds,
                           std::size_t n_resp, Team& team, std::size_t n_mates, bool again)
    : Pass(design, settings, linpreds, team, settings.degree + 1),
      n_resp_(n_resp),
      updating_(design_, settings_, n_resp, settings.nk + 2, team, n_mates, again),
      works_(team.size()) {}

void WeightedPass::start(Rows<const double> y, const double* weights, double rss_null, bool exact) {
  y_ = y;
  weights_ = weights;
  given_rss_ = rss_null;
  restart(exact);
  updating_.start(y, terms_.bx[0]);
  // a constant response
  if (!(std::fabs(updating_.rss() - rss_null) <= kSameRss * rss_null)) exact_ = true;
}

void WeightedPass::restart(bool exact) {
  begin(given_rss_);
  for (std::size_t i = 0; i < design_.n; ++i) terms_.bx[0][i] = std::sqrt(weights_[i]);
  exact_ = exact;
  updated_ = false;
  ties_ = 0;
  factored_ = in_basis_ = 0;
  unsettled_.clear();
  settled_rss_ = rss_;
}

void WeightedPass::release() {
  Pass::release();
  basis_.reset();
  model_.reset();
  for (auto& work : works_) work.reset();
}

bool WeightedPass::has_full_rank() const { return !exact_ && updating_.is_regular() && updating_.has_full_rank(); }

void WeightedPass::step() {
  Decision decision;
  const bool noisy = !exact_ && updating_.is_too_noisy();
  if (noisy && settings_.as_earth) exact_ = true;
  if (noisy && !settings_.as_earth) {
    decision = {true, false, {}};  // any remaining gain is rounding
  } else if (!exact_) {
    decision = updating_.search(terms_, queue_, slots_, INFINITY, rss_null_);
    ties_ += decision.tied ? 1 : 0;
    updated_ |= decision.decided && decision.candidate.found();
  }
  Candidate found = decision.decided ? decision.candidate : search_exact(exact_);
  const std::size_t slot = slots_;
  const bool straight = found.linear;
  if (found.found()) {
    const Candidate searched = found;
    add_columns(slot, found);
    if (!exact_ && !updating_.append(terms_, slot, found.new_form)) exact_ = true;
    if (decision.decided) {
      found.gain = rss_ - (updating_.rss() + updating_.gap());
      if (exact_ || (settings_.as_earth && is_on_threshold(found.gain))) {
        settle();
        found.gain = rss_ - exact_rss(searched);
      } else {
        unsettled_.push_back(searched);
      }
    } else if (settings_.as_earth &&
               !(std::fabs(rss_ - found.gain - updating_.rss() - updating_.gap()) < kSameRss * rss_null_)) {
      exact_ = true;  // R included the rounding residual of a dependent column
    }
    if (terms_.used[slot + 1] && !second_adds(slot)) {
      found.new_form = false;
      terms_.used[slot + 1] = 0;
      terms_.degree[slot + 1] = kNoParent;
    }
  }
  finish_step(found, found.new_form && !straight);
  if (unsettled_.empty()) settled_rss_ = rss_;
  if (rss_ < kSaturated * rss_null_ && updated_) restart(true);  // the rest is rounding: restart as in earth
}

// Write the columns of a step into the table of terms.
void WeightedPass::add_columns(std::size_t slot, Candidate& found) {
  if (!settings_.auto_linpreds && !terms_.linear_only[found.pred]) found.linear = false;
  terms_.add(design_, slot, found);
  // the second slot has a column of the model even if unused
  if (found.linear)
    std::fill_n(terms_.bx[slot + 1], design_.n, 0.0);
  else if (!terms_.used[slot + 1])
    terms_.make_columns(design_, slot, terms_.bx[slot], terms_.bx[slot + 1]);
}

// True if the last digits of a gain decide whether earth stops.
bool WeightedPass::is_on_threshold(double gain) const {
  const double change = gain / rss_null_, left = (rss_ - gain) / rss_null_;
  return std::fabs(change - settings_.thresh) < kNearThreshold || std::fabs(left - settings_.thresh) < kNearThreshold;
}

// True if the second hinge of a step is sufficiently independent. earth tests it with an orthogonal basis that has a
// column of ones instead of the weighted intercept.
bool WeightedPass::second_adds(std::size_t slot) {
  const WeightedUpdating::Left left = exact_ ? WeightedUpdating::Left() : updating_.left_of_second();
  if (left.least > 2 * kMinSumOfSquares || left.most < 0.1 * kMinSumOfSquares) {
    const bool adds = left.least > 0;
    updating_.take_second(adds, 1.0);
    return adds;
  }
  if (!basis_) basis_ = std::make_unique<ExactBasis>(design_.n, settings_.nk + 2, 0, false);
  if (in_basis_ == 0) {
    basis_->start({nullptr, 0, design_.n}, {});
    in_basis_ = 1;
  }
  for (; in_basis_ < slot; ++in_basis_)
    if (terms_.used[in_basis_]) basis_->append(terms_.bx[in_basis_], 0.0);
  basis_->append(terms_.bx[slot], 0.0);
  const double* second = terms_.bx[slot + 1];
  const double left_over = basis_->append(second, 0.0);
  const bool adds = left_over > kMinSumOfSquares;
  if (!adds) basis_->truncate(basis_->size() - 1);
  updating_.take_second(adds, left_over / loops().dot(second, second, design_.n));
  in_basis_ = slot + 2;
  return adds;
}

// Update the regression to all columns before a slot.
void WeightedPass::complete_model(std::size_t slots) {
  if (!model_) model_ = std::make_unique<Factored>(settings_.nk + 2, n_resp_, design_.n);
  for (auto& work : works_)
    if (!work) work = std::make_unique<Work>(design_.n, n_resp_);
  if (factored_ == 0) model_->start(y_);
  Block& block = works_[0]->block;
  for (; factored_ < slots; ++factored_) {
    for (std::size_t i = 0; i < design_.n; ++i) block.columns[i][0] = terms_.bx[factored_][i];
    model_->extend(block);
    team_.check();
  }
}

// Replace the RSS of the steps so far by that of earth's regressions.
void WeightedPass::settle() {
  if (!unsettled_.empty()) {
    rss_ = settled_rss_;
    std::size_t slot = slots_ - 2 * unsettled_.size();
    for (const Candidate& candidate : unsettled_) {
      complete_model(slot);
      rss_ = almost_zero(rss_ - (rss_ - exact_rss(candidate)));
      slot += 2;
    }
    rsq_ = 1 - rss_ / rss_null_;
    unsettled_.clear();
    settled_rss_ = rss_;
  }
  complete_model(slots_);
}

// RSS of the model with a candidate.
double WeightedPass::exact_rss(const Candidate& candidate) {
  Work& work = *works_[0];
  Block& block = work.block;
  const std::size_t n = design_.n;
  const double* base = terms_.bx[candidate.parent];
  const Factored* model = model_.get();
  design_.column(candidate.pred, work.x.data());
  if (candidate.new_form) {
    for (std::size_t i = 0; i < n; ++i) block.columns[i][0] = base[i] * work.x[i];
    work.with_linear.continue_from(*model_);
    work.with_linear.extend(block);
    model = &work.with_linear;
  }
  const double model_rss = model->rss(block);
  if (candidate.linear) return model_rss;
  const double cut = design_.sorted[candidate.pred][candidate.place];
  for (std::size_t i = 0; i < n; ++i) {
    const double distance = work.x[i] - cut;
    block.columns[i][0] = distance > 0 ? base[i] * distance : 0.0;
  }
  model->rss_of_candidates(block, 1, model_rss);
  return block.rss[0];
}

double WeightedPass::exact_gain(std::size_t slot, std::size_t pred) {
  settle();
  const double model_rss = model_->rss(works_[0]->block);
  return rss_ - search_pair(slot, pred, spans_of(slot), model_rss, *works_[0]).rss;
}

Spans WeightedPass::spans_of(std::size_t slot) const {
  return span_limits(design_.n, design_.p, terms_.count_positive(slot), terms_.degree[slot] + 1, settings_);
}

// Best term by regression, over all pairs or only the marked ones.
Candidate WeightedPass::search_exact(bool all) {
  settle();
  const double model_rss = model_->rss(works_[0]->block);
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
    const Spans spans = spans_of(slot);
    for (std::size_t j = 0; j < design_.p; ++j)
      if (terms_.may_extend(slot, j) && (all || updating_.pair(slot, j).need)) jobs.push_back({slot, j, spans, {}});
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
    for (std::size_t j = 0; j < design_.p; ++j) {
      if (!terms_.may_extend(slot, j)) continue;
      if (job == jobs.end() || job->slot != slot || job->pred != j) {
        best_of_parent = larger(best_of_parent, updating_.pair(slot, j).gain);
        continue;
      }
      const Found& found = job->found;
      const double gain = rss_ - found.rss;
      best_of_parent = larger(best_of_parent, gain);
      if (gain > best.gain) best = {found.place, job->pred, slot, gain, found.new_form, found.straight};
      ++job;
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
  const Factored* model = model_.get();
  if (best.new_form) {
    for (std::size_t i = 0; i < design_.n; ++i) work.block.columns[i][0] = base[i] * work.x[i];
    work.with_linear.continue_from(*model_);
    work.with_linear.extend(work.block);
    model = &work.with_linear;
    best.rss = model_rss = model->rss(work.block);
  }
  const double straight = best.rss;
  if (!terms_.linear_only[pred]) best_knot(base, pred, spans, *model, model_rss, work, best);
  best.straight = straight <= best.rss;
  return best;
}

// Find the best knot of a pair; update `best` if it improves.
void WeightedPass::best_knot(const double* base, std::size_t pred, const Spans& spans, const Factored& model,
                             double model_rss, Work& work, Found& best) const {
  const std::size_t n = design_.n;
  const double *x = work.x.data(), *sorted = design_.sorted[pred];
  Block& block = work.block;
  std::size_t knots[Block::kWidth], width = 0, before = 0;
  int wait = spans.start;
  for (std::size_t knot = 1; knot + spans.end < n; ++knot) {
    if (base[design_.order[pred][knot - 1]] > 0 && --wait == 0) {
      wait = spans.minimum;
      // tied with the previous knot: the same column, no new candidate
      if (before == 0 || sorted[knot] != sorted[before]) knots[width++] = knot;
      before = knot;
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
