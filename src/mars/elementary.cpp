#include "elementary.hpp"

#include <cmath>
#include <limits>

#include "../random/normals.hpp"

namespace earthdof {

namespace {

constexpr double kInverseRoot2Pi = 0.398942280401432677939946059934;
constexpr double kRoot32 = 5.656854249492380195206754896838;
constexpr double kMiddle = 0.67448975;

// exp(-y^2/2) without rounding the square.
double bell(double y) {
  const double head = std::trunc(y * 16) / 16, rest = (y - head) * (y + head);
  return std::exp(-head * head * 0.5) * std::exp(-rest * 0.5);
}

// P(Z <= x) by the rational approximations of Cody (1969), Mathematics of Computation 23, 631-637.
double normal(double x) {
  static const double a[] = {2.2352520354606839287, 161.02823106855587881, 1067.6894854603709582, 18154.981253343561249,
                             .065682337918207449113};
  static const double b[] = {47.20258190468824187, 976.09855173777669322, 10260.932208618978205, 45507.789335026729956};
  static const double c[] = {.39894151208813466764, 8.8831497943883759412, 93.506656132177855979,
                             597.27027639480026226, 2494.5375852903726711, 6848.1904505362823326,
                             11602.651437647350124, 9842.7148383839780218, 1.0765576773720192317e-8};
  static const double d[] = {22.266688044328115691, 235.38790178262499861, 1519.377599407554805,
                             6485.558298266760755,  18615.571640885098091, 34900.952721145977266,
                             38912.003286093271411, 19685.429676859990727};
  static const double p[] = {.21589853405795699,     .1274011611602473639,  .022235277870649807,
                             .001421619193227893466, 2.9112874951168792e-5, .02307344176494017303};
  static const double q[] = {1.28426009614491121, .468238212480865118, .0659881378689285515, .00378239633202758244,
                             7.29751555083966205e-5};
  if (std::isnan(x)) return x;
  const double y = std::fabs(x);
  double top, bottom;
  if (y <= kMiddle) {
    const double square = y > 1.11e-16 ? x * x : 0.0;
    top = a[4] * square;
    bottom = square;
    for (int i = 0; i < 3; ++i) {
      top = (top + a[i]) * square;
      bottom = (bottom + b[i]) * square;
    }
    return 0.5 + x * (top + a[3]) / (bottom + b[3]);
  }
  double tail;
  if (y <= kRoot32) {
    top = c[8] * y;
    bottom = y;
    for (int i = 0; i < 7; ++i) {
      top = (top + c[i]) * y;
      bottom = (bottom + d[i]) * y;
    }
    tail = bell(y) * ((top + c[7]) / (bottom + d[7]));
  } else {
    const double inverse = 1.0 / (x * x);
    top = p[5] * inverse;
    bottom = inverse;
    for (int i = 0; i < 4; ++i) {
      top = (top + p[i]) * inverse;
      bottom = (bottom + q[i]) * inverse;
    }
    const double part = inverse * (top + p[4]) / (bottom + q[4]);
    tail = bell(y) * ((kInverseRoot2Pi - part) / y);
  }
  return x > 0 ? 1 - tail : tail;
}

// Inverse of `normal`; NaN outside [0, 1].
double quantile(double p) {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0 || p == 1) return std::copysign(std::numeric_limits<double>::infinity(), p - 0.5);
  return normal_quantile(p);
}

double normal_density(double x) {
  x = std::fabs(x);
  if (x < 5) return kInverseRoot2Pi * std::exp(-0.5 * x * x);
  if (!(x < 39)) return std::isnan(x) ? x : 0.0;
  const double head = std::ldexp(std::nearbyint(std::ldexp(x, 16)), -16), rest = x - head;
  return kInverseRoot2Pi * (std::exp(-0.5 * head * head) * std::exp((-0.5 * rest - head) * rest));
}

}  // namespace

double power(double base, double exponent) {
  if (exponent == 2) return base * base;
  if (base == 1 || exponent == 0) return 1.0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (base == 0) return exponent > 0 ? 0.0 : exponent < 0 ? infinity : exponent;
  if (base < 0 && std::isinf(exponent)) return std::numeric_limits<double>::quiet_NaN();
  if (base == -infinity) {
    if (exponent != std::floor(exponent)) return std::numeric_limits<double>::quiet_NaN();
    return exponent < 0 ? 0.0 : std::fmod(exponent, 2) != 0 ? base : -base;
  }
  return std::pow(base, exponent);
}

Elementary find_elementary(const std::string& name) {
  if (name == "exp") return std::exp;
  if (name == "expm1") return std::expm1;
  if (name == "log") return std::log;
  if (name == "log1p") return std::log1p;
  if (name == "log2") return std::log2;
  if (name == "log10") return std::log10;
  if (name == "sin") return std::sin;
  if (name == "cos") return std::cos;
  if (name == "tan") return std::tan;
  if (name == "atan") return std::atan;
  if (name == "normal") return normal;
  if (name == "normal_quantile") return quantile;
  if (name == "normal_density") return normal_density;
  return nullptr;
}

}  // namespace earthdof
