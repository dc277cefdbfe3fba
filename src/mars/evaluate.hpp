// The terms of a fitted model at new cases.
#pragma once

#include <cstddef>

#include "../core/buffer.hpp"

namespace earthdof {

// Cases by columns, anywhere in memory; the strides count numbers.
struct CaseTable {
  const double* data;
  std::size_t n, p;
  std::ptrdiff_t row_stride, column_stride;
};

// Each term is the product of its factors in column order: a row of `dirs` and `cuts` says which they are. Row i of
// `out` has all terms of case i. The operations are those of R's predict, so that infinities and NaN come out as there.
void evaluate_terms(const CaseTable& X, const Rows<const double>& dirs, const Rows<const double>& cuts,
                    const Rows<double>& out);

}  // namespace earthdof
