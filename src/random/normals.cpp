#include "normals.hpp"

#include <algorithm>
#include <cmath>

#include "../simd/loops.hpp"

namespace earthdof {

namespace {

constexpr std::size_t kMiddle = 397, kShare = 16384, kBlock = 512;
constexpr double kCentral = 0.425;  // distance from 0.5 up to which the central ratio holds

// Coefficients from the highest power down.
struct Ratio {
  double numerator[8], denominator[8];

  // q numerator(r) / denominator(r), in R's order of operations
  void times(const double* q, const double* r, double* values, std::size_t n) const {
    loops().ratios(q, r, values, n, numerator, denominator);
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

// s <- 69069 s + 1 fifty times, then one word per step; the first of 625 is R's position.
Twister::Twister(std::uint32_t seed) {
  for (int i = 0; i < 51; ++i) seed = 69069 * seed + 1;
  for (std::uint32_t& word : words_) word = seed = 69069 * seed + 1;
}

void Twister::restore(const std::uint32_t* words, std::size_t position) {
  std::copy_n(words, kWords, words_);
  at_ = std::min(position, kWords);
}

void Twister::refill() {
  const auto twisted = [](std::uint32_t word, std::uint32_t next, std::uint32_t far) {
    const std::uint32_t y = (word & 0x80000000u) | (next & 0x7fffffffu);
    return far ^ (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
  };
  std::uint32_t* const words = words_;
  for (std::size_t i = 0; i < kWords - kMiddle; ++i) words[i] = twisted(words[i], words[i + 1], words[i + kMiddle]);
  for (std::size_t i = kWords - kMiddle; i < kWords - 1; ++i)
    words[i] = twisted(words[i], words[i + 1], words[i + kMiddle - kWords]);
  words[kWords - 1] = twisted(words[kWords - 1], words[0], words[kMiddle - 1]);
  at_ = 0;
}

void Twister::draw(std::uint32_t* out, std::size_t count) {
  while (count > 0) {
    if (at_ == kWords) refill();
    const std::size_t step = std::min(count, kWords - at_);
    for (std::size_t i = 0; i < step; ++i) out[i] = temper(words_[at_ + i]);
    at_ += step;
    out += step;
    count -= step;
  }
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
  constexpr double kStep = 2.328306437080797e-10;  // R's 1/(2^32 - 1), half of which replaces 0
  return word == 0 ? 0.5 * kStep : word * 0x1p-32;
}

void normal_quantiles(const double* p, double* quantile, std::size_t n) {
  double q[kBlock], r[kBlock], root[kBlock];
  std::uint32_t tail[kBlock];
  for (; n > 0; n -= std::min(n, kBlock), p += kBlock, quantile += kBlock) {
    const std::size_t count = std::min(n, kBlock);
    std::size_t n_tail = 0;
    for (std::size_t i = 0; i < count; ++i) {
      q[i] = p[i] - 0.5;
      r[i] = 0.180625 - q[i] * q[i];
      tail[n_tail] = static_cast<std::uint32_t>(i);
      n_tail += std::fabs(q[i]) > kCentral;
    }
    for (std::size_t k = 0; k < n_tail; ++k) {
      const double at = p[tail[k]];
      root[k] = std::sqrt(-std::log(at < 0.5 ? at : 0.5 - at + 0.5));
    }
    kCentre.times(q, r, quantile, count);
    for (std::size_t k = 0; k < n_tail; ++k) {
      q[k] = std::copysign(1.0, q[tail[k]]);  // k is at most tail[k]
      r[k] = root[k] - 1.6;
    }
    kTail.times(q, r, r, n_tail);
    for (std::size_t k = 0; k < n_tail; ++k) {
      quantile[tail[k]] = r[k];
      if (root[k] <= 5.0) continue;
      root[k] -= 5.0;
      kFarTail.times(q + k, root + k, quantile + tail[k], 1);
    }
  }
}

void draw_normals(Twister& twister, double* values, std::size_t n, Team& team) {
  std::uint32_t words[2 * kBlock];
  for (std::size_t first = 0; first < n; first += kBlock) {
    const std::size_t count = std::min(kBlock, n - first);
    twister.draw(words, 2 * count);
    // floor(2^27 u) for u = w / 2^32 is w >> 5, even if R moves u = 0 into the interval
    for (std::size_t i = 0; i < count; ++i)
      values[first + i] = ((words[2 * i] >> 5) + uniform(words[2 * i + 1])) * 0x1p-27;
  }
  team.run((n + kShare - 1) / kShare, [&](std::size_t chunk, int) {
    const std::size_t end = std::min(n, (chunk + 1) * kShare);
    normal_quantiles(values + chunk * kShare, values + chunk * kShare, end - chunk * kShare);
  });
}

}  // namespace earthdof
