// Least squares by Householder reflections in R's order of operations.
//
// R's QR drops a column as dependent if its norm, updated after each reflection, falls below 1e-8 of the initial norm.
// Later columns do not change earlier reflections, so the model is factored once and candidates are appended one at a
// time. Each sum runs over the cases in order and must not be re-associated or fused: then every RSS equals R's to the
// last bit, and ties are resolved as in R.
//
// A *block* stores columns side by side, one row per case. The sums of its columns are computed simultaneously, which
// uses vector instructions and preserves the order of each sum.
#pragma once

#include <vector>

#include "../core/buffer.hpp"

namespace earthdof {

// Columns that are reflected together, with their statistics.
struct Block {
  static constexpr std::size_t kWidth = 32;

  Table<double> columns, residuals;  // (n, kWidth)
  double norm[kWidth];               // initial norm of the column
  double left[kWidth];               // norm of its residual
  double pivot[kWidth];              // diagonal element of the triangle
  double rss[kWidth];

  explicit Block(std::size_t n) : columns(n, kWidth), residuals(n, kWidth) {}
};

// Apply a reflection, whose first k elements are zero, to `width` columns of a block.
void reflect(const double* reflection, std::size_t k, Table<double>& columns, std::size_t width);

// Regression of the responses on the columns so far.
class Factored {
 public:
  Factored(std::size_t capacity, std::size_t n_resp, std::size_t n);

  // Start without columns.
  void start(Rows<const double> y);
  // Add the first column of the block; false if it depends on earlier ones. Its coefficients are stored in the block:
  // rows below the new column, and the pivot.
  bool extend(Block& block);
  // RSS of the responses on the columns so far.
  double rss(Block& block) const;
  // RSS with each of `width` columns of the block added separately, into `block.rss`. Dependent columns do not change
  // it. The columns are overwritten.
  void rss_of_candidates(Block& block, std::size_t width, double model_rss) const;
  // Write the residuals of response r to the first column of `block.residuals`; add their squares to `block.rss[0]`.
  void residuals(std::size_t r, Block& block) const;
  // Continue from another model; further columns can be added up to the capacity.
  void continue_from(const Factored& other);

  std::size_t size() const { return reflections_.size(); }
  const std::vector<const double*>& reflections() const { return reflections_; }
  const double* rotated(std::size_t r) const { return rotated_[r]; }

 private:
  void reduce(Block& block, std::size_t width) const;
  static bool is_independent(const Block& block, std::size_t c);
  void add_squares(Block& block, std::size_t width) const;

  std::size_t n_, own_size_ = 0;
  Table<double> own_;                       // own reflections; row k leaves the first k cases unchanged
  std::vector<const double*> reflections_;  // all reflections, including those of the continued model
  Table<double> rotated_;                   // the responses after the reflections
};

}  // namespace earthdof
