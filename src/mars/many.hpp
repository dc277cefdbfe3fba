// Many responses on one design, by threads of their own.
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
  bool pruned;                      // backward, else not at all
  std::size_t nprune;               // most terms
  const double* weights = nullptr;  // of the cases, none if all are equal
};

// Fitted values and numbers of terms of each row of Y.
void fit_many(const Design& design, const ManyOptions& options, Rows<const double> Y, Rows<double> fitted,
              std::int64_t* n_terms, Team& team);

// Unpruned fits after each of the numbers of steps in `steps`, from one forward pass for each row of Y. `fitted` has a
// row for each response and number of steps, and so has `n_terms`.
void fit_paths(const Design& design, const ManyOptions& options, Rows<const double> Y,
               const std::vector<std::size_t>& steps, Rows<double> fitted, std::int64_t* n_terms, Team& team);

// Forward pass and backward pruning of each row of Y: the RSS of the best subset of each size 1, 2, ..., nk, and where
// there are directions Z (else no rows) the products of its fit with them; with case weights, those of the fit times
// their roots. Sizes that a pass does not reach repeat its
// longest fit; `n_terms` says how long that is.
void fit_sizes(const Design& design, const ManyOptions& options, Rows<const double> Y, Rows<const double> Z,
               Rows<double> rss, Rows<double> products, std::int64_t* n_terms, Team& team);

// RSS of the intercept alone, with case weights and in earth's order of sums.
double weighted_null_rss(Rows<const double> Y, const double* weights);

// y less its mean over its standard deviation, as R's scale() rounds: sums in extended precision, one case after the
// other. A constant response stays as it is. Returns the divisor, 0 for a constant response.
double scale_response(const double* y, std::size_t n, double* scaled);

}  // namespace earthdof
