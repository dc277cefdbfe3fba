#include "../core/numbers.hpp"
#include "weighted_updating.hpp"

#include <cmath>

#include "noise.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

// R drops a column as dependent if less than this share of its square is left; a tenth of the root on either side is
// decided by R's own arithmetic.
constexpr double kLeastShare = kRankTolerance * kRankTolerance;
constexpr double kSurelyDropped = 1e-2 * kLeastShare;
constexpr double kSurelyKept = 1e2 * kLeastShare;
constexpr double kSummedAgain = 1e-6;    // share of its square below which R recomputes the norm of a column
constexpr double kRounding = 1e-29;      // rounding residual of a dependent column as a share of its square
constexpr double kLostDigits = 1e-4;     // a line whose square falls to this fraction is recomputed
constexpr double kKnown = 1e3;           // multiple of the noise above which a share is sufficiently accurate
constexpr double kLeastOnes = 1e-6;      // minimum share of the column of ones left by the model for a decision
constexpr double kLeastQuality = 1e-10;  // minimum share of any column that is new, likewise

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
  is_regular_ = is_spanned_ = true;
  n_spanned_ = 1;
  if (ones_.size() == 0) ones_ = Buffer<double>(n);
  ones_.fill(1.0);
  ones_square_ = is_even_ ? 0.0 : orthogonalise(q_, 1, ones_.data(), coefficients_[0]);
}

bool WeightedUpdating::append(const Terms& terms, std::size_t slot, bool new_form) {
  const Loops& l = loops();
  const std::size_t n = design_.n;
  gap_ = 0.0;
  left_of_second_ = Left();
  second_depends_ = false;
  for (std::size_t c = 0; c < 2; ++c) {
    const double* column = terms.bx[slot + c];
    const double total = l.dot(column, column, n);
    if (total == 0) {
      is_regular_ &= !terms.used[slot + c];
      is_spanned_ &= !terms.used[slot + c];
      continue;
    }
    std::copy_n(column, n, q_[size_]);
    const double square = reduce_column();
    if (square < (is_strict() ? kSurelyDropped : kSurelyKept) * total) {
      if (is_strict() && !has_sure_norm(r_[size_], size_, square)) return false;
      if (c == 0) is_regular_ = is_spanned_ = false;
      second_depends_ = c == 1;
      // terms and ones have the same span as model and ones: the rest of the hinge is rounding
      if (is_known() && n_spanned_ == size_ + (is_even_ ? 0 : 1)) left_of_second_.most = kSurelyKept * total;
      continue;
    }
    if (square < kSurelyKept * total) return false;
    const std::size_t lane = n_lanes();
    keep_column(square);
    if (is_strict() && !has_sure_norm(r_[size_ - 1], size_, 0.0)) return false;  // same column as a candidate
    noise_ += weighted_noise(static_cast<double>(n), total / square);
    quality_ = smaller(quality_, square / total);
    double explained = 0.0;
    for (std::size_t r = 0; r < n_resp_; ++r) explained += z_[r][lane] * z_[r][lane];
    rss_ -= explained;
    const double* q = q_[size_ - 1];
    const double shared = is_even_ ? 0.0 : l.dot(q, ones_.data(), n);
    if (c == 1) {
      if (!new_form) gap_ = explained;
      if (is_known()) left_of_second_.least = is_even_ ? square : square * (1 - shared * shared / ones_square_);
    } else {
      ++n_spanned_;
    }
    if (is_even_) continue;
    l.add_scaled(ones_.data(), -shared, q, n);
    ones_square_ = l.dot(ones_.data(), ones_.data(), n);
  }
  return true;
}

// True if the span of the terms and a column of ones is not affected by rounding.
bool WeightedUpdating::is_known() const {
  const bool has_ones = is_even_ || ones_square_ > kLeastOnes * static_cast<double>(design_.n);
  return has_ones && is_spanned_ && quality_ > kLeastQuality;
}

void WeightedUpdating::take_second(bool adds, double share) {
  if (!adds) return;
  ++n_spanned_;
  if (!second_depends_) return;
  is_regular_ = false;
  is_spanned_ &= share > kLeastQuality;
}

Linear WeightedUpdating::linear_state(const Terms& terms, std::size_t slot, std::size_t pred, bool new_form,
                                      int thread) {
  Pair& own = pair_at(slot, pred);
  if (own.linear == Linear::kDead || !new_form) return Linear::kDead;
  double& b = knots_.b[own.offset + own.n_knots];
  Computed& computed = computed_[slot * design_.p + pred];
  if (b > kLostDigits * computed.square && b > kSurelyKept * own.square) return own.linear;
  const double raw = compute_line(terms, slot, pred, thread);
  // rounding residual of a column in the span of the model, with a basis that is not quite orthogonal
  const double rounding = 1e-29 * raw / quality_;
  computed = {b, quality_};
  own.linear = b + rounding < kSurelyDropped * raw ? Linear::kDead
               : b - rounding > kSurelyKept * raw  ? Linear::kAlive
                                                   : Linear::kDoubtful;
  if (is_strict() && own.linear != Linear::kDoubtful && !has_sure_line(terms, slot, pred, thread))
    own.linear = Linear::kDoubtful;
  return own.linear;
}

// True if R's norm of a column is accurate enough to decide whether the column depends on earlier ones. R downdates the
// norm by one basis column at a time, and recomputes it only if a single one leaves next to nothing: what several of
// them leave together may be rounding, which R then includes in the regression.
bool WeightedUpdating::has_sure_norm(const double* coefficients, std::size_t size, double left) const {
  std::vector<double> rest(size + 1);
  rest[size] = left;
  for (std::size_t t = size; t > 0; --t) rest[t - 1] = rest[t] + coefficients[t - 1] * coefficients[t - 1];
  const double rounding = kSumNoise * std::sqrt(static_cast<double>(design_.n));
  double error = 0.0;  // relative error of the squared norm
  for (std::size_t t = 0; t < size && rest[t] > kRounding * rest[0]; ++t) {
    error += rounding;
    const double share = rest[t + 1] / rest[t];
    if (share + error < kSummedAgain)
      error = 0.0;
    else if (share > error)
      error /= share;
    else
      return false;
  }
  return true;
}

// The same for the line of a pair, for which R uses the original x.
bool WeightedUpdating::has_sure_line(const Terms& terms, std::size_t slot, std::size_t pred, int thread) {
  double* column = columns_[thread];
  design_.column(pred, column);
  for (std::size_t i = 0; i < design_.n; ++i) column[i] *= terms.bx[slot][i];
  double* coefficients = coefficients_[thread];
  const double left = orthogonalise(q_, size_, column, coefficients);
  return has_sure_norm(coefficients, size_, left);
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
  // the recorded gain is that of the basis, which is more accurate
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
