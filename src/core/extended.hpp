// Numbers with a 64-bit significand, the extended precision of R's sums on x86-64.
//
// Extended is long double if the compiler's long double has this format. Otherwise (ARM, Microsoft's compiler) it is
// SoftExtended, which rounds every operation to the same bits.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace earthdof {

// sign * significand * 2^exponent. The exponent range is wider than that of the hardware, which results of a few
// operations on doubles do not exceed.
class SoftExtended {
 public:
  SoftExtended() = default;
  SoftExtended(double value)  // NOLINT: every double is such a number
      : negative_(std::signbit(value)) {
    if (!std::isfinite(value)) {
      special_ = value;
      is_special_ = true;
    } else if (value != 0) {
      int exponent;
      const double fraction = std::frexp(std::fabs(value), &exponent);
      significand_ = static_cast<std::uint64_t>(std::ldexp(fraction, 53)) << 11;
      exponent_ = exponent - 64;
    }
  }

  explicit operator double() const {
    if (is_special_) return special_;
    if (significand_ == 0) return negative_ ? -0.0 : 0.0;
    // Doubles below 2^-1022 have fewer digits.
    const int top = exponent_ + 64;  // the number is below 2^top
    int digits = 53;
    if (top < -1021) digits = top + 1074;
    if (digits < 0) return negative_ ? -0.0 : 0.0;
    const int drop = 64 - digits;  // 11 to 64
    const std::uint64_t kept = drop < 64 ? significand_ >> drop : 0;
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t lost = significand_ & (half + (half - 1));
    const bool up = lost > half || (lost == half && (kept & 1) != 0);
    const double size = std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), exponent_ + drop);
    return negative_ ? -size : size;
  }

  friend SoftExtended operator-(SoftExtended a) {
    a.negative_ = !a.negative_;
    a.special_ = -a.special_;
    return a;
  }

  friend SoftExtended operator+(const SoftExtended& a, const SoftExtended& b) {
    if (a.is_special_ || b.is_special_) return special(a.rough() + b.rough());
    if (a.significand_ == 0 && b.significand_ == 0) return zero(a.negative_ && b.negative_);
    if (a.significand_ == 0) return b;
    if (b.significand_ == 0) return a;
    const bool swap = a.exponent_ < b.exponent_ || (a.exponent_ == b.exponent_ && a.significand_ < b.significand_);
    const SoftExtended &large = swap ? b : a, &small = swap ? a : b;
    const Wide shifted = shift_right({small.significand_, 0}, large.exponent_ - small.exponent_);
    Wide sum{large.significand_, 0};
    int exponent = large.exponent_;
    if (large.negative_ == small.negative_) {
      sum.low = shifted.low;
      sum.high += shifted.high;
      if (sum.high < shifted.high) {  // carried
        sum = shift_right(sum, 1);
        sum.high |= kTop;
        ++exponent;
      }
    } else {
      sum.high -= shifted.high + (shifted.low != 0 ? 1 : 0);
      sum.low = 0 - shifted.low;
      if (sum.high == 0 && sum.low == 0) return zero(false);
    }
    return rounded(large.negative_, sum, exponent);
  }
  friend SoftExtended operator-(const SoftExtended& a, const SoftExtended& b) { return a + -b; }

  friend SoftExtended operator*(const SoftExtended& a, const SoftExtended& b) {
    if (a.is_special_ || b.is_special_) return special(a.rough() * b.rough());
    const bool negative = a.negative_ != b.negative_;
    if (a.significand_ == 0 || b.significand_ == 0) return zero(negative);
    return rounded(negative, product(a.significand_, b.significand_), a.exponent_ + b.exponent_ + 64);
  }

  friend SoftExtended operator/(const SoftExtended& a, const SoftExtended& b) {
    if (a.is_special_ || b.is_special_) return special(a.rough() / b.rough());
    const bool negative = a.negative_ != b.negative_;
    if (b.significand_ == 0) return special(a.rough() / b.rough());
    if (a.significand_ == 0) return zero(negative);
    // Long division. A numerator smaller than the denominator is doubled, so the first digit is 1.
    const bool doubled = a.significand_ < b.significand_;
    std::uint64_t rest = a.significand_ - (doubled ? 0 : b.significand_), digits = doubled ? 0 : 1;
    for (int left = doubled ? 64 : 63; left > 0; --left) {
      const bool carry = (rest & kTop) != 0;
      rest <<= 1;
      digits <<= 1;
      if (carry || rest >= b.significand_) {
        rest -= b.significand_;
        digits |= 1;
      }
    }
    // The remainder is compared with half the denominator to round the result.
    const std::uint64_t other = b.significand_ - rest;
    const Wide found{digits, rest == 0 ? 0 : rest == other ? kTop : rest > other ? kTop | 1 : 1};
    return rounded(negative, found, a.exponent_ - b.exponent_ - (doubled ? 64 : 63));
  }

  friend SoftExtended floor(const SoftExtended& a) {
    if (a.is_special_ || a.significand_ == 0 || a.exponent_ >= 0) return a;
    const bool is_small = a.exponent_ <= -64;
    const std::uint64_t fraction = is_small ? ~std::uint64_t{0} : (std::uint64_t{1} << -a.exponent_) - 1;
    SoftExtended whole = a;
    whole.significand_ = a.significand_ & ~fraction;
    if (whole.significand_ == 0) whole = zero(a.negative_);
    const bool is_whole = (a.significand_ & fraction) == 0;
    return a.negative_ && !is_whole ? whole - SoftExtended(1.0) : whole;
  }

  SoftExtended& operator+=(const SoftExtended& other) { return *this = *this + other; }

 private:
  struct Wide {
    std::uint64_t high, low;
  };
  static constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

  static SoftExtended special(double value) {
    SoftExtended found;
    found.special_ = value;
    found.is_special_ = true;
    found.negative_ = std::signbit(value);
    return found;
  }
  static SoftExtended zero(bool negative) {
    SoftExtended found;
    found.negative_ = negative;
    return found;
  }

  // A double of the same kind and sign, for results that depend only on these.
  double rough() const {
    if (is_special_) return special_;
    const double size = significand_ == 0 ? 0.0 : 1.0;
    return negative_ ? -size : size;
  }

  // The last digit is set if any digit shifted out was not 0.
  static Wide shift_right(Wide value, int by) {
    if (by == 0) return value;
    if (by > 127) return {0, 1};
    Wide found{0, 0};
    std::uint64_t lost;
    if (by >= 64) {
      const int rest = by - 64;
      found.low = value.high >> rest;
      lost = value.low | (rest > 0 ? value.high << (64 - rest) : 0);
    } else {
      found.high = value.high >> by;
      found.low = (value.high << (64 - by)) | (value.low >> by);
      lost = value.low << (64 - by);
    }
    if (lost != 0) found.low |= 1;
    return found;
  }

  static Wide product(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kLow = 0xffffffff;
    const std::uint64_t a0 = a & kLow, a1 = a >> 32, b0 = b & kLow, b1 = b >> 32;
    const std::uint64_t low = a0 * b0, first = a1 * b0 + (low >> 32), second = a0 * b1 + (first & kLow);
    return {a1 * b1 + (first >> 32) + (second >> 32), (second << 32) | (low & kLow)};
  }

  // value * 2^(exponent - 64), rounded to nearest, ties to even.
  static SoftExtended rounded(bool negative, Wide value, int exponent) {
    while ((value.high & kTop) == 0) {
      value.high = (value.high << 1) | (value.low >> 63);
      value.low <<= 1;
      --exponent;
    }
    if (value.low > kTop || (value.low == kTop && (value.high & 1) != 0)) {
      if (++value.high == 0) {
        value.high = kTop;
        ++exponent;
      }
    }
    SoftExtended found;
    found.negative_ = negative;
    found.significand_ = value.high;
    found.exponent_ = exponent;
    return found;
  }

  bool negative_ = false, is_special_ = false;
  int exponent_ = 0;
  std::uint64_t significand_ = 0;  // its highest bit is 1, or all are 0
  double special_ = 0.0;           // infinity or NaN
};

#if LDBL_MANT_DIG == 64
using Extended = long double;
#else
using Extended = SoftExtended;
#endif

// The functions below compute R's sums. They are templates so that tests can compare the two formats.

template <class E = Extended>
double extended_sum(const double* values, std::size_t n) {
  E total = 0.0;
  for (std::size_t i = 0; i < n; ++i) total += values[i];
  return static_cast<double>(total);
}

// R's mean(): a second pass adds the rounding error of the first.
template <class E = Extended>
double extended_mean(const double* values, std::size_t n) {
  const E count = static_cast<double>(n);
  E first = 0.0, rest = 0.0;
  for (std::size_t i = 0; i < n; ++i) first += values[i];
  first = first / count;
  for (std::size_t i = 0; i < n; ++i) rest += E(values[i]) - first;
  return static_cast<double>(first + rest / count);
}

// R's var() with its mean(): differences and squares are extended as well.
template <class E = Extended>
double extended_variance(const double* values, std::size_t n) {
  const E mean = extended_mean<E>(values, n);
  E total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const E difference = E(values[i]) - mean;
    total += difference * difference;
  }
  return static_cast<double>(total / E(static_cast<double>(n) - 1.0));
}

// Remainder of a after whole steps of b, and the number of steps; steps and first remainder are extended.
template <class E = Extended>
std::pair<double, double> extended_division(double a, double b) {
  const double steps = std::floor(a / b);
  const E rest = E(a) - E(steps) * E(b);
  using std::floor;
  const E more = floor(rest / E(b));
  return {static_cast<double>(rest - more * E(b)), static_cast<double>(E(steps) + more)};
}

}  // namespace earthdof
