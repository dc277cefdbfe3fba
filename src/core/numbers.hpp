// Maximum and minimum of two numbers, without the NaN handling of the library.
#pragma once

namespace earthdof {

inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }

}  // namespace earthdof
