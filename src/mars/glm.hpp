// Loops of generalised linear models, with the rounding of R.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Coefficients of `target` on the rows of `columns`, cases times `root`, by R's Householder QR. Empty if a column
// depends on earlier ones.
std::vector<double> solve_reweighted(Rows<const double> columns, const double* root, const double* target,
                                     double tolerance, Team& team);

// Mean of a binomial response given its log-odds, and its derivative, both bounded away from their limits as in R.
double logistic(double eta);
double logistic_slope(double eta);

// Contribution of one case to the deviance of a binomial model.
double binomial_deviance(double y, double mean, double weight);

}  // namespace earthdof
