// The loops of generalised linear models, rounded as R rounds them.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Coefficients of `target` on the rows of `columns`, each case times its `root`, by R's Householder QR. None if a
// column depends on those before it.
std::vector<double> solve_reweighted(Rows<const double> columns, const double* root, const double* target,
                                     double tolerance, Team& team);

// The mean of a binomial response by its log-odds, and the derivative of it; both stay off their limits as R's do.
double logistic(double eta);
double logistic_slope(double eta);

// What one case adds to the deviance of a binomial model.
double binomial_deviance(double y, double mean, double weight);

}  // namespace earthdof
