// R's random numbers: Mersenne-Twister and normals by inversion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/team.hpp"

namespace earthdof {

// The state of R's generator: 624 words, and how many of them are used up.
class Twister {
 public:
  static constexpr std::size_t kWords = 624;

  explicit Twister(std::uint32_t seed);  // what set.seed makes of a seed

  // The next words.
  void draw(std::uint32_t* out, std::size_t count);
  void skip(std::uint64_t count);

  // The words, and how many are used up: all that a copy needs.
  const std::uint32_t* words() const { return words_; }
  std::size_t position() const { return at_; }
  void restore(const std::uint32_t* words, std::size_t position);

 private:
  void refill();
  static std::uint32_t temper(std::uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  std::uint32_t words_[kWords];
  std::size_t at_ = kWords;
};

// R's runif: a word over 2^32, never 0.
double uniform(std::uint32_t word);

// Quantiles of the standard normal by Wichura's AS 241 (PPND16), as R computes them.
void normal_quantiles(const double* p, double* quantile, std::size_t n);
inline double normal_quantile(double p) {
  double quantile;
  normal_quantiles(&p, &quantile, 1);
  return quantile;
}

// R's rnorm(n): two uniforms make one of 2^-59 resolution, then the quantile. The words come one after the other, the
// quantiles are shared by the threads.
void draw_normals(Twister& twister, double* values, std::size_t n, Team& team);

}  // namespace earthdof
