// Least squares with ordered coefficients: min g'Hg/2 - b'g under g_1 <= ... <= g_J, H banded.
//
// Where neighbours are equal they form a block, and g is piecewise constant on blocks: g = G'v with the paper's matrix
// G. The solver is the active-set method of Lawson and Hanson for the increments of g: it starts from a single block,
// splits where the gradient asks for it, solves for the values of the blocks (a banded system again, one row for each
// block), and joins blocks whose order would be violated. It ends at the exact solution after finitely many steps, also
// where H is singular.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

struct OrderedSolution {
  std::int64_t n_unique;  // blocks
  double trace;           // tr[(G H G')^-1 G gram G'], which is tr(S(y))
  bool solved;            // false if the steps did not end
};

// One solution for every row of B into the rows of `coef`; H and gram are upper bands.
void solve_ordered(Rows<const double> H, Rows<const double> gram, Rows<const double> B, Rows<double> coef,
                   std::vector<OrderedSolution>& solutions, Team& team);

}  // namespace earthdof
