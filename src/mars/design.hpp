// Quantities that depend on X alone.
#pragma once

#include <cstdint>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Predictors as rows, so that loops over cases access contiguous memory. Knots are identified by places in descending
// order: place 0 is the largest x. Among ties, later cases come first, the mirror image of earth's stable ascending
// order. X itself is not stored: it can be recovered from these.
struct Design {
  std::size_t n, p;
  Table<std::uint32_t> order;  // cases by descending x
  Table<double> sorted;        // descending
  Buffer<double> mean_square;

  // Columns of X are `column_stride` numbers apart, rows `row_stride`.
  Design(const double* X, std::size_t n, std::size_t p, std::size_t row_stride, std::size_t column_stride, Team& team);

  // Predictor j in the order of the cases.
  void column(std::size_t j, double* x) const {
    for (std::size_t place = 0; place < n; ++place) x[order[j][place]] = sorted[j][place];
  }
  double top(std::size_t j) const { return sorted[j][0]; }
  double low(std::size_t j) const { return sorted[j][n - 1]; }
  double reach(std::size_t j) const;  // largest |x|
};

}  // namespace earthdof
