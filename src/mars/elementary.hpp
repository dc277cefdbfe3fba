// Elementary functions by the C library, one value after the other. numpy's own round otherwise in the last bit, and
// where a mean is close to 1 a generalised linear model multiplies that bit by what is left of 1.
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
