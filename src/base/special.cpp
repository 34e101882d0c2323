#include "base/special.hpp"

#include "base/boost_settings.hpp"
// after the settings
#include <algorithm>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

// The remainder of Stirling's formula.

/// log Gamma(x) minus Stirling's (x - 1/2) log x - x + log(2 pi) / 2, x >= 10: the asymptotic
/// series, whose first neglected term is below 3e-17 there.
double stirling_remainder(double x) {
  const double y = 1 / x, y2 = y * y;
  double sum = 1.0 / 156;
  sum = sum * y2 - 691.0 / 360360;
  sum = sum * y2 + 1.0 / 1188;
  sum = sum * y2 - 1.0 / 1680;
  sum = sum * y2 + 1.0 / 1260;
  sum = sum * y2 - 1.0 / 360;
  sum = sum * y2 + 1.0 / 12;
  return sum * y;
}

namespace policies = boost::math::policies;

// No promotion to long double: it costs several times as much for digits that are then rounded
// away.
using Policy = policies::policy<policies::promote_double<false>>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log_pi = 1.1447298858494001741;
constexpr double root_two = 1.4142135623730950488;

void require(bool valid, const char *what) {
  if (!valid) throw Error(Errc::numeric, what);
}

constexpr const char *beyond =
    "Row weights or prior parameters are too small or too large: rescale them.";

/// Turns Boost.Math's exceptions into ours.
template <class Function> double checked(const char *name, double x, Function function) {
  if (!(x > 0) || x == infinity)
    throw Error(
        Errc::numeric,
        message("cannot evaluate {} at {}: its argument must be positive and finite", name, x), {},
        beyond);
  try {
    return function(x);
  } catch (const std::exception &) {
    throw Error(Errc::numeric, message("{} of {} is beyond double precision", name, x), {}, beyond);
  }
}

}  // namespace

void softmax(std::span<const double> x, std::span<double> out) {
  // Not exp(x - log_sum_exp(x)): if the largest number is around -1e299, adding the logarithm of a
  // sum to it has no effect.
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += out[i] = std::exp(x[i] - largest);
  for (double &p : out) p /= sum;
}

double log_sum_exp(std::span<const double> x) {
  double largest = -infinity;
  for (const double value : x) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, value);
  }
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const double value : x) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

double log1p_exp(double x) {
  if (x <= 18) return std::log1p(std::exp(x));
  return x + std::exp(-x);  // the next term, exp(-2x) / 2, is below half an ulp
}

double log_gamma(double x) {
  return checked("the logarithm of the gamma function", x,
                 [](double y) { return boost::math::lgamma(y, Policy()); });
}

double digamma(double x) {
  return checked("the digamma function", x,
                 [](double y) { return boost::math::digamma(y, Policy()); });
}

double trigamma(double x) {
  return checked("the trigamma function", x,
                 [](double y) { return boost::math::trigamma(y, Policy()); });
}

// After Didonato and Morris (1992): the leading terms of Stirling's formulas are cancelled
// analytically, only their remainders are computed.
double log_beta(double a, double b) {
  const double p = std::min(a, b), q = std::max(a, b);
  require(a > 0 && b > 0 && a + b < infinity, "log_beta: an argument is not positive and finite");
  if (q < 10) return log_gamma(p) + log_gamma(q) - log_gamma(p + q);
  const double share = p / (p + q);
  const double remainder = stirling_remainder(q) - stirling_remainder(p + q);
  if (p < 10)
    return log_gamma(p) + remainder + p - p * std::log(p + q) + (q - 0.5) * std::log1p(-share);
  return half_log_two_pi - 0.5 * std::log(q) + stirling_remainder(p) + remainder +
         (p - 0.5) * std::log(share) + q * std::log1p(-share);
}

double log_dirichlet_normaliser(std::span<const double> alpha) {
  require(!alpha.empty(), "log_dirichlet_normaliser: there are no arguments");
  double total = alpha[0], result = 0;
  require(total > 0 && total < infinity,
          "log_dirichlet_normaliser: an argument is not positive and finite");
  for (const double next : alpha.subspan(1)) {
    result += log_beta(total, next);
    total += next;
  }
  return result;
}

double log_multivariate_gamma(double a, int p) {
  require(p >= 1 && a > 0.5 * (p - 1), "log_multivariate_gamma: an argument is out of range");
  double result = 0.25 * p * (p - 1) * log_pi;
  for (int j = 1; j <= p; ++j) result += log_gamma(a + 0.5 * (1 - j));
  return result;
}

double wishart_digamma(double a, int p) {
  require(p >= 1 && a > p - 1, "wishart_digamma: an argument is out of range");
  double result = 0;
  for (int j = 1; j <= p; ++j) result += digamma(0.5 * (a + 1 - j));
  return result;
}

double gamma_divergence(double shape, double rate, double prior_shape, double prior_rate) {
  const double ratio = rate / prior_rate;
  const double log_ratio =
      std::isnormal(ratio) ? std::log(ratio) : std::log(rate) - std::log(prior_rate);
  return (shape - prior_shape) * digamma(shape) - log_gamma(shape) + log_gamma(prior_shape) +
         prior_shape * log_ratio + shape * (prior_rate - rate) / rate;
}

double normal_quantile(double p) {
  require(p < 1, "normal_quantile: the probability is not between 0 and 1");
  return -root_two * checked("the normal quantile", p,
                             [](double x) { return boost::math::erfc_inv(2 * x, Policy()); });
}

double chi_square_tail(double x, double degrees) {
  require(x >= 0 && degrees > 0,
          "chi_square_tail: x is negative, or the degrees of freedom are not positive");
  if (x == 0 || x == infinity) return x == 0 ? 1 : 0;
  return gamma_above(degrees / 2, x / 2);
}

double stirling_error(double x) {
  if (x >= 10) return stirling_remainder(x);
  return log_gamma(x) - ((x - 0.5) * std::log(x) - x + half_log_two_pi);
}

double log_ratio(double x, double y) {
  const double ratio = x / y;
  return std::isnormal(ratio) ? std::log(ratio) : std::log(x) - std::log(y);
}

double log_sum(double x, double y) {
  const double sum = x + y;
  return std::isfinite(sum) ? std::log(sum) : std::log(x / 2 + y / 2) + std::numbers::ln2;
}

double deviance(double x, double m, double difference) {
  if (std::isinf(m)) return std::numeric_limits<double>::infinity();
  // halves: the sum of two large numbers would overflow
  const double half = x / 2 + m / 2;
  if (!(std::fabs(difference) < 0.2 * half)) return x * log_ratio(x, m) - difference;
  // With v = (x - m) / (x + m): (x - m) v + 2 x (v^3 / 3 + v^5 / 5 + ...).
  const double v = difference / 2 / half, v2 = v * v;
  double sum = difference * v, power = 2 * v;
  for (int j = 1; j < 100; ++j) {
    power *= v2;
    const double next = sum + x * (power / (2 * j + 1));
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

double log_poisson_at(double x, double log_m) {
  if (x < 10) return x * log_m - log_gamma(x + 1);
  return x * (log_m - std::log(x) + 1) - stirling_error(x) - half_log_two_pi - 0.5 * std::log(x);
}

double log_poisson(double x, double m, double difference) {
  if (m == 0) return x == 0 ? 0 : -std::numeric_limits<double>::infinity();
  if (x == 0) return -m;
  return -stirling_error(x) - deviance(x, m, difference) - half_log_two_pi - 0.5 * std::log(x);
}

double log_binomial(double x, double y, double p, double q, double difference) {
  if (p == 0) return x == 0 ? 0 : -std::numeric_limits<double>::infinity();
  if (q == 0) return y == 0 ? 0 : -std::numeric_limits<double>::infinity();
  if (x == 0 && y == 0) return 0;
  if (x == 0) return q < 0.5 ? y * std::log(q) : y * std::log1p(-p);
  if (y == 0) return p < 0.5 ? x * std::log(p) : x * std::log1p(-q);
  const double n = x + y;
  // For n this small the gamma functions contribute at most x y, which is negligible.
  if (n < 1e-9)
    return x * (p < 0.5 ? std::log(p) : std::log1p(-q)) +
           y * (q < 0.5 ? std::log(q) : std::log1p(-p));
  const bool large = std::isinf(n);
  const double odds = large ? log_sum(x, y) - std::log(x) : log_ratio(n, x);
  const auto of = [&](double count, double share, double apart) {
    // If n overflows, n p does not, as it is between x and y.
    const double mean = large ? share * x + share * y : n * share;
    return mean < min_normal ? count * (log_ratio(count, n) - std::log(share)) - apart
                             : deviance(count, mean, apart);
  };
  return stirling_error(n) - stirling_error(x) - stirling_error(y) - of(x, p, difference) -
         of(y, q, -difference) + 0.5 * (odds - std::log(y)) - half_log_two_pi;
}

double binomial_difference(double x, double y, double p, double q) {
  const double product = p * y;
  return std::fma(q, x, -product) + std::fma(-p, y, product) + x * ((1 - q) - p);
}

}  // namespace bayes
