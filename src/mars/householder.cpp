#include "../core/numbers.hpp"
#include "householder.hpp"

#include <cmath>

#include "../simd/loops.hpp"
#include "regress.hpp"

namespace earthdof {

namespace {

constexpr double kInaccurate = 1e-6;  // share of a squared norm below which it is recomputed

// Norms of the columns from case `first` on.
void norms(const Table<double>& columns, std::size_t first, std::size_t width, double* result) {
  std::fill(result, result + width, 0.0);
  for (std::size_t i = first; i < columns.rows(); ++i)
    for (std::size_t c = 0; c < width; ++c) result[c] += columns[i][c] * columns[i][c];
  for (std::size_t c = 0; c < width; ++c) result[c] = std::sqrt(result[c]);
}

double norm_from(const Table<double>& columns, std::size_t first, std::size_t c) {
  double total = 0.0;
  for (std::size_t i = first; i < columns.rows(); ++i) total += columns[i][c] * columns[i][c];
  return std::sqrt(total);
}

// Convert the reduced columns into the reflections that would follow the first k.
void make_reflections(Block& block, std::size_t k, std::size_t width) {
  Table<double>& columns = block.columns;
  double scale[Block::kWidth];
  norms(columns, k, width, scale);
  for (std::size_t c = 0; c < width; ++c) {
    const double norm = columns[k][c] < 0 ? -scale[c] : scale[c];
    block.pivot[c] = -norm;
    scale[c] = norm != 0 ? 1 / norm : 0.0;
  }
  for (std::size_t i = k; i < columns.rows(); ++i)
    for (std::size_t c = 0; c < width; ++c) columns[i][c] *= scale[c];
  for (std::size_t c = 0; c < width; ++c) columns[k][c] = 1 + columns[k][c];
}

// Apply to each column of residuals the reflection in the column with the same index.
void reflect_each(Block& block, std::size_t k, std::size_t width) {
  const Table<double>& columns = block.columns;
  Table<double>& residuals = block.residuals;
  double sums[Block::kWidth] = {};
  for (std::size_t i = k; i < columns.rows(); ++i)
    for (std::size_t c = 0; c < width; ++c) sums[c] += columns[i][c] * residuals[i][c];
  for (std::size_t c = 0; c < width; ++c)
    if (columns[k][c] != 0) sums[c] = -sums[c] / columns[k][c];
  for (std::size_t i = k; i < columns.rows(); ++i)
    for (std::size_t c = 0; c < width; ++c) residuals[i][c] += sums[c] * columns[i][c];
}

}  // namespace

void reflect(const double* reflection, std::size_t k, Table<double>& columns, std::size_t width) {
  const Loops& l = loops();
  double sums[Block::kWidth] = {};
  const std::size_t n = columns.rows() - k;
  l.lane_sums(reflection + k, columns[k], n, columns.width(), width, sums);
  for (std::size_t c = 0; c < width; ++c) sums[c] = -sums[c] / reflection[k];
  l.lane_add(reflection + k, columns[k], n, columns.width(), width, sums);
}

Factored::Factored(std::size_t capacity, std::size_t n_resp, std::size_t n)
    : n_(n), own_(capacity, n), rotated_(n_resp, n) {}

void Factored::start(Rows<const double> y) {
  own_size_ = 0;
  reflections_.clear();
  for (std::size_t r = 0; r < y.rows; ++r) std::copy(y[r], y[r] + n_, rotated_[r]);
}

void Factored::continue_from(const Factored& other) {
  own_size_ = 0;
  reflections_ = other.reflections_;
  std::copy(other.rotated_[0], other.rotated_[0] + rotated_.rows() * n_, rotated_[0]);
}

// Apply all reflections to the columns, and compute the norms of the rest.
void Factored::reduce(Block& block, std::size_t width) const {
  norms(block.columns, 0, width, block.norm);
  std::copy(block.norm, block.norm + width, block.left);
  for (std::size_t t = 0; t < std::min(size(), n_ - 1); ++t) {
    reflect(reflections_[t], t, block.columns, width);
    for (std::size_t c = 0; c < width; ++c) {
      double& left = block.left[c];
      if (left == 0) continue;
      const double share = std::fabs(block.columns[t][c]) / left, rest = larger(1 - share * share, 0.0);
      left = rest < kInaccurate ? norm_from(block.columns, t + 1, c) : left * std::sqrt(rest);
    }
  }
}

bool Factored::is_independent(const Block& block, std::size_t c) {
  const double norm = block.norm[c];
  return block.left[c] >= (norm != 0 ? norm : 1.0) * kRankTolerance;
}

bool Factored::extend(Block& block) {
  const std::size_t k = size();
  if (k == n_) return false;
  reduce(block, 1);
  if (!is_independent(block, 0)) return false;
  double* reflection = own_[own_size_++];
  reflections_.push_back(reflection);
  block.pivot[0] = block.columns[k][0];
  if (k == n_ - 1) return true;  // the last dimension needs no reflection
  make_reflections(block, k, 1);
  std::fill(reflection, reflection + k, 0.0);
  for (std::size_t i = k; i < n_; ++i) reflection[i] = block.columns[i][0];
  for (std::size_t r = 0; r < rotated_.rows(); ++r) {
    double* rotated = rotated_[r];
    double sum = 0.0;
    for (std::size_t i = k; i < n_; ++i) sum += reflection[i] * rotated[i];
    if (reflection[k] != 0) sum = -sum / reflection[k];
    for (std::size_t i = k; i < n_; ++i) rotated[i] += sum * reflection[i];
  }
  return true;
}

// Apply all reflections to the residuals in reverse order and add their squares to the RSS.
void Factored::add_squares(Block& block, std::size_t width) const {
  Table<double>& residuals = block.residuals;
  for (std::size_t i = 0; i < size(); ++i) std::fill(residuals[i], residuals[i] + width, 0.0);
  for (std::size_t t = std::min(size(), n_ - 1); t > 0; --t) reflect(reflections_[t - 1], t - 1, residuals, width);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t c = 0; c < width; ++c) block.rss[c] += residuals[i][c] * residuals[i][c];
}

void Factored::residuals(std::size_t r, Block& block) const {
  for (std::size_t i = 0; i < n_; ++i) block.residuals[i][0] = rotated_[r][i];
  add_squares(block, 1);
}

double Factored::rss(Block& block) const {
  block.rss[0] = 0.0;
  for (std::size_t r = 0; r < rotated_.rows(); ++r) residuals(r, block);
  return block.rss[0];
}

void Factored::rss_of_candidates(Block& block, std::size_t width, double model_rss) const {
  const std::size_t k = size();
  std::fill(block.rss, block.rss + width, 0.0);
  if (k == n_) return;
  reduce(block, width);
  if (k < n_ - 1) {
    make_reflections(block, k, width);
    for (std::size_t r = 0; r < rotated_.rows(); ++r) {
      for (std::size_t i = k; i < n_; ++i) std::fill(block.residuals[i], block.residuals[i] + width, rotated_[r][i]);
      reflect_each(block, k, width);
      std::fill(block.residuals[k], block.residuals[k] + width, 0.0);
      reflect_each(block, k, width);
      add_squares(block, width);
    }
  }
  for (std::size_t c = 0; c < width; ++c)
    if (!is_independent(block, c)) block.rss[c] = model_rss;
}

}  // namespace earthdof
