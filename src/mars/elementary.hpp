// Elementary functions of the C library, evaluated one value at a time. numpy's versions differ in the last bit, which
// a generalised linear model amplifies if a mean is close to 1.
#pragma once

#include <string>

namespace earthdof {

using Elementary = double (*)(double);

// exp, expm1, log, log1p, log2, log10, sin, cos, tan, atan, normal (the normal distribution), normal_quantile or
// normal_density; null for another name.
Elementary find_elementary(const std::string& name);

// R's base^exponent.
double power(double base, double exponent);

}  // namespace earthdof
