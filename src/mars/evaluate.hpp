// Evaluation of the terms of a fitted model at new cases.
#pragma once

#include <cstddef>

#include "../core/buffer.hpp"

namespace earthdof {

// Table of cases by columns with arbitrary strides, in numbers.
struct CaseTable {
  const double* data;
  std::size_t n, p;
  std::ptrdiff_t row_stride, column_stride;
};

// Each term is the product of its factors in column order, given by a row of `dirs` and `cuts`. Row i of `out` contains
// all terms of case i. The operations are those of R's predict, so infinities and NaN agree with R.
void evaluate_terms(const CaseTable& X, const Rows<const double>& dirs, const Rows<const double>& cuts,
                    const Rows<double>& out);

}  // namespace earthdof
