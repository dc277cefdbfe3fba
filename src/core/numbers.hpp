// The larger and the smaller of two numbers, without the library's care for NaN.
#pragma once

namespace earthdof {

inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }

}  // namespace earthdof
