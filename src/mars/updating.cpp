#include "../core/numbers.hpp"
#include "updating.hpp"

#include <cmath>

#include "noise.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

constexpr std::size_t kLanes = 8;     // maximum number of columns processed at a time
constexpr double kLostDigits = 1e-7;  // a linear candidate whose square falls to this fraction is recomputed
constexpr double kNoOffset = 1e-12;   // share of the sum of squares below which n mean^2 is zero
constexpr double kSettled = 1e-9;     // share of the null RSS: gains with a larger error bound are
                                      // recomputed as in earth before they are recorded

// A knot takes six numbers of eight bytes, and one more per additional response. Long data have as many parents per
// step but more knots, so the storage grows with the number of cases.
std::size_t room_for_knots(const Design& design, const Settings& settings, std::size_t most, std::size_t n_resp,
                           std::size_t n_mates) {
  const std::size_t parents = settings.degree == 1 && settings.roles.indicators.empty() ? 1 : settings.nk;
  const std::size_t wanted = settings.most_knots > 0 ? std::max(settings.most_knots, kKnotsPerCase * design.n) : 0;
  const std::size_t kept = 6 * wanted / (5 + n_resp);
  return std::min(parents * design.p * most, std::max(kept / n_mates, 2 * design.p * most));
}

// Lists of cases are used for interactions, and only if those of all parents of a step fit four times: recomputing them
// in every step costs more than it saves, and data beyond the cache are processed as fast without them.
std::size_t room_for_cases(const Design& design, const Settings& settings, std::size_t n_mates) {
  const std::size_t one = design.p * (design.n + 1);
  const std::size_t parents = std::min(settings.nk - 1, settings.fast_k);
  if (settings.degree == 1 || 4 * one * parents > settings.most_cases / n_mates) return 0;
  return std::min((settings.nk - 1) * one, settings.most_cases / n_mates);
}

std::size_t lanes_for(std::size_t columns) { return columns > 4 ? 8 : columns > 2 ? 4 : columns; }

// Write the products of a column with `count` others, one row per case: all cases, or those in `rows`.
template <std::size_t kColumns>
void multiply(const double* base, const std::uint32_t* rows, std::size_t n, const double* const* columns, double* out) {
  if (rows != nullptr) {
    for (std::size_t i = 0; i < n; ++i, out += kColumns)
      for (std::size_t w = 0; w < kColumns; ++w) out[w] = base[i] * columns[w][rows[i]];
    return;
  }
  for (std::size_t w = 0; w < kColumns; ++w)
    for (std::size_t i = 0; i < n; ++i) out[i * kColumns + w] = base[i] * columns[w][i];
}

void multiply(const double* base, const std::uint32_t* rows, std::size_t n, const double* const* columns,
              std::size_t count, double* out) {
  const auto multiply_by = count == 8 ? multiply<8> : count == 4 ? multiply<4> : count == 2 ? multiply<2> : multiply<1>;
  multiply_by(base, rows, n, columns, out);
}

}  // namespace

Updating::Updating(const Design& design, const Settings& settings, std::size_t n_resp, std::size_t capacity, Team& team,
                   std::size_t n_mates, bool again)
    : design_(design),
      settings_(settings),
      team_(team),
      n_resp_(n_resp),
      most_knots_(whole_lines(most_knots(design.n, design.p, settings) + 1)),
      knots_(room_for_knots(design, settings, most_knots_, n_resp, n_mates), n_resp,
             room_for_cases(design, settings, n_mates) > 0),
      cases_(room_for_cases(design, settings, n_mates)),
      first_c_(again ? design.p * most_knots_ : 0),
      pairs_(capacity * design.p),
      computed_(capacity * design.p),
      parents_(capacity),
      q_(capacity + 1, design.n),
      r_(capacity + 1, capacity + 1),
      y_(n_resp, design.n),
      z_(n_resp, n_resp + capacity, 0.0),
      weight_(n_resp + capacity, 1.0),
      coefficients_(team.size(), capacity + 1),
      slopes_(team.size(), n_resp) {
  for (std::size_t r = 0; r < n_resp; ++r) {
    z_[r][r] = -1.0;  // <h, y> is added to A of its response, <h, q> z is subtracted
    weight_[r] = 0.0;
  }
}

void Updating::start(Rows<const double> y, const std::vector<double>& y_mean, const double* intercept) {
  const std::size_t n = design_.n;
  const double root = std::sqrt(loops().dot(intercept, intercept, n)), inverse = 1 / root;
  double means = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) q_[0][i] = intercept[i] * inverse;
  for (std::size_t r = 0; r < n_resp_; ++r) {
    for (std::size_t i = 0; i < n; ++i) y_[r][i] = y[r][i] - y_mean[r] * intercept[i];
    squares += loops().dot(y_[r], y_[r], n);
    means += y_mean[r] * y_mean[r];
  }
  // rounding in the means of scaled responses does not add to the noise of a gain, see gain_error
  offset_ = root * root * means > kNoOffset * squares ? root * std::sqrt(means) : 0.0;
  r_[0][0] = root;
  size_ = 1;
  clear_parents();  // the intercept's knots depend on X alone: keep them, but not their sums
  parents_[0].synced = 0;
  noise_ = 0.0;
  quality_ = 1.0;
}

double Updating::append(const Terms& terms, std::size_t slot) {
  terms.write_columns(design_, slot, q_[size_], q_[size_ + 1]);
  const double share = append_column();
  return terms.used[slot + 1] && share >= kDegenerate ? smaller(share, append_column()) : share;
}

// Append the next column, stored in place, to the basis.
double Updating::append_column() {
  const std::size_t k = size_, lane = n_lanes();
  double* r = r_[k];
  const double total = loops().dot(q_[k], q_[k], design_.n), square = reduce_column();
  const double centred = total - r[0] * r[0];
  if (!(square > 0 && centred > 1e-12 * total)) {
    ++size_;
    r[k] = quality_ = 0.0;
    for (std::size_t response = 0; response < n_resp_; ++response) z_[response][lane] = 0.0;
    return 0.0;
  }
  keep_column(square);
  noise_ += column_noise(total, square);
  const double share = smaller(1.0, square / centred);
  quality_ = smaller(quality_, share);
  return share;
}

void Updating::keep_column(double square) {
  const Loops& l = loops();
  const std::size_t n = design_.n, lane = n_lanes();
  const double length = std::sqrt(square), inverse = 1 / length;
  double* column = q_[size_];
  r_[size_][size_] = length;
  for (std::size_t i = 0; i < n; ++i) column[i] *= inverse;
  for (std::size_t response = 0; response < n_resp_; ++response) z_[response][lane] = l.dot(column, y_[response], n);
  ++size_;
}

bool Updating::is_too_noisy() const { return noise_ > kMostNoise * kMostNoise; }

bool Updating::has_full_rank() const {
  for (std::size_t k = 0; k < size_; ++k) {
    double total = 0.0;
    for (std::size_t t = 0; t <= k; ++t) total += r_[k][t] * r_[k][t];
    if (!(r_[k][k] * r_[k][k] > 1e4 * kRankTolerance * kRankTolerance * total)) return false;
  }
  return true;
}

void Updating::clear_parents() {
  knots_filled_ = last_knots_ = own_knots_;
  cases_filled_ = last_cases_ = 0;
  for (std::size_t slot = 1; slot < parents_.size(); ++slot) parents_[slot].synced = 0;
}

// Make room for one more parent. A step visits the parents in turn, so the first ones are kept, and the last one is
// recomputed on its next visit.
void Updating::make_room(std::size_t n_knots, std::size_t n_cases) {
  const auto is_full = [&] {
    return knots_filled_ + n_knots > knots_.room() || cases_filled_ + n_cases > cases_.room();
  };
  if (!is_full()) return;
  parents_[last_].synced = 0;
  knots_filled_ = last_knots_;
  cases_filled_ = last_cases_;
  if (is_full()) clear_parents();
}

void Updating::forget_knots() {
  own_knots_ = 0;
  clear_parents();
  parents_[0].synced = 0;
}

void Updating::release() {
  knots_ = Knots(0, n_resp_, false);
  cases_ = Cases(0);
  first_c_ = Buffer<double>();
  q_ = Table<double>();
  release_work();
}

void Updating::make_work() {
  if (!pair_work_.empty()) return;
  const auto n_threads = static_cast<std::size_t>(team_.size());
  products_ = Buffer<double>(kLanes * design_.n);
  hinges_ = Table<double>(n_threads, kLanes * most_knots_, 0.0);
  columns_ = Table<double>(n_threads, design_.n);
  pair_work_.resize(n_threads);
}

void Updating::release_work() {
  products_ = Buffer<double>();
  hinges_ = Table<double>();
  columns_ = Table<double>();
  pair_work_.clear();
}

void Updating::create_parent(const Terms& terms, std::size_t slot) {
  const std::size_t p = design_.p, n = design_.n;
  const std::size_t n_positive = terms.count_positive(slot);
  const Spans spans = span_limits(n, p, n_positive, terms.degree[slot] + 1, settings_);
  // reserve the maximum for each pair, so that pairs can be created in parallel
  const std::size_t room = std::min(most_knots_, whole_lines(n_positive / static_cast<std::size_t>(spans.minimum) + 2));
  const bool listed = slot > 0 && cases_.room() > 0;
  if (slot > 0) {
    make_room(p * room, listed ? p * (n + 1) : 0);
    last_ = slot;
    last_knots_ = knots_filled_;
    last_cases_ = cases_filled_;
  }
  ParentColumn column = parent_column(terms, slot);
  const std::size_t width = listed ? column.support.size() + 1 : 0;
  for (PairWork& work : pair_work_) work.make(n);
  std::vector<NewPair> made(p);
  const std::size_t start = knots_filled_, first = cases_filled_;
  team_.run(p, [&](std::size_t j, int thread) {
    Pair& own = pair_at(slot, j);
    own.open = terms.may_extend(slot, j);
    if (!own.open) return;
    own.offset = start + j * room;
    own.first = first + j * width;
    made[j] = create_pair(design_, j, column, spans, knots_, own.offset, listed ? &cases_ : nullptr, own.first,
                          pair_work_[thread]);
    own.n_knots = static_cast<std::uint32_t>(made[j].n_knots);
    own.rounding = made[j].noise;
    const double reach = design_.reach(j);
    own.square = smaller(reach * reach * column.square,
                         column.largest * column.largest * design_.mean_square[j] * static_cast<double>(n));
  });
  knots_filled_ = start + p * room;
  cases_filled_ = first + p * width;
  parents_[slot].listed = listed;
  if (listed) {
    parents_[slot].support = std::move(column.support);
    parents_[slot].values = std::move(column.values);
  }
}

void Updating::start_parent(const Terms& terms, std::size_t slot) {
  if (slot > 0) {
    create_parent(terms, slot);
  } else if (own_knots_ == 0) {
    create_parent(terms, slot);
    own_knots_ = knots_filled_;
    for (std::size_t j = 0; j < design_.p; ++j) {
      const Pair& own = pair(0, j);
      if (own.open && first_c_.size() > 0)
        std::copy_n(knots_.c.data() + own.offset, own.n_knots + 1, first_c_.data() + own.offset);
    }
  } else {
    for (std::size_t j = 0; j < design_.p; ++j) {
      const Pair& own = pair(0, j);
      if (!own.open) continue;
      const std::size_t count = own.n_knots + 1;
      std::copy_n(knots_.v.data() + own.offset, count, knots_.b.data() + own.offset);
      if (first_c_.size() > 0) std::copy_n(first_c_.data() + own.offset, count, knots_.c.data() + own.offset);
    }
  }
  for (std::size_t j = 0; j < design_.p; ++j) {
    Pair& own = pair_at(slot, j);
    own.linear = Linear::kAlive;
    if (!own.open) continue;
    computed_[slot * design_.p + j] = {knots_.v[own.offset + own.n_knots], 1.0};
    for (std::size_t r = 0; r < n_resp_; ++r) std::fill_n(knots_.a[r] + own.offset, own.n_knots + 1, 0.0);
  }
}

bool Updating::wants_intercept(const Queue& queue) const {
  const auto end = queue.ranked.begin() + static_cast<std::ptrdiff_t>(queue.considered(settings_));
  return std::find(queue.ranked.begin(), end, std::size_t{0}) != end;
}

// For several searches on the same X and options: the intercept's cases and knots are identical, so a single walk
// serves all of them.
void Updating::prepare_intercepts(const std::vector<Updating*>& searches, const Terms& terms) {
  struct Lane {
    Updating* search;
    std::size_t number;
  };
  std::vector<Lane> lanes;
  for (Updating* search : searches) {
    search->make_work();
    if (search->parents_[0].synced == 0) search->start_parent(terms, 0);
    for (std::size_t lane = search->parents_[0].synced; lane < search->n_lanes(); ++lane)
      lanes.push_back({search, lane});
  }
  if (lanes.empty()) return;
  Updating& first = *searches[0];
  const Design& design = first.design_;
  for (std::size_t begin = 0; begin < lanes.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, lanes.size() - begin), width = lanes_for(count);
    const double* columns[kLanes];  // the last one fills the lanes
    for (std::size_t w = 0; w < width; ++w) {
      const Lane& lane = lanes[begin + std::min(w, count - 1)];
      columns[w] = lane.search->lane(lane.number);
    }
    multiply(terms.bx[0], nullptr, design.n, columns, width, first.products_.data());
    for (std::size_t j = 0; j < design.p; ++j) {
      if (!first.pair(0, j).open) continue;
      first.walk_pair(0, j, width, first.hinges_[0]);
      const std::size_t stride = whole_lines(first.pair(0, j).n_knots + 1);
      for (std::size_t w = 0; w < count;) {
        const Lane& lane = lanes[begin + w];
        std::size_t own = 1;
        while (w + own < count && lanes[begin + w + own].search == lane.search) ++own;
        lane.search->update_sums(0, j, lane.number, own, first.hinges_[0] + w * stride);
        w += own;
      }
    }
  }
  for (Updating* search : searches) search->parents_[0].synced = search->n_lanes();
}

template <class Then>
void Updating::take_lanes(const Terms& terms, std::size_t slot, std::size_t first, std::size_t count,
                          const Then& then) {
  const std::size_t lanes = lanes_for(count);
  const Parent& parent = parents_[slot];
  const double* columns[kLanes];  // the last one fills the lanes
  for (std::size_t w = 0; w < lanes; ++w) columns[w] = lane(first + std::min(w, count - 1));
  if (parent.listed)
    multiply(parent.values.data(), parent.support.data(), parent.support.size(), columns, lanes, products_.data());
  else
    multiply(terms.bx[slot], nullptr, design_.n, columns, lanes, products_.data());
  team_.run(design_.p, [&](std::size_t j, int thread) {
    if (!pair(slot, j).open) return;
    walk_pair(slot, j, lanes, hinges_[thread]);
    update_sums(slot, j, first, count, hinges_[thread]);
    then(j, thread);
  });
}

template <class Then>
void Updating::prepare_parent(const Terms& terms, std::size_t slot, const Then& then) {
  if (parents_[slot].synced == 0) start_parent(terms, slot);
  std::size_t lane = parents_[slot].synced;
  if (lane == n_lanes()) team_.run(design_.p, then);
  for (; lane + kLanes < n_lanes(); lane += kLanes) take_lanes(terms, slot, lane, kLanes, [](std::size_t, int) {});
  if (lane < n_lanes()) take_lanes(terms, slot, lane, n_lanes() - lane, then);
  parents_[slot].synced = n_lanes();
}

// Compute <h_k, column> for every knot of a pair and all columns of the products.
void Updating::walk_pair(std::size_t slot, std::size_t pred, std::size_t lanes, double* hinge) const {
  const Loops& l = loops();
  const Pair& own = pair(slot, pred);
  const bool listed = parents_[slot].listed;
  const Walk walk{listed ? cases_.x.data() + own.first : design_.sorted[pred],
                  listed ? cases_.row.data() + own.first : design_.order[pred],
                  (listed ? knots_.stop : knots_.place).data() + own.offset,
                  listed ? knots_.x.data() + own.offset : nullptr, own.n_knots + std::size_t{1}};
  const auto step = lanes == 8 ? l.walk8 : lanes == 4 ? l.walk4 : lanes == 2 ? l.walk2 : l.walk1;
  step(walk, products_.data(), hinge);
}

// Update the sums by lanes with known <h_k, lane>.
void Updating::update_sums(std::size_t slot, std::size_t pred, std::size_t first, std::size_t count,
                           const double* hinge) {
  const Pair& own = pair(slot, pred);
  loops().update(knots_.sums(own.offset), hinge, own.n_knots + 1, count, z_.data() + first, z_.width(),
                 weight_.data() + first);
}

double Updating::compute_line(const Terms& terms, std::size_t slot, std::size_t pred, int thread) {
  const double *base = terms.bx[slot], low = design_.low(pred);
  double *column = columns_[thread], raw = 0.0;
  design_.column(pred, column);
  for (std::size_t i = 0; i < design_.n; ++i) {
    const double x = column[i];
    column[i] = base[i] * (x - low);
    raw += (base[i] * x) * (base[i] * x);
  }
  knots_.b[pair(slot, pred).offset + pair(slot, pred).n_knots] =
      orthogonalise(q_, size_, column, coefficients_[thread]);
  return raw;
}

// Recompute the squared norm of a linear candidate that lost digits, and classify the candidate.
Linear Updating::check_linear(const Terms& terms, std::size_t slot, std::size_t pred, int thread) {
  const std::size_t last = pair(slot, pred).offset + pair(slot, pred).n_knots;
  const double raw = compute_line(terms, slot, pred, thread), square = knots_.b[last];
  // rounding residual of a column in the span of the model, with a basis that is not quite orthogonal
  const double noise = 1e-29 * raw / quality_;
  if (noise > 0.1 * kMinSumOfSquares) return Linear::kDoubtful;
  if (square < 0.999 * kMinSumOfSquares) return Linear::kDead;
  if (square < 1.001 * kMinSumOfSquares || square < kDegenerate * knots_.v[last]) return Linear::kDoubtful;
  return Linear::kAlive;
}

Linear Updating::linear_state(const Terms& terms, std::size_t slot, std::size_t pred, std::size_t n_slots, int thread) {
  Pair& own = pair_at(slot, pred);
  if (own.linear == Linear::kDead || !terms.is_new_form(n_slots, slot, pred)) return Linear::kDead;
  const std::size_t last = own.offset + own.n_knots;
  const double b = knots_.b[last], v = knots_.v[last];
  const bool is_small = b < kLostDigits * v;
  if (!is_small && !(b < 1.01 * kMinSumOfSquares)) return own.linear;
  // recomputed values are updated like the others, unless they lose digits again or are close to a limit
  Computed& computed = computed_[slot * design_.p + pred];
  const bool lost = is_small && (b < kLostDigits * computed.square || quality_ < computed.quality ||
                                 (b < kDegenerate * v && own.linear == Linear::kAlive));
  if (lost || b < 1.01 * kMinSumOfSquares) {
    own.linear = check_linear(terms, slot, pred, thread);
    computed = {knots_.b[last], quality_};
  }
  return own.linear;
}

// Noise of the model, of |h|^2 and of the linear candidate of the pair, if any.
double Updating::pair_noise(const Pair& own, bool linear) const {
  double square = noise_ + own.rounding;
  if (linear) square += column_noise(own.square, knots_.b[own.offset + own.n_knots]);
  return std::sqrt(square);
}

void Updating::score_pair(const Terms& terms, std::size_t slot, std::size_t pred, const Step& step, int thread) {
  const Loops& l = loops();
  const std::size_t n_slots = step.n_slots;
  const double rss_null = step.rss_null;
  Pair& own = pair_at(slot, pred);
  own.state = linear_state(terms, slot, pred, n_slots, thread);
  const bool linear = own.state == Linear::kAlive;
  const double noise = pair_noise(own, linear);
  if (own.state == Linear::kDoubtful || noise > kMostNoise) {
    own.gain = 0.0;
    own.upper = INFINITY;
    return;
  }
  double* slope = slopes_[thread];
  const Line line = line_of(own, linear, noise, slope);
  own.gain = line.gain;
  own.upper = linear ? line.gain + line.error + gain_error(0.0, 1.0, noise, rss_null) : 0.0;
  if (terms.linear_only[pred]) return;
  const double tolerance = knot_tolerance(linear ? n_slots + 1 : n_slots);
  Query query{slope,
              line.inverse,
              surely_out(tolerance, noise),
              surely_in(tolerance, noise),
              step.limit - line.gain,
              line.error,
              noise,
              rss_null};
  Bounds found;
  if (noise > kTight * tolerance) {
    found = l.bound_gain(knots_.sums(own.offset), own.n_knots, query);
  } else {  // a common bound for all knots suffices if it is tight
    query.ceiling = query.ceiling * (1 + 1e-6) + line.error;
    found.sure = l.best_gain(knots_.sums(own.offset), own.n_knots, query);
    found.most = found.sure > 0 ? found.sure + gain_error(found.sure, 1 / query.low, noise, rss_null) : 0.0;
  }
  own.gain += found.sure;
  own.upper = larger(own.upper, line.gain + line.error + found.most);
}

Decision Updating::search(const Terms& terms, Queue& queue, std::size_t n_slots, double limit, double rss_null) {
  make_work();
  if (own_knots_ == 0) start_parent(terms, 0);  // the intercept's knots precede those of all other parents
  const Step step{n_slots, limit, rss_null};
  Top top;
  for (std::size_t entry = 0; entry < queue.considered(settings_); ++entry) {
    const std::size_t slot = queue.ranked[entry];
    if (terms.degree[slot] >= settings_.degree) continue;
    prepare_parent(terms, slot, [&](std::size_t j, int thread) {
      if (pair(slot, j).open) score_pair(terms, slot, j, step, thread);
    });
    double best = -1.0, most = -1.0;
    for (std::size_t j = 0; j < design_.p; ++j) {
      const Pair& own = pair(slot, j);
      if (!own.open || own.upper == INFINITY) continue;
      if (own.gain > top.gain) top = {own.gain, static_cast<std::ptrdiff_t>(slot), j, own.state == Linear::kAlive};
      best = larger(best, own.gain);
      most = larger(most, own.upper);
    }
    queue.when[slot] = n_slots;
    queue.delta[slot] = best;
    parents_[slot].spread = most - best;
  }
  if (top.slot > 0 && parents_[top.slot].synced == 0)  // a later parent has reused its memory
    prepare_parent(terms, top.slot, [](std::size_t, int) {});
  double bar = 0.0;
  if (is_strict() && mark_ties(terms, queue, top, rss_null, bar)) return {false, true, {}};
  if (top.slot < 0) return {true, false, {}};
  const Winner winner = clear_winner(terms, top, step, bar);
  const Pair& own = pair(top.slot, top.pred);
  if (!winner.clear) return {false, true, {}};
  if (winner.error > kSettled * rss_null) return {false, false, {}};
  Candidate found;
  found.pred = top.pred;
  found.parent = static_cast<std::size_t>(top.slot);
  found.gain = top.gain;
  found.linear = winner.knot < 0;
  found.new_form = winner.new_form;
  found.place = found.linear ? static_cast<std::ptrdiff_t>(design_.n - 1) : knots_.place[own.offset + winner.knot];
  return {true, false, found};
}

// Mark the best pair, and all pairs that may win by rounding. True if there are any of the latter.
bool Updating::mark_ties(const Terms& terms, const Queue& queue, const Top& top, double rss_null, double& bar) {
  // if no candidate has a certain gain, all possible ones are in doubt
  bar = 0.0;
  if (top.slot >= 0) bar = 2 * top.gain - pair(top.slot, top.pred).upper - tie_band(top.gain, rss_null) - least_lead();
  bool any = false;
  const std::size_t considered = queue.considered(settings_);
  for (std::size_t entry = 0; entry < considered; ++entry) {
    const std::size_t slot = queue.ranked[entry];
    if (terms.degree[slot] >= settings_.degree) continue;
    // the order of parents matters as well: the first of two equal candidates wins, and late parents may be skipped
    // in the search
    const double best = queue.delta[slot], spread = parents_[slot].spread;
    const double band = spread + tie_band(larger(best, 0.0), rss_null) + least_lead();
    const bool is_unsure = is_unsure_order(best, spread);
    double parent_bar = is_unsure ? best - band : INFINITY;
    if (!is_unsure && best + spread > 0)
      for (std::size_t other = 0; other < queue.size; ++other) {
        const std::size_t rival = queue.ranked[other];
        if (rival != slot && terms.degree[rival] < settings_.degree &&
            std::fabs(queue.delta[rival] - best) <= band + parents_[rival].spread)
          parent_bar = best - band;
      }
    const double lower = smaller(bar, parent_bar);
    const bool has_top = static_cast<std::ptrdiff_t>(slot) == top.slot;
    for (std::size_t j = 0, p = design_.p; j < p; ++j) {
      Pair& own = pair_at(slot, j);
      if (!own.open) continue;
      own.need = (own.upper > 0 || is_unsure) && own.upper >= lower;
      any |= own.need && !(has_top && j == top.pred);
    }
  }
  return any;
}

Updating::Winner Updating::clear_winner(const Terms& terms, const Top& top, const Step& step, double bar) {
  const Pair& own = pair(top.slot, top.pred);
  const double limit = step.limit, rss_null = step.rss_null;
  const std::size_t last = own.offset + own.n_knots;
  const double noise = pair_noise(own, top.linear);
  double* slope = slopes_[0];
  const Line line = line_of(own, top.linear, noise, slope);
  Winner winner{true, -1, line.error + gain_error(0.0, 1.0, noise, rss_null), false};
  if (terms.linear_only[top.pred]) return winner;
  const double tolerance = knot_tolerance(top.linear ? step.n_slots + 1 : step.n_slots);
  const double low = surely_out(tolerance, noise), high = surely_in(tolerance, noise);
  int reached = top.linear && line.gain + winner.error >= bar ? 1 : 0;
  for (std::size_t e = own.offset; e < last; ++e) {
    const double v = knots_.v[e], c = knots_.c[e], left = knots_.b[e] - c * c * line.inverse;
    if (left <= low * v) continue;
    double square = 0.0;
    for (std::size_t r = 0; r < n_resp_; ++r) {
      const double part = knots_.a[r][e] - c * slope[r];
      square += part * part;
    }
    const double added = square / left, gain = line.gain + added;
    const double error = line.error + gain_error(added, v / left, noise, rss_null), margin = error + 1e-9 * limit;
    if (gain + error < bar || gain - margin >= limit) continue;
    ++reached;
    winner.knot = static_cast<std::ptrdiff_t>(e - own.offset);
    winner.error = error;
    winner.clear &= left >= high * v && gain + margin <= limit;
  }
  winner.clear &= reached == 1;
  winner.new_form = winner.knot >= 0 && top.linear;
  return winner;
}

}  // namespace earthdof
