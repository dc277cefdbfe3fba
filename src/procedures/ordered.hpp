// Least squares with ordered coefficients: min g'Hg/2 - b'g under g_1 <= ... <= g_J, H banded.
//
// Equal neighbours form a block, and g is constant on blocks: g = G'v with the paper's matrix G. The solver is the
// active-set method of Lawson and Hanson for the increments of g. It starts with a single block, splits where the
// gradient requires it, solves for the values of the blocks (a banded system with one row per block), and joins blocks
// that would violate the order. It reaches the exact solution in finitely many steps, even if H is singular.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

struct OrderedSolution {
  std::int64_t n_unique;  // blocks
  double trace;           // tr[(G H G')^-1 G gram G'], which is tr(S(y))
  bool solved;            // false if it did not converge
};

// Write the solution for each row of B to a row of `coef`; H and gram are upper bands.
void solve_ordered(Rows<const double> H, Rows<const double> gram, Rows<const double> B, Rows<double> coef,
                   std::vector<OrderedSolution>& solutions, Team& team);

}  // namespace earthdof
