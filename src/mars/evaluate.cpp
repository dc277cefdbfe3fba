#include "evaluate.hpp"

#include <algorithm>
#include <vector>

namespace earthdof {

namespace {

constexpr std::size_t kBlock = 128;  // cases evaluated together, without a branch per case

struct Factor {
  std::size_t column;
  double direction, cut;
};

}  // namespace

void evaluate_terms(const CaseTable& X, const Rows<const double>& dirs, const Rows<const double>& cuts,
                    const Rows<double>& out) {
  std::vector<Factor> factors;
  std::vector<std::size_t> ends(dirs.rows);  // end of the factors of each term
  for (std::size_t t = 0; t < dirs.rows; ++t) {
    for (std::size_t j = 0; j < X.p; ++j)
      if (dirs[t][j] != 0.0) factors.push_back({j, dirs[t][j], cuts[t][j]});
    ends[t] = factors.size();
  }
  double values[kBlock];
  for (std::size_t first = 0; first < X.n; first += kBlock) {
    const std::size_t size = std::min(kBlock, X.n - first);
    const double* block = X.data + static_cast<std::ptrdiff_t>(first) * X.row_stride;
    std::size_t next = 0;
    for (std::size_t t = 0; t < dirs.rows; ++t) {
      std::fill(values, values + size, 1.0);
      for (; next < ends[t]; ++next) {
        const Factor factor = factors[next];
        const double* x = block + static_cast<std::ptrdiff_t>(factor.column) * X.column_stride;
        if (factor.direction == 2.0) {
          for (std::size_t i = 0; i < size; ++i) values[i] *= x[static_cast<std::ptrdiff_t>(i) * X.row_stride];
          continue;
        }
        for (std::size_t i = 0; i < size; ++i) {
          const double hinge = factor.direction * (x[static_cast<std::ptrdiff_t>(i) * X.row_stride] - factor.cut);
          values[i] *= hinge;  // multiply before testing the sign, as in R: infinity times 0 is NaN
          values[i] *= hinge > 0.0 ? 1.0 : 0.0;
        }
      }
      double* column = out.data + first * out.width + t;
      for (std::size_t i = 0; i < size; ++i) column[i * out.width] = values[i] + 0.0;  // no -0.0
    }
  }
}

}  // namespace earthdof
