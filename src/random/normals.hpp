// R's random numbers: Mersenne-Twister and normals by inversion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/team.hpp"

namespace earthdof {

// State of R's generator: 624 words and the number of those already used.
class Twister {
 public:
  static constexpr std::size_t kWords = 624;

  explicit Twister(std::uint32_t seed);  // the state after set.seed(seed)

  // The next words.
  void draw(std::uint32_t* out, std::size_t count);
  void skip(std::uint64_t count);

  // The words and the number of those used: the whole state.
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

// R's runif: word / 2^32, never 0.
double uniform(std::uint32_t word);

// Quantiles of the standard normal by Wichura's AS 241 (PPND16), as R computes them.
void normal_quantiles(const double* p, double* quantile, std::size_t n);
inline double normal_quantile(double p) {
  double quantile;
  normal_quantiles(&p, &quantile, 1);
  return quantile;
}

// R's rnorm(n): quantiles of uniforms with a resolution of 2^-59, each from two words. The words are drawn
// sequentially, the quantiles computed in parallel.
void draw_normals(Twister& twister, double* values, std::size_t n, Team& team);

}  // namespace earthdof
