// Least squares by Householder reflections in R's order of operations.
//
// R's QR drops a column as dependent when its norm, brought up to date after each reflection, falls below 1e-8 of what
// it was, and goes on with the next one. Columns that come later do not change earlier reflections, so the model is
// factored once and candidates join it one at a time. Each sum runs over the cases in their order and must not be
// re-associated or fused: then every RSS is R's to the last bit, and ties fall as they do in R.
//
// A *block* holds columns side by side, a row per case. The sums of its columns run in step, which uses vector
// instructions without a change to the order in any of them.
#pragma once

#include <vector>

#include "../core/buffer.hpp"

namespace earthdof {

// Columns that are reflected together, and what belongs to each of them.
struct Block {
  static constexpr std::size_t kWidth = 32;

  Table<double> columns, residuals;  // (n, kWidth)
  double norm[kWidth];               // of the column as it came
  double left[kWidth];               // norm of what the model leaves of it
  double pivot[kWidth];              // diagonal element of the triangle
  double rss[kWidth];

  explicit Block(std::size_t n) : columns(n, kWidth), residuals(n, kWidth) {}
};

// Apply the reflection, whose first k elements are zero, to `width` columns of a block.
void reflect(const double* reflection, std::size_t k, Table<double>& columns, std::size_t width);

// The regression of responses on the columns so far.
class Factored {
 public:
  Factored(std::size_t capacity, std::size_t n_resp, std::size_t n);

  // Begin without columns.
  void start(Rows<const double> y);
  // Add the first column of the block; false if it depends on those before. Its coefficients are left in the block:
  // rows below the new column, and the pivot.
  bool extend(Block& block);
  // RSS of the responses on the columns so far.
  double rss(Block& block) const;
  // RSS with each of `width` columns of the block in turn, into `block.rss`. A dependent column changes nothing. The
  // columns are overwritten.
  void rss_of_candidates(Block& block, std::size_t width, double model_rss) const;
  // Residuals of response r into the first column of `block.residuals`; adds their squares to `block.rss[0]`.
  void residuals(std::size_t r, Block& block) const;
  // Become a copy of another model, which may then take as many columns more as there is capacity for.
  void continue_from(const Factored& other);

  std::size_t size() const { return reflections_.size(); }
  const std::vector<const double*>& reflections() const { return reflections_; }
  const double* rotated(std::size_t r) const { return rotated_[r]; }

 private:
  void reduce(Block& block, std::size_t width) const;
  static bool is_independent(const Block& block, std::size_t c);
  void add_squares(Block& block, std::size_t width) const;

  std::size_t n_, own_size_ = 0;
  Table<double> own_;                       // reflections of this model; a row leaves as many first cases alone
  std::vector<const double*> reflections_;  // all, those of a model that this one continues among them
  Table<double> rotated_;                   // the responses after the reflections
};

}  // namespace earthdof
