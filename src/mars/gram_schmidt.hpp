// Gram-Schmidt orthogonalisation, with sums in any order.
#pragma once

#include "../core/buffer.hpp"

namespace earthdof {

// Orthogonalise `column` to rows 0..k-1 of q, again if the residual is small; returns the squared norm of the residual.
// The coefficients are accumulated in `coefficients`.
double orthogonalise(const Table<double>& q, std::size_t k, double* column, double* coefficients);

}  // namespace earthdof
