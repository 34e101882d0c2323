#include "base/incomplete.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

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

/// Above it Boost.Math loses digits, and its inverses and continued fractions take long, or
/// forever.
constexpr double large_shape = 3e4;
/// One shape of a beta variable is beyond comparison with the other.
constexpr double largest_other = 1e12;

/// Gamma and beta variables of large shapes, by N. M. Temme's uniform expansions (1979; 1987), of
/// which three terms are left.
///
/// Of a gamma variable let alpha = 1 / sqrt(shape), beta = 0, of a beta variable alpha^2 = b / (a
/// n) and beta^2 = a / (b n), n = a + b. At u standard deviations, sqrt(shape) and sqrt(a b / n^3),
/// from the mean the density is that of a standard normal variable at Z, but for a factor, where
/// Z^2 = u^2 (1 - u k): with q_1 = alpha - beta and q_j = alpha^j - alpha^(j-1) beta + ...,
/// k = 2 (q_1 / 3 - u q_2 / 4 + u^2 q_3 / 5 - ...).
class NearlyNormal {
 public:
  static NearlyNormal gamma(double shape) { return {1 / std::sqrt(shape), 0}; }
  static NearlyNormal beta(double a, double b) {
    return {1 / std::sqrt(a * (1 + a / b)), 1 / std::sqrt(b * (1 + b / a))};
  }
  double below(double u) const { return probability(u, 1); }
  double above(double u) const { return probability(u, -1); }

  /// u with probability p below it, or above it
  double quantile(double p) const { return inverse(p, 1); }
  double upper_quantile(double p) const { return inverse(p, -1); }

 private:
  NearlyNormal(double alpha, double beta) : alpha_(alpha), beta_(beta) {}

  /// Any u that does not make `probability` 0 or 1.
  double skew(double u) const {
    const double p = alpha_ - beta_, q = alpha_ * beta_,
                 ratio = std::fabs(u) * std::max(alpha_, beta_);
    double before = 1, now = p, power = 1, sum = 0, size = 1;
    for (int j = 1; size > 1e-18; ++j, size *= ratio) {
      sum += 2 * power * now / (j + 2);
      power *= -u;
      before = std::exchange(now, p * now + q * before);
    }
    return sum;
  }

  /// normal_below(side Z), and what is missing: the density at Z times 1 / Z - 1 / u and, where u
  /// is small, the next term of the expansion.
  double probability(double u, int side) const {
    // beyond 1 in 10^300
    if (!(std::fabs(u) * std::max(alpha_, beta_) < 0.3)) return side * u > 0;
    const double p = alpha_ - beta_, q = alpha_ * beta_, p2 = p * p;
    const double k = skew(u), root = std::sqrt(1 - u * k), z = u * root;
    const double first = k / (root * (1 + root));
    const double second = p * (p2 / 540 + q / 20) + u * (p2 * (p2 / 288 + q / 48) + q * q / 32) -
                          u * u * p * (p2 * (p2 * 23 / 6048 + q * 3 / 112) + q * q * 31 / 672);
    return std::clamp(normal_below(side * z) + side * normal_density(z) * (first + second), 0.0,
                      1.0);
  }

  static double normal_density(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }

  /// Where z = Z + log(u / Z) / Z for the normal quantile z; then two steps of Newton's, with the
  /// density of Z and dZ / du.
  double inverse(double p, int side) const {
    const double z = side * normal_quantile(p);
    double u = z;
    for (int i = 0; i < 20; ++i) {
      const double k = skew(u), root = std::sqrt(1 - u * k),
                   shift = std::fabs(u * k) < 1e-8 ? k / 2 : -std::log1p(-u * k) / (2 * u),
                   next = (z - shift / root) / root;
      if (std::fabs(next - u) <= 1e-16 * std::fabs(next)) break;
      u = next;
    }
    for (int i = 0; i < 2; ++i) {
      const double root = std::sqrt(1 - u * skew(u)),
                   slope = normal_density(u * root) / (root * (1 + u * alpha_) * (1 - u * beta_));
      u -= side * (probability(u, side) - p) / slope;
    }
    return u;
  }

  double alpha_, beta_;
};

/// Standard deviations from the mean to x + rest, of a gamma variable.
double gamma_deviate(double shape, double x, double rest) {
  return (x - shape + rest) / std::sqrt(shape);
}

/// The same of a beta variable and x: from b x - a (1 - x), without what rounding takes away.
double beta_deviate(double a, double b, double x) {
  const double y = 1 - x, rest = (1 - y) - x, product = a * y,
               difference = std::fma(b, x, -product) + std::fma(-a, y, product) - a * rest;
  return difference * std::sqrt(1 / a + 1 / b);
}

/// Shapes so small that a probability is 0 or 1 for all that a double can tell.
bool two_valued(double a, double b) { return a + b < 1e-10; }

}  // namespace

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double gamma_below(double shape, double x, double rest) {
  if (std::isinf(x)) return 1;
  if (shape > large_shape) return NearlyNormal::gamma(shape).below(gamma_deviate(shape, x, rest));
  return found([&] { return math::gamma_p(shape, x, policy); });
}

double gamma_above(double shape, double x, double rest) {
  if (std::isinf(x)) return 0;
  if (shape > large_shape) return NearlyNormal::gamma(shape).above(gamma_deviate(shape, x, rest));
  return found([&] { return math::gamma_q(shape, x, policy); });
}

double gamma_quantile(double shape, double p) {
  if (shape > large_shape) return shape + std::sqrt(shape) * NearlyNormal::gamma(shape).quantile(p);
  return found([&] { return math::gamma_p_inv(shape, p, policy); });
}

double upper_gamma_quantile(double shape, double p) {
  if (shape > large_shape)
    return shape + std::sqrt(shape) * NearlyNormal::gamma(shape).upper_quantile(p);
  return found([&] { return math::gamma_q_inv(shape, p, policy); });
}

// Of a q ~ Beta(a, b) with b beyond comparison with a, -log(1 - q) (b + (a - 1) / 2) is a gamma
// variable (Wise 1950), but for (a / b)^2 / 24 of itself.

double beta_below(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (two_valued(a, b)) return b / (a + b);
  if (std::min(a, b) > large_shape) return NearlyNormal::beta(a, b).below(beta_deviate(a, b, x));
  if (b > largest_other) return gamma_below(a, -std::log1p(-x) * (b + (a - 1) / 2));
  if (a > largest_other) return gamma_above(b, -std::log(x) * (a + (b - 1) / 2));
  return found([&] { return math::ibeta(a, b, x, policy); });
}

double beta_above(double a, double b, double x) {
  if (x <= 0) return 1;
  if (x >= 1) return 0;
  if (two_valued(a, b)) return a / (a + b);
  if (std::min(a, b) > large_shape) return NearlyNormal::beta(a, b).above(beta_deviate(a, b, x));
  if (b > largest_other) return gamma_above(a, -std::log1p(-x) * (b + (a - 1) / 2));
  if (a > largest_other) return gamma_below(b, -std::log(x) * (a + (b - 1) / 2));
  return found([&] { return math::ibetac(a, b, x, policy); });
}

double beta_quantile(double a, double b, double p) {
  if (two_valued(a, b)) return p > b / (a + b);
  if (std::min(a, b) > large_shape) {
    // x = (a + difference) / (a + b)
    const double u = NearlyNormal::beta(a, b).quantile(p);
    return (1 + u / std::sqrt(a * (1 + a / b))) / (1 + b / a);
  }
  if (b > largest_other) return -std::expm1(-gamma_quantile(a, p) / (b + (a - 1) / 2));
  if (a > largest_other) return std::exp(-upper_gamma_quantile(b, p) / (a + (b - 1) / 2));
  return found([&] { return math::ibeta_inv(a, b, p, policy); });
}

namespace {

/// Of so many widths |x| the tail of Student's distribution is a power of it, |x|^-degrees, for all
/// that doubles can tell.
constexpr double far_out = 1e8;

/// log of what the probability beyond x is times x^degrees there
double log_tail(double degrees) {
  return degrees / 2 * std::log(degrees) - log_beta(degrees / 2, 0.5) - std::log(degrees);
}

}  // namespace

double student_below(double degrees, double x) {
  // Its square would overflow.
  if (std::fabs(x) > 1e150) {
    const double tail = std::exp(log_tail(degrees) - degrees * std::log(std::fabs(x)));
    return x < 0 ? tail : 1 - tail;
  }
  return found([&] { return math::cdf(Student(degrees), x); });
}

double student_quantile(double degrees, double p) {
  const double tail = std::min(p, 1 - p),
               log_x = tail > 0 ? (log_tail(degrees) - std::log(tail)) / degrees : 0;
  if (log_x > std::log(far_out) + std::log(degrees) / 2)
    return found([&] { return std::copysign(std::exp(log_x), p - 0.5); });
  return found([&] { return math::quantile(Student(degrees), p); });
}

}  // namespace bayes
