// The lasso by an active-set method: min ||z - sum_j beta_j column_j||^2 / 2 + sum_j half_j |beta_j|.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Solves for decreasing penalties, each from the previous solution. Columns are stored as rows of length one.
class LassoPath {
 public:
  explicit LassoPath(Rows<const double> columns);

  // Move to the minimum for other penalties; false if it does not converge.
  bool minimise(const double* z, const double* half);
  const std::vector<double>& beta() const { return beta_; }

 private:
  void settle(const double* z, const double* half);
  void enter(std::size_t j);
  bool factorise(const double* column);
  void leave(std::size_t position);
  void back_substitute(std::vector<double>& b) const;

  Rows<const double> columns_;
  std::vector<double> beta_, sign_;
  std::vector<char> blocked_;
  std::vector<std::size_t> active_;  // columns in the model
  // The rows of q are orthonormal directions, and column active[i] is the sum over l of t[l][i] q[l], t upper
  // triangular.
  Table<double> q_, t_;
};

// One solution for every row of `responses`; row j of `half` holds lam/2 of each coefficient. True if all converged.
bool solve_lassos(Rows<const double> columns, Rows<const double> responses, Rows<const double> half,
                  Rows<double> solutions, Team& team);
// Solutions of one response for each row of `half`.
bool solve_lasso_path(Rows<const double> columns, const double* z, Rows<const double> half, Rows<double> solutions,
                      Team& team);

}  // namespace earthdof
