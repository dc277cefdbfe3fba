// What depends on X alone.
#pragma once

#include <cstdint>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Predictors as rows, so that every loop over cases walks contiguous memory. Places in the descending order name
// the knots: place 0 is the largest x. Ties keep the later case first, the mirror image of earth's stable ascending
// order. X itself is not kept: it follows from these.
struct Design {
  std::size_t n, p;
  Table<std::uint32_t> order;  // cases by descending x
  Table<double> sorted;        // descending
  Buffer<double> mean_square;

  // X has its columns `column_stride` apart and its rows `row_stride`, counted in numbers.
  Design(const double* X, std::size_t n, std::size_t p, std::size_t row_stride, std::size_t column_stride, Team& team);

  // Predictor j by case.
  void column(std::size_t j, double* x) const {
    for (std::size_t place = 0; place < n; ++place) x[order[j][place]] = sorted[j][place];
  }
  double top(std::size_t j) const { return sorted[j][0]; }
  double low(std::size_t j) const { return sorted[j][n - 1]; }
  double reach(std::size_t j) const;  // largest |x|
};

}  // namespace earthdof
