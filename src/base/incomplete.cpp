#include "base/incomplete.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

#include "base/special.hpp"

namespace bayes {
namespace {

namespace math = boost::math;

// No promotion to long double, as in special.cpp. What underflows is 0.
using IncompletePolicy =
    math::policies::policy<math::policies::promote_double<false>,
                           math::policies::overflow_error<math::policies::ignore_error>,
                           math::policies::underflow_error<math::policies::ignore_error>>;
using Student = math::students_t_distribution<double, IncompletePolicy>;
constexpr IncompletePolicy policy;

/// What f() finds; NaN where Boost.Math gives up.
template <class F> double found(F f) {
  try {
    return f();
  } catch (const std::exception &) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

/// Beyond these Boost.Math takes long, or forever: its inverses, and its continued fractions.
constexpr double large_shape = 1e8, largest_other = 1e12;

/// A gamma variable of a large shape: the root of x / shape is nearly normal (Wilson and Hilferty
/// 1931).
struct LargeGamma {
  double shape;
  double deviate(double x) const {
    return (std::cbrt(x / shape) - 1 + 1 / (9 * shape)) * 3 * std::sqrt(shape);
  }
  double below(double x) const { return normal_below(deviate(x)); }
  double above(double x) const { return normal_below(-deviate(x)); }
  double quantile(double p) const { return at(normal_quantile(p)); }
  double upper_quantile(double p) const { return at(-normal_quantile(p)); }
  double at(double z) const {
    const double root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
    return shape * root * root * root;
  }
};

/// Two large shapes: the same for a ratio of gamma variables (Paulson 1942).
struct LargeBeta {
  double a, b;
  double deviate(double x) const {
    const double root = std::cbrt(x / a * (b / (1 - x)));
    return ((1 - small(b)) * root - (1 - small(a))) / std::sqrt(small(b) * root * root + small(a));
  }
  double quantile(double p) const {
    const double z = normal_quantile(p), u = 1 - small(a), v = 1 - small(b),
                 root = (u * v + z * std::sqrt(u * u * small(b) + v * v * small(a) -
                                               z * z * small(a) * small(b))) /
                        (v * v - z * z * small(b)),
                 odds = root * root * root * (a / b);
    return odds / (1 + odds);
  }
  static double small(double shape) { return 1 / (9 * shape); }
};

/// Shapes so small that a probability is 0 or 1 for all that a double can tell.
bool two_valued(double a, double b) { return a + b < 1e-10; }

}  // namespace

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double gamma_below(double shape, double x) {
  if (std::isinf(x)) return 1;
  if (shape > large_shape) return LargeGamma{shape}.below(x);
  return found([&] { return math::gamma_p(shape, x, policy); });
}

double gamma_above(double shape, double x) {
  if (std::isinf(x)) return 0;
  if (shape > large_shape) return LargeGamma{shape}.above(x);
  return found([&] { return math::gamma_q(shape, x, policy); });
}

double gamma_quantile(double shape, double p) {
  if (shape > large_shape) return LargeGamma{shape}.quantile(p);
  return found([&] { return math::gamma_p_inv(shape, p, policy); });
}

double upper_gamma_quantile(double shape, double p) {
  if (shape > large_shape) return LargeGamma{shape}.upper_quantile(p);
  return found([&] { return math::gamma_q_inv(shape, p, policy); });
}

// Of a beta variable one of whose shapes is beyond comparison with the other, the probability that
// has the small one is a gamma variable over the large one.

double beta_below(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (two_valued(a, b)) return b / (a + b);
  if (std::min(a, b) > large_shape) return normal_below(LargeBeta{a, b}.deviate(x));
  if (b > largest_other) return gamma_below(a, x * b);
  if (a > largest_other) return gamma_above(b, (1 - x) * a);
  return found([&] { return math::ibeta(a, b, x, policy); });
}

double beta_above(double a, double b, double x) {
  if (x <= 0) return 1;
  if (x >= 1) return 0;
  if (two_valued(a, b)) return a / (a + b);
  if (std::min(a, b) > large_shape) return normal_below(-LargeBeta{a, b}.deviate(x));
  if (b > largest_other) return gamma_above(a, x * b);
  if (a > largest_other) return gamma_below(b, (1 - x) * a);
  return found([&] { return math::ibetac(a, b, x, policy); });
}

double beta_quantile(double a, double b, double p) {
  if (two_valued(a, b)) return p > b / (a + b);
  if (std::min(a, b) > large_shape) return LargeBeta{a, b}.quantile(p);
  if (b > largest_other) return gamma_quantile(a, p) / b;
  if (a > largest_other) return 1 - upper_gamma_quantile(b, p) / a;
  return found([&] { return math::ibeta_inv(a, b, p, policy); });
}

double student_below(double degrees, double x) {
  // Its square would overflow; of the density's tail |x|^-(degrees + 1) is left.
  if (std::fabs(x) > 1e150) {
    const double tail = std::exp(degrees / 2 * std::log(degrees) -
                                 degrees * std::log(std::fabs(x)) - log_beta(degrees / 2, 0.5)) /
                        degrees;
    return x < 0 ? tail : 1 - tail;
  }
  return found([&] { return math::cdf(Student(degrees), x); });
}

double student_quantile(double degrees, double p) {
  return found([&] { return math::quantile(Student(degrees), p); });
}

}  // namespace bayes
