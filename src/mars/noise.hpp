// How far the gains of the updating search may be from those that earth computes.
//
// Both are exact up to rounding, but earth's rounding can be large. It subtracts from each basis column, after
// normalisation, the mean that the column had before: a mean that is zero on paper and in fact the rounding of
// numbers as large as the column's. And it orthogonalises only once. So each column comes with a *noise*: how far
// <h, q> may be off, as a share of |h|. It grows with the size of the products of predictors, in the units of X.
// Candidates that noise could decide between are computed again in earth's own order of operations.
#pragma once

#include <cmath>
#include <limits>

namespace earthdof {

// Three times the largest that was met in fits of 480 made-up data sets, with values from 1e-3 to 1e10 that lie
// up to 1e5 standard deviations from zero, and of the ozone data.
constexpr double kMeanNoise = 4e-15;
constexpr double kDirectionNoise = 1e-15;
constexpr double kVarianceNoise = 3e-16;
constexpr double kSumNoise = 4e-16;  // of a running sum of products, times the root of their number
constexpr double kMostNoise = 1e-6;  // beyond it so much is in doubt that updating does not pay
constexpr double kTight = 3e-7;      // noise below this share of the tolerance leaves a gain certain to a millionth

// The rounding of the updated sums, and earth's with numbers of ordinary size: relative, and against
// sqrt(gain * null RSS). Both are what it reaches at the loosest tolerance (1e-5) that a knot may have.
constexpr double kTieRelative = 2e-9;
constexpr double kTieAbsolute = 2e-11;

// Two gains closer than this are a tie that rounding decides.
inline double tie_band(double gain, double rss_null) {
  return kTieRelative * gain + kTieAbsolute * std::sqrt(gain * rss_null);
}

// Square of a column's noise: `square` is its own, `left` what orthogonalisation leaves of it.
// (u + v)^2 <= 2 u^2 + 2 v^2, which saves two roots a candidate.
inline double column_noise(double square, double left) {
  return 2 * square * (kMeanNoise * kMeanNoise + kDirectionNoise * kDirectionNoise / left);
}

// What earth's running |h|^2 loses of its digits, for `variance_noise`. `square` is that of the parent and `extent`
// the largest value of the hinge, both over the cases above the knot; `variance` is |h|^2. A hinge between two
// almost equal values is lost altogether.
inline double hinge_noise(double square, double extent, double variance) {
  if (!(extent > 0)) return 0.0;
  return variance > 0 ? square * extent / variance : std::numeric_limits<double>::infinity();
}

// Square of the noise of earth's running |h|^2, which rounds x itself, not differences of x. `loss` is the worst
// `hinge_noise` of a pair, `reach` the largest |x|.
inline double variance_noise(double n, double loss, double reach) {
  const double noise = kVarianceNoise * loss * reach;
  return n * (noise * noise);
}

// How far the gain A^2/B of a hinge may be off, where `loss` is |h|^2/B and A, over all responses, is off by at most
// noise |h| sqrt(null RSS) and B by 2 noise |h|^2; then 2 sqrt(u v) <= u + v.
inline double gain_error(double gain, double loss, double noise, double rss_null) {
  return 3 * noise * (gain * loss + rss_null);
}

// How far the gain of a linear candidate may be off because earth multiplies it by the responses as they are: what is
// orthogonal to the intercept but for noise meets their means. `offset` is the root of the sum of their n mean^2.
// The noise of the columns that are taken out of the line grows with what they take: `loss` is that of its square.
inline double line_error(double gain, double loss, double noise, double offset, double n) {
  const double error = (3 * noise * std::sqrt(loss) + kSumNoise * std::sqrt(n)) * offset;
  return 2 * std::sqrt(gain) * error + error * error;
}

// With case weights earth regresses anew for each candidate, which loses little: a column is off by the rounding of
// its sums, as a share of what it was. `loss` is its square over what is left of it; it adds this to the square of the
// noise.
inline double weighted_noise(double n, double loss) { return kSumNoise * kSumNoise * n * loss; }

// The loss of a hinge by taking the intercept out of it, from `square` to `left`. A hinge that is zero loses nothing.
inline double centring_loss(double square, double left) {
  if (!(square > 0)) return 0.0;
  return left > 0 ? square / left : std::numeric_limits<double>::infinity();
}

// Shares of |h|^2 below which a knot is surely out, and above which it is surely in.
inline double surely_out(double tolerance, double noise) { return tolerance * (1 - 1e-6) - 2 * noise; }
inline double surely_in(double tolerance, double noise) { return tolerance * (1 + 1e-6) + 2 * noise; }

}  // namespace earthdof
