#include "base/deviance.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/special.hpp"
#include "base/stirling.hpp"

namespace bayes {
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
