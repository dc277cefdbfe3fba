#include "normals.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace earthdof {

namespace {

constexpr std::size_t kMiddle = 397, kChunk = 16384;

// Coefficients from the highest power down.
struct Ratio {
  double numerator[8], denominator[8];

  double operator()(double r) const { return horner(numerator, r) / horner(denominator, r); }
  static double horner(const double* c, double r) {
    double value = c[0] * r + c[1];
    for (int i = 2; i < 8; ++i) value = value * r + c[i];
    return value;
  }
};

constexpr Ratio kCentre = {{2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
                            13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
                           {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
                            5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0}};
constexpr Ratio kTail = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0}};
constexpr Ratio kFarTail = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0}};

}  // namespace

// s <- 69069 s + 1 fifty times, then one word a step; the first of 625 is R's position.
Twister::Twister(std::uint32_t seed) {
  for (int i = 0; i < 51; ++i) seed = 69069 * seed + 1;
  for (std::uint32_t& word : words_) word = seed = 69069 * seed + 1;
}

void Twister::restore(const std::uint32_t* words, std::size_t position) {
  std::copy_n(words, kWords, words_);
  at_ = std::min(position, kWords);
}

void Twister::refill() {
  const auto twist = [&](std::size_t i, std::size_t next, std::size_t far) {
    const std::uint32_t y = (words_[i] & 0x80000000u) | (words_[next] & 0x7fffffffu);
    words_[i] = words_[far] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
  };
  for (std::size_t i = 0; i < kWords - kMiddle; ++i) twist(i, i + 1, i + kMiddle);
  for (std::size_t i = kWords - kMiddle; i < kWords - 1; ++i) twist(i, i + 1, i + kMiddle - kWords);
  twist(kWords - 1, 0, kMiddle - 1);
  at_ = 0;
}

std::uint32_t Twister::temper(std::uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

void Twister::skip(std::uint64_t count) {
  while (count > 0) {
    if (at_ == kWords) refill();
    const std::uint64_t step = std::min<std::uint64_t>(count, kWords - at_);
    at_ += step;
    count -= step;
  }
}

double uniform(std::uint32_t word) {
  constexpr double kStep = 2.328306437080797e-10;  // R's 1/(2^32 - 1), half of which stands for 0
  return word == 0 ? 0.5 * kStep : word * 0x1p-32;
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * Ratio::horner(kCentre.numerator, r) / Ratio::horner(kCentre.denominator, r);  // R rounds in that order
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 0.5 - p + 0.5));
  return std::copysign(r <= 5.0 ? kTail(r - 1.6) : kFarTail(r - 5.0), q);
}

void draw_normals(Twister& twister, double* values, std::size_t n, Team& team) {
  for (std::size_t i = 0; i < n; ++i) {
    // floor(2^27 u) of u = w / 2^32 is w >> 5, also where R moves u = 0 inside the interval
    const double high = twister.next() >> 5;
    values[i] = (high + uniform(twister.next())) / 0x1p27;
  }
  team.run((n + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t end = std::min(n, (chunk + 1) * kChunk);
    for (std::size_t i = chunk * kChunk; i < end; ++i) values[i] = normal_quantile(values[i]);
  });
}

}  // namespace earthdof
