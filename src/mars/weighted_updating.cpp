#include "../core/numbers.hpp"
#include "weighted_updating.hpp"

#include <cmath>

#include "noise.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

// R drops a column as dependent when less than this share of its square is left; a tenth of the root on either side
// is left to R's own arithmetic.
constexpr double kLeastShare = kRankTolerance * kRankTolerance;
constexpr double kSurelyDropped = 1e-2 * kLeastShare;
constexpr double kSurelyKept = 1e2 * kLeastShare;
constexpr double kLostDigits = 1e-4;     // a line that lost this part of its square is recomputed
constexpr double kKnown = 1e3;           // times the noise: a share that is known well enough
constexpr double kLeastOnes = 1e-6;      // share of the column of ones that the model leaves, to judge by it
constexpr double kLeastQuality = 1e-10;  // least share of any column that is new, likewise

}  // namespace

void WeightedUpdating::start(Rows<const double> y, const double* roots) {
  const Loops& l = loops();
  const std::size_t n = design_.n;
  roots_ = roots;
  const double square = l.dot(roots, roots, n);
  std::vector<double> means;
  for (std::size_t r = 0; r < n_resp_; ++r) means.push_back(l.dot(y[r], roots, n) / square);
  Updating::start(y, means, roots);
  rss_ = gap_ = 0.0;
  for (std::size_t r = 0; r < n_resp_; ++r) rss_ += l.dot(y_[r], y_[r], n);
  offset_share_ = rss_ > 0 ? 1 + offset_ * offset_ / rss_ : 1.0;
  offset_ = 0.0;
  noise_ = weighted_noise(static_cast<double>(n), 1.0);

  const auto [least, most] = std::minmax_element(roots, roots + n);
  is_even_ = *least == *most;
  is_regular_ = true;
  if (ones_.size() == 0) ones_ = Buffer<double>(n);
  ones_.fill(1.0);
  ones_square_ = is_even_ ? 0.0 : orthogonalise(q_, 1, ones_.data(), coefficients_[0]);
}

bool WeightedUpdating::append(const Terms& terms, std::size_t slot, bool new_form) {
  const Loops& l = loops();
  const std::size_t n = design_.n;
  gap_ = least_second_ = 0.0;
  for (std::size_t c = 0; c < 2; ++c) {
    const double* column = terms.bx[slot + c];
    const double total = l.dot(column, column, n);
    if (total == 0) {
      is_regular_ &= !terms.used[slot + c];
      continue;
    }
    std::copy_n(column, n, q_[size_]);
    const double square = reduce_column();
    if (square < (is_strict() ? kSurelyDropped : kSurelyKept) * total) {
      is_regular_ = false;
      continue;
    }
    if (square < kSurelyKept * total) return false;
    const std::size_t lane = n_lanes();
    keep_column(square);
    noise_ += weighted_noise(static_cast<double>(n), total / square);
    quality_ = smaller(quality_, square / total);
    double explained = 0.0;
    for (std::size_t r = 0; r < n_resp_; ++r) explained += z_[r][lane] * z_[r][lane];
    rss_ -= explained;
    const double* q = q_[size_ - 1];
    const double shared = is_even_ ? 0.0 : l.dot(q, ones_.data(), n);
    if (c == 1) {
      if (!new_form) gap_ = explained;
      const bool is_safe = is_even_ || ones_square_ > kLeastOnes * static_cast<double>(n);
      if (is_safe && is_regular_ && quality_ > kLeastQuality)
        least_second_ = is_even_ ? square : square * (1 - shared * shared / ones_square_);
    }
    if (is_even_) continue;
    l.add_scaled(ones_.data(), -shared, q, n);
    ones_square_ = l.dot(ones_.data(), ones_.data(), n);
  }
  return true;
}

Linear WeightedUpdating::linear_state(const Terms& terms, std::size_t slot, std::size_t pred, bool new_form,
                                      int thread) {
  Pair& own = pair_at(slot, pred);
  if (own.linear == Linear::kDead || !new_form) return Linear::kDead;
  double& b = knots_.b[own.offset + own.n_knots];
  Computed& computed = computed_[slot * design_.p + pred];
  if (b > kLostDigits * computed.square && b > kSurelyKept * own.square) return own.linear;
  const double raw = compute_line(terms, slot, pred, thread);
  // what rounding leaves of a column that lies in the model, with a basis that is not quite orthogonal
  const double rounding = 1e-29 * raw / quality_;
  computed = {b, quality_};
  own.linear = b + rounding < kSurelyDropped * raw ? Linear::kDead
               : b - rounding > kSurelyKept * raw  ? Linear::kAlive
                                                   : Linear::kDoubtful;
  return own.linear;
}

double WeightedUpdating::pair_noise(std::size_t slot, std::size_t pred, bool linear) const {
  const Pair& own = pair(slot, pred);
  double square = noise_ + own.rounding;
  if (linear) {
    const double b = knots_.b[own.offset + own.n_knots], lost = computed_[slot * design_.p + pred].square / b;
    square += weighted_noise(static_cast<double>(design_.n), own.square / b + lost * lost);
  }
  return std::sqrt(offset_share_ * square);
}

Query WeightedUpdating::query_of(const Line& line, double noise, const double* slope, double rss_null) const {
  return {slope, line.inverse, kLeastShare, kKnown * noise, INFINITY, 0.0, noise, rss_null};
}

void WeightedUpdating::score_pair(const Terms& terms, std::size_t slot, std::size_t pred, const Step& step,
                                  int thread) {
  Pair& own = pair_at(slot, pred);
  const bool new_form = terms.is_new_form(step.n_slots, slot, pred);
  const bool has_knots = own.n_knots > 0 && !terms.linear_only[pred];
  own.state = linear_state(terms, slot, pred, new_form, thread);
  own.gain = own.upper = 0.0;
  if (!new_form && !has_knots) return;
  const bool linear = own.state == Linear::kAlive;
  const double noise = pair_noise(slot, pred, linear);
  if ((own.state == Linear::kDoubtful && is_strict()) || !(noise <= kMostNoise)) {
    own.upper = INFINITY;
    return;
  }
  double* slope = slopes_[thread];
  const Line line = line_of(own, linear, noise, slope);
  Bounds found{0.0, 0.0};
  if (has_knots)
    found = loops().bound_any_gain(knots_.sums(own.offset), own.n_knots, query_of(line, noise, slope, step.rss_null));
  const double gain = gap_ + line.gain + found.sure;
  const double upper =
      gap_ + line.gain + gain_error(line.gain, 1.0, noise, step.rss_null) + smaller(found.most, step.rss_null);
  if (!new_form && upper <= kAlmostZero) return;
  own.gain = new_form || gain > kAlmostZero ? gain : 0.0;
  own.upper = upper;
}

Updating::Winner WeightedUpdating::clear_winner(const Terms& terms, const Top& top, const Step& step, double bar) {
  const auto slot = static_cast<std::size_t>(top.slot);
  const Pair& own = pair(slot, top.pred);
  const std::size_t last = own.offset + own.n_knots;
  const bool new_form = terms.is_new_form(step.n_slots, slot, top.pred);
  const double noise = pair_noise(slot, top.pred, top.linear);
  double* slope = slopes_[0];
  const Line line = line_of(own, top.linear, noise, slope);
  const Query query = query_of(line, noise, slope, step.rss_null);
  const double base = gap_ + line.gain + gain_error(line.gain, 1.0, noise, step.rss_null);
  // the gain is booked by the basis, which is more exact
  Winner winner{true, -1, 0.0, new_form};
  int reached = new_form && base >= bar ? 1 : 0;
  if (terms.linear_only[top.pred]) return winner;
  double best = 0.0;
  for (std::size_t e = own.offset; e < last; ++e) {
    double* const a = knots_.a.data() + e;
    const Sums knot{&knots_.v[e], a, &knots_.b[e], &knots_.c[e], n_resp_, knots_.a.width()};
    const Bounds found = loops().bound_any_gain(knot, 1, query);
    if (!is_strict()) {
      if (found.sure <= best) continue;
      best = found.sure;
      winner.knot = static_cast<std::ptrdiff_t>(e - own.offset);
      continue;
    }
    if (base + smaller(found.most, step.rss_null) < bar) continue;
    ++reached;
    winner.knot = static_cast<std::ptrdiff_t>(e - own.offset);
    winner.clear &= found.sure > 0;
  }
  winner.clear &= !is_strict() || reached == 1;
  return winner;
}

}  // namespace earthdof
