// Bounds on the difference between the gains of the updating search and those computed by earth.
//
// Both are exact up to rounding, but earth's rounding can be large. From each basis column, after normalisation, earth
// subtracts the mean that the column had before: mathematically zero, but in fact rounding relative to the entries of
// the column. It also orthogonalises only once. Each column therefore has a *noise*: a bound on the error of <h, q>,
// relative to |h|. It grows with the size of the products of predictors, in the units of X. Candidates whose order
// depends on noise are recomputed in earth's own order of operations.
#pragma once

#include <cmath>
#include <limits>

namespace earthdof {

// Three times the maximum observed in fits of 480 simulated data sets, with values from 1e-3 to 1e10 up to 1e5 standard
// deviations from zero, and of the ozone data.
constexpr double kMeanNoise = 4e-15;
constexpr double kDirectionNoise = 1e-15;
constexpr double kVarianceNoise = 3e-16;
constexpr double kSumNoise = 4e-16;  // of a running sum of products, per root of their number
constexpr double kMostNoise = 1e-6;  // above it, too many candidates are in doubt for updating to pay off
constexpr double kTight = 3e-7;      // noise below this share of the tolerance changes a gain by less than a millionth

// Rounding of the updated sums, and of earth for values of ordinary size: relative to the gain, and to
// sqrt(gain * null RSS). Both are maxima at the loosest tolerance (1e-5) of a knot.
constexpr double kTieRelative = 2e-9;
constexpr double kTieAbsolute = 2e-11;

// Gains closer than this are tied, and rounding decides.
inline double tie_band(double gain, double rss_null) {
  return kTieRelative * gain + kTieAbsolute * std::sqrt(gain * rss_null);
}

// Squared noise of a column with squared norm `square`, and `left` after orthogonalisation.
// (u + v)^2 <= 2 u^2 + 2 v^2 avoids two roots per candidate.
inline double column_noise(double square, double left) {
  return 2 * square * (kMeanNoise * kMeanNoise + kDirectionNoise * kDirectionNoise / left);
}

// Relative loss of digits in earth's running |h|^2, for `variance_noise`. `square` is the squared norm of the parent
// and `extent` the maximum of the hinge, both over the cases above the knot; `variance` is |h|^2. A hinge between two
// almost equal values loses all digits.
inline double hinge_noise(double square, double extent, double variance) {
  if (!(extent > 0)) return 0.0;
  return variance > 0 ? square * extent / variance : std::numeric_limits<double>::infinity();
}

// Squared noise of earth's running |h|^2, which rounds x itself, not differences of x. `loss` is the maximum
// `hinge_noise` of a pair, `reach` the maximum of |x|.
inline double variance_noise(double n, double loss, double reach) {
  const double noise = kVarianceNoise * loss * reach;
  return n * (noise * noise);
}

// Error bound of the gain A^2/B of a hinge, where `loss` is |h|^2/B, and the errors of A, over all responses, and B are
// at most noise |h| sqrt(null RSS) and 2 noise |h|^2; uses 2 sqrt(u v) <= u + v.
inline double gain_error(double gain, double loss, double noise, double rss_null) {
  return 3 * noise * (gain * loss + rss_null);
}

// Error bound of the gain of a linear candidate. earth multiplies it by the uncentred responses, so its deviation from
// orthogonality to the intercept is multiplied by their means. `offset` is the root of the sum of n mean^2. The noise
// of the columns subtracted from the line grows with their share in it: `loss` is the relative loss of its square.
inline double line_error(double gain, double loss, double noise, double offset, double n) {
  const double error = (3 * noise * std::sqrt(loss) + kSumNoise * std::sqrt(n)) * offset;
  return 2 * std::sqrt(gain) * error + error * error;
}

// With case weights, earth repeats the regression for each candidate, which is more accurate: the error of a column is
// the rounding of its sums, relative to its initial norm. `loss` is the ratio of its square before and after. The
// result is added to the squared noise.
inline double weighted_noise(double n, double loss) { return kSumNoise * kSumNoise * n * loss; }

// Loss of a hinge by centring, from `square` to `left`. A zero hinge has no loss.
inline double centring_loss(double square, double left) {
  if (!(square > 0)) return 0.0;
  return left > 0 ? square / left : std::numeric_limits<double>::infinity();
}

// Shares of |h|^2 below which a knot is certainly rejected, and above which it is certainly accepted.
inline double surely_out(double tolerance, double noise) { return tolerance * (1 - 1e-6) - 2 * noise; }
inline double surely_in(double tolerance, double noise) { return tolerance * (1 + 1e-6) + 2 * noise; }

}  // namespace earthdof
