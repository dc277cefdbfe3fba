#include "../core/numbers.hpp"
#include "forward.hpp"

#include <cmath>

#include "noise.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

constexpr double kSaturated = 1e-7;   // share of the null RSS below which the rest is rounding
constexpr std::size_t kLong = 32768;  // cases above which the two searches do not keep their work space simultaneously
constexpr double kFarFromZero = 1e4;  // |mean| / sd of a response above which linear candidates are in doubt

}  // namespace

Pass::Pass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds, Team& team,
           int kept)
    : design_(design),
      settings_(settings),
      team_(team),
      terms_(settings.nk + 2, design.n, design.p, kept),
      queue_(settings.nk + 2) {
  for (std::size_t j : linpreds) terms_.linear_only[j] = 1;
  terms_.set_roles(settings.roles);
}

void Pass::run(std::size_t most) {
  for (; most > 0 && is_running(); --most) {
    step();
    team_.check();
  }
}

void Pass::begin(double rss_null) {
  terms_.start(design_.n);
  queue_.start(rss_null);
  slots_ = used_ = 1;
  condition_ = settings_.nk >= 3 ? kRunning : kTooFewSlots;
  rss_null_ = rss_ = delta_ = rss_null;
  rsq_ = 0.0;
  rss_after_.clear();
  terms_after_.clear();
}

double Pass::limit() const { return smaller(1.01 * rss_, 10 * delta_); }

Table<double> Pass::independent_columns(Team& team) {
  const std::vector<std::size_t> slots = terms_.used_slots();
  const std::size_t n = design_.n;
  Table<double> columns(slots.size(), n);
  std::copy_n(terms_.bx[0], n, columns[0]);
  team.run(slots.size(), [&](std::size_t k, int) {
    if (slots[k] % 2 == 1) terms_.write_columns(design_, slots[k], columns[k], columns[k] + n);  // first slot of a step
  });
  independent_ = slots;
  if (has_full_rank()) return columns;
  const std::vector<std::size_t> kept = find_independent({columns.data(), slots.size(), n}, kRankTolerance, team);
  independent_.clear();
  for (std::size_t k : kept) independent_.push_back(slots[k]);
  if (kept.size() == slots.size()) return columns;
  Table<double> fewer(kept.size(), n);
  for (std::size_t k = 0; k < kept.size(); ++k) std::copy_n(columns[kept[k]], n, fewer[k]);
  return fewer;
}

void Pass::finish_step(const Candidate& step, bool paired) {
  const double n = static_cast<double>(design_.n), thresh = settings_.thresh;
  used_ += paired ? 2 : 1;
  delta_ = step.gain;
  rss_ = almost_zero(rss_ - step.gain);
  rss_after_.push_back(rss_);
  terms_after_.push_back(used_);
  const double gcv_null = gcv_of(rss_null_, 1.0, n, settings_.penalty);
  const double score = gcv_of(rss_, static_cast<double>(used_), n, settings_.penalty);
  const double before = rsq_;
  rsq_ = 1 - rss_ / rss_null_;
  const double change = almost_zero(rsq_ - before), grsq = 1 - score / gcv_null;
  const bool poor = thresh != 0 && grsq < kMinGrsq, small = thresh != 0 && change < thresh;
  const bool kept = step.found() && !small && !poor;
  if (kept) {
    queue_.add(!step.linear && step.new_form ? 2 : 1, slots_);
    queue_.rank(slots_, settings_.fast_beta);
    slots_ += 2;
  } else if (step.found()) {
    terms_.used[slots_] = terms_.used[slots_ + 1] = 0;
  }
  const bool full = kept && rsq_ >= 1 - thresh;
  if (kept && !full && slots_ + 1 < settings_.nk) return;
  if (poor)
    condition_ = grsq < -1000 ? kGrsqLow : kGrsqPoor;
  else if (small)
    condition_ = kSmallChange;
  else if (rsq_ >= 1 - thresh)
    condition_ = kFull;
  else
    condition_ = step.found() ? kReachedNk : kNothing;
}

ForwardPass::ForwardPass(const Design& design, const Settings& settings, const std::vector<std::size_t>& linpreds,
                         std::size_t n_resp, Team& team, std::size_t n_mates, bool again)
    : Pass(design, settings, linpreds, team, settings.degree),
      n_resp_(n_resp),
      updating_(design_, settings_, n_resp, settings.nk + 2, team, n_mates, again),
      trials_(team.size()) {}

void ForwardPass::start(Rows<const double> y, bool exact) {
  y_ = y;
  y_mean_.clear();
  for (std::size_t r = 0; r < y.rows; ++r) y_mean_.push_back(running_mean(y[r], design_.n));
  // with this option, a step depends on the order of the candidates
  restart(exact || settings_.newvar_penalty != 0);
  updating_.start(y, y_mean_, terms_.bx[0]);
}

void ForwardPass::restart(bool exact) {
  const double n = static_cast<double>(design_.n);
  double null = 0.0, means = 0.0;
  exact_ = exact;
  for (std::size_t r = 0; r < y_.rows; ++r) {
    double total = 0.0;
    for (std::size_t i = 0; i < design_.n; ++i) total += y_[r][i];
    const double mean = total / n;
    means += n * mean * mean;
    for (std::size_t i = 0; i < design_.n; ++i) null += (y_[r][i] - mean) * (y_[r][i] - mean);
    if (null < 1e-8 * n) {  // a constant response
      null = 1e-8 * n;
      exact_ = true;
    }
  }
  if (means > kFarFromZero * kFarFromZero * null) exact_ = true;
  begin(null);
  columns_.assign(1, 0);
  if (basis_) basis_->truncate(0);
  updated_ = false;
  ties_ = 0;
}

void ForwardPass::step() {
  Decision decision;
  if (!exact_ && updating_.is_too_noisy()) exact_ = true;
  if (!exact_) {
    decision = updating_.search(terms_, queue_, slots_, limit(), rss_null_);
    ties_ += decision.tied ? 1 : 0;
    // a line added as a hinge is paired or not, like the leading candidate before it
    if (decision.candidate.linear && !settings_.auto_linpreds) decision.decided = false;
    updated_ |= decision.decided && decision.candidate.found();
  }
  Candidate found = decision.decided ? decision.candidate : search_exact(exact_ || !settings_.auto_linpreds);
  if (design_.n > kLong) trials_ = std::vector<std::unique_ptr<Trial>>(trials_.size());
  const std::size_t slot = slots_;
  const bool paired = found.new_form && !found.linear;
  if (found.found()) {
    if (!settings_.auto_linpreds && !terms_.linear_only[found.pred]) found.linear = false;
    terms_.add(design_, slot, found);
  }
  finish_step(found, paired);
  if (rss_ < kSaturated * rss_null_ && updated_) {
    restart(true);  // the rest is rounding of all steps so far: repeat them as earth does
  } else if (found.found() && terms_.used[slot]) {
    extend_basis(slot);
    if (terms_.used[slot + 1])  // both hinges: the line is in the span of the model permanently
      updating_.set_linear_dead(found.parent, found.pred);
  }
}

// Update the basis in earth's order of operations to the model.
void ForwardPass::complete_basis() {
  if (!basis_) basis_ = std::make_unique<ExactBasis>(design_.n, settings_.nk + 2, n_resp_);
  for (auto& trial : trials_)
    if (!trial) trial = std::make_unique<Trial>(design_.n, n_resp_);
  if (basis_->size() == 0) basis_->start(y_, y_mean_);
  while (basis_->size() < columns_.size()) {
    const std::size_t slot = columns_[basis_->size()];
    terms_.write_columns(design_, slot, basis_->next(0), basis_->next(1));
    basis_->append_next(terms_.used[slot + 1] ? 2 : 1);
    team_.check();
  }
}

double ForwardPass::exact_gain(std::size_t slot, std::size_t pred) {
  complete_basis();
  return exact_pair(slot, pred, spans_of(slot), *trials_[0], team_).gain;
}

Spans ForwardPass::spans_of(std::size_t slot) const {
  return span_limits(design_.n, design_.p, terms_.count_positive(slot), terms_.degree[slot] + 1, settings_);
}

ExactPair ForwardPass::exact_pair(std::size_t slot, std::size_t pred, const Spans& spans, Trial& trial,
                                  Team& team) const {
  const double adjust = 1 / (1 + (terms_.n_uses[pred] == 0 ? settings_.newvar_penalty : 0.0));
  return basis_->search(design_, terms_.bx[slot], pred, spans, terms_.is_new_form(slots_, slot, pred), slots_, adjust,
                        limit(), terms_.linear_only[pred], trial, team);
}

bool ForwardPass::has_full_rank() const {
  return !exact_ && updating_.size() == columns_.size() && updating_.has_full_rank();
}

// earth's search, over all pairs or only the marked ones.
Candidate ForwardPass::search_exact(bool all) {
  if (design_.n > kLong) updating_.release_work();
  complete_basis();
  struct Job {
    std::size_t slot, pred;
    Spans spans;
    ExactPair found;
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
  const auto find = [&](Job& job, int thread, Team& team) {
    job.found = exact_pair(job.slot, job.pred, job.spans, *trials_[thread], team);
  };
  if (jobs.size() < static_cast<std::size_t>(team_.size()))  // threads share the columns of each pair
    for (Job& job : jobs) find(job, 0, team_);
  else
    team_.run(jobs.size(), [&](std::size_t i, int thread) { find(jobs[i], thread, alone_); });

  Candidate best;
  auto job = jobs.begin();
  for (std::size_t entry = 0; entry < considered; ++entry) {
    const std::size_t slot = queue_.ranked[entry];
    if (terms_.degree[slot] >= settings_.degree) continue;
    double best_of_parent = -1.0;
    bool leads = false;
    for (std::size_t j = 0; j < design_.p; ++j) {
      if (!terms_.may_extend(slot, j)) continue;
      if (job == jobs.end() || job->slot != slot || job->pred != j) {
        best_of_parent = larger(best_of_parent, updating_.pair(slot, j).gain);
        continue;
      }
      const ExactPair& found = (job++)->found;
      best_of_parent = larger(best_of_parent, found.gain);
      if (found.linear > best.gain) {
        leads = true;
        best.place = static_cast<std::ptrdiff_t>(design_.n - 1);
        best.pred = j;
        best.parent = slot;
        best.gain = found.linear;
        best.linear = true;
      }
      if (found.gain > best.gain) {
        leads = true;
        best = {found.place, j, slot, found.gain, found.new_form, false};
      }
    }
    if (leads && settings_.newvar_penalty != 0 && terms_.n_uses[best.pred] == 0)
      best.gain *= 1 + settings_.newvar_penalty;
    queue_.when[slot] = slots_;
    queue_.delta[slot] = best_of_parent;
  }
  return best;
}

// Append the columns of the new slots to the basis.
void ForwardPass::extend_basis(std::size_t slot) {
  columns_.push_back(slot);
  if (terms_.used[slot + 1]) columns_.push_back(slot + 1);
  if (!exact_ && updating_.append(terms_, slot) < Updating::kDegenerate) exact_ = true;
}

}  // namespace earthdof
