// Fits of many responses on one design, in parallel threads.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"
#include "design.hpp"
#include "forward.hpp"
#include "terms.hpp"

namespace earthdof {

struct ManyOptions {
  Settings settings;
  std::vector<std::size_t> linpreds;
  bool scaled;                      // responses are scaled before the forward pass
  bool pruned;                      // backward, otherwise not at all
  std::size_t nprune;               // maximum number of terms
  const double* weights = nullptr;  // case weights, null if all are equal
};

// Fitted values and numbers of terms of each row of Y.
void fit_many(const Design& design, const ManyOptions& options, Rows<const double> Y, Rows<double> fitted,
              std::int64_t* n_terms, Team& team);

// Unpruned fits after each of the numbers of steps in `steps`, from one forward pass per row of Y. `fitted` and
// `n_terms` have one row for each response and number of steps.
void fit_paths(const Design& design, const ManyOptions& options, Rows<const double> Y,
               const std::vector<std::size_t>& steps, Rows<double> fitted, std::int64_t* n_terms, Team& team);

// Forward pass and backward pruning of each row of Y: RSS of the best subset of each size 1, 2, ..., nk and, unless Z
// has no rows, the products of its fit with the directions Z; with case weights, the fit is multiplied by their roots.
// Sizes that a pass does not reach repeat its largest fit, whose size is in `n_terms`.
void fit_sizes(const Design& design, const ManyOptions& options, Rows<const double> Y, Rows<const double> Z,
               Rows<double> rss, Rows<double> products, std::int64_t* n_terms, Team& team);

// RSS of the intercept-only model, with case weights and in earth's order of summation.
double weighted_null_rss(Rows<const double> Y, const double* weights);

// Standardise y with the rounding of R's scale(): sums in extended precision, in the order of the cases. A constant
// response is unchanged. Returns the divisor, 0 for a constant response.
double scale_response(const double* y, std::size_t n, double* scaled);

}  // namespace earthdof
