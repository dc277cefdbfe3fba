// Gram-Schmidt with sums whose order does not matter.
#pragma once

#include "../core/buffer.hpp"

namespace earthdof {

// Take rows 0..k-1 of q out of `column`, again if little is left; returns what is left of its square. The coefficients
// are collected in `coefficients`.
double orthogonalise(const Table<double>& q, std::size_t k, double* column, double* coefficients);

}  // namespace earthdof
