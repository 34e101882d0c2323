#include "distributions/standard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "base/stirling.hpp"

namespace bayes {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
/// Above it, doubles have no room for 1 less.
constexpr double largest_exact = 1e15;
constexpr double two_pi = 6.2831853071795864769;

[[noreturn]] void refuse(const char *distribution, const char *name, double value,
                         const char *range) {
  throw Error(Errc::invalid_argument, message("{} of a {} distribution is {}, but must be {}", name,
                                              distribution, value, range));
}
void require_finite(const char *distribution, const char *name, double value) {
  if (!std::isfinite(value)) refuse(distribution, name, value, "finite");
}
void require_scale(const char *distribution, const char *name, double value) {
  if (!(value > 0) || std::isinf(value)) refuse(distribution, name, value, "positive and finite");
}

void require_probability(double p) {
  if (!(p >= 0 && p <= 1))
    throw Error(Errc::invalid_argument,
                message("the probability is {}, but must be from 0 to 1", p));
}

/// A quantile that exists but that doubles do not reach.
double within_doubles(double x, double p) {
  if (std::isfinite(x)) return x;
  throw Error(Errc::numeric, message("the quantile of {} is beyond double precision", p));
}

/// A probability that Boost.Math may not have found.
double found_probability(double p) {
  if (!std::isnan(p)) return p;
  throw Error(Errc::numeric, "a probability is beyond double precision", {},
              "Parameters are too small or too large.");
}

/// What Stirling's formula leaves of log Gamma(x), any x > 0; also of log x!.
double stirling_error(double x) {
  if (x >= 10) return stirling_remainder(x);
  return log_gamma(x) - ((x - 0.5) * std::log(x) - x + half_log_two_pi);
}

/// log(x / y), x > 0, y > 0
double log_ratio(double x, double y) {
  const double ratio = x / y;
  return ratio > 0 && std::isfinite(ratio) ? std::log(ratio) : std::log(x) - std::log(y);
}

/// x log(x / m) + m - x >= 0, x > 0, m > 0: half the deviance of a count x of mean m. `difference`
/// is x - m; where m was rounded, as it was before.
double deviance(double x, double m, double difference) {
  if (std::isinf(m)) return infinite;
  if (std::fabs(difference) >= 0.1 * (x + m)) return x * log_ratio(x, m) - difference;
  // With v = (x - m) / (x + m): (x - m) v + 2 x (v^3 / 3 + v^5 / 5 + ...).
  const double v = difference / (x + m), v2 = v * v;
  double sum = difference * v, power = 2 * x * v;
  for (int j = 1; j < 1000; ++j) {
    power *= v2;
    const double next = sum + power / (2 * j + 1);
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

/// log of m^x exp(-m) / Gamma(x + 1), x >= 0, m >= 0: x need not be whole. `difference` is x - m.
double log_poisson(double x, double m, double difference) {
  if (m == 0) return x == 0 ? 0 : -infinite;
  if (x == 0) return -m;
  return -stirling_error(x) - deviance(x, m, difference) - half_log_two_pi - 0.5 * std::log(x);
}

/// log of Gamma(n + 1) / (Gamma(x + 1) Gamma(n - x + 1)) p^x q^(n - x), where y = n - x >= 0,
/// q = 1 - p: none of these need be whole.
double log_binomial(double x, double y, double p, double q) {
  if (p == 0) return x == 0 ? 0 : -infinite;
  if (q == 0) return y == 0 ? 0 : -infinite;
  const double n = x + y;
  if (x == 0 && y == 0) return 0;
  if (x == 0) return n * std::log1p(-p);
  if (y == 0) return n * std::log(p);
  // x - n p without what rounding takes away
  const double product = p * y,
               difference = std::fma(q, x, -product) + std::fma(-p, y, product) + x * ((1 - q) - p);
  return stirling_error(n) - stirling_error(x) - stirling_error(y) -
         deviance(x, n * p, difference) - deviance(y, n * q, -difference) +
         0.5 * (std::log(n / x) - std::log(y) - std::log(two_pi));
}

/// The smallest whole number in [low, high] at which `below` reaches p; it does at `high`. `guess`
/// is where it is likely to be.
template <class Below>
std::int64_t smallest_reaching(double p, std::int64_t low, std::int64_t high, double guess,
                               Below below) {
  // below(x) < p at `under`, not at `over`.
  const auto clamped = [&](double x) {
    return x <= double(low)    ? low
           : x >= double(high) ? high
                               : std::clamp(std::int64_t(x), low, high);
  };
  std::int64_t under = low - 1, over = high;
  std::int64_t at = clamped(guess);
  for (double reach = 1;; reach *= 4) {
    if (below(at) >= p) {
      over = at;
      if (at == low) return low;
      at = clamped(double(at) - reach);
      if (at == over) --at;
      if (below(at) < p) {
        under = at;
        break;
      }
    } else {
      under = at;
      if (at == high) return high;
      at = clamped(double(at) + reach);
      if (at == under) ++at;
      if (below(at) >= p) {
        over = at;
        break;
      }
    }
  }
  while (over - under > 1) {
    const std::int64_t middle = under + (over - under) / 2;
    (below(middle) >= p ? over : under) = middle;
  }
  return over;
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

// ---- normal ----

NormalDistribution::NormalDistribution(double mean, double sd) : mean(mean), sd(sd) {
  require_finite("normal", "the mean", mean);
  require_scale("normal", "the standard deviation", sd);
}

double NormalDistribution::log_density(double x) const {
  const double z = (x - mean) / sd;
  return -0.5 * z * z - half_log_two_pi - std::log(sd);
}

double NormalDistribution::below(double x) const { return normal_below((x - mean) / sd); }

double NormalDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return -infinite;
  if (p == 1) return infinite;
  return within_doubles(mean + sd * normal_quantile(p), p);
}

double NormalDistribution::draw(Random &random) const { return mean + sd * random.normal(); }

// ---- Student's t ----

StudentDistribution::StudentDistribution(double degrees, double location, double scale)
    : degrees(degrees),
      location(location),
      scale(scale) {
  require_scale("Student t", "the degrees of freedom", degrees);
  require_finite("Student t", "the location", location);
  require_scale("Student t", "the scale", scale);
}

double StudentDistribution::log_density(double x) const {
  const double t = (x - location) / scale;
  if (std::isnan(t)) return t;
  if (std::isinf(t)) return -infinite;
  const double half = degrees / 2, square = t * t / degrees,
               constant = -deviance(half, half + 0.5, -0.5) + stirling_error(half + 0.5) -
                          stirling_error(half) - half_log_two_pi - std::log(scale);
  // log sqrt(1 + t^2 / degrees)
  const double root =
      square > 1e16 ? std::log(std::fabs(t)) - 0.5 * std::log(degrees) : 0.5 * std::log1p(square);
  if (square > 0.2) return constant - degrees * root - root;
  return constant + deviance(half, half + t * t / 2, -t * t / 2) - t * t / 2 - root;
}

double StudentDistribution::below(double x) const {
  const double t = (x - location) / scale;
  if (std::isnan(t)) return t;
  if (std::isinf(t)) return t > 0;
  return found_probability(student_below(degrees, t));
}

double StudentDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return -infinite;
  if (p == 1) return infinite;
  return within_doubles(location + scale * student_quantile(degrees, p), p);
}

double StudentDistribution::draw(Random &random) const {
  const double z = random.normal();
  return location + scale * z / std::sqrt(random.gamma(degrees / 2) / (degrees / 2));
}

// ---- beta ----

BetaDistribution::BetaDistribution(double a, double b) : a(a), b(b) {
  require_scale("beta", "a", a);
  require_scale("beta", "b", b);
}

double BetaDistribution::log_density(double x) const {
  if (std::isnan(x)) return x;
  if (x < 0 || x > 1) return -infinite;
  if (x == 0) return a < 1 ? infinite : a > 1 ? -infinite : std::log(b);
  if (x == 1) return b < 1 ? infinite : b > 1 ? -infinite : std::log(a);
  const double y = 1 - x;
  if ((a < 1 && b < 1) || std::max(a, b) > largest_exact)
    return std::log(a) + std::log(b) - std::log(a + b) - std::log(x) - std::log1p(-x) +
           log_binomial(a, b, x, y);
  if (a < 1) return std::log(a) - std::log(x) + log_binomial(a, b - 1, x, y);
  if (b < 1) return std::log(b) - std::log1p(-x) + log_binomial(a - 1, b, x, y);
  return std::log(a + b - 1) + log_binomial(a - 1, b - 1, x, y);
}

double BetaDistribution::below(double x) const {
  return std::isnan(x) ? x : found_probability(beta_below(a, b, x));
}

double BetaDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0 || p == 1) return p;
  return within_doubles(beta_quantile(a, b, p), p);
}

double BetaDistribution::draw(Random &random) const { return random.beta(a, b); }

// ---- gamma ----

GammaDistribution::GammaDistribution(double shape, double rate) : shape(shape), rate(rate) {
  require_scale("gamma", "the shape", shape);
  require_scale("gamma", "the rate", rate);
}

double GammaDistribution::log_density(double x) const {
  if (std::isnan(x)) return x;
  if (x < 0 || std::isinf(x)) return -infinite;
  if (x == 0) return shape < 1 ? infinite : shape > 1 ? -infinite : std::log(rate);
  if (!(rate * x > 0))  // so small that exp(-rate x) is 1
    return shape * std::log(rate) + (shape - 1) * std::log(x) - log_gamma(shape);
  if (shape < 1 || shape > largest_exact)
    return log_ratio(shape, x) + log_poisson(shape, rate * x, std::fma(-rate, x, shape));
  return log_poisson(shape - 1, rate * x, std::fma(-rate, x, shape - 1)) + std::log(rate);
}

double GammaDistribution::below(double x) const {
  if (std::isnan(x)) return x;
  const double y = rate * x;
  return x <= 0 ? 0 : found_probability(gamma_below(shape, y, std::fma(rate, x, -y)));
}

double GammaDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return 0;
  if (p == 1) return infinite;
  return within_doubles(gamma_quantile(shape, p) / rate, p);
}

double GammaDistribution::draw(Random &random) const { return random.gamma(shape) / rate; }

// ---- inverse gamma ----

InverseGammaDistribution::InverseGammaDistribution(double shape, double scale)
    : shape(shape),
      scale(scale) {
  require_scale("inverse gamma", "the shape", shape);
  require_scale("inverse gamma", "the scale", scale);
}

double InverseGammaDistribution::log_density(double x) const {
  if (std::isnan(x)) return x;
  if (x <= 0 || std::isinf(x)) return -infinite;
  // of y = scale / x, Gamma(shape, 1), times y / x
  const double y = scale / x;
  if (std::isinf(y)) return -infinite;
  if (y == 0)  // so small that exp(-y) is 1
    return shape * (std::log(scale) - std::log(x)) - log_gamma(shape) - std::log(x);
  return std::log(shape) + log_poisson(shape, y, shape - y - lost(y, x)) - std::log(x);
}

double InverseGammaDistribution::lost(double y, double x) const {
  return std::fma(-y, x, scale) / x;
}

double InverseGammaDistribution::below(double x) const {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0;
  const double y = scale / x;
  return x <= 0 ? 0 : found_probability(gamma_above(shape, y, lost(y, x)));
}

double InverseGammaDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return 0;
  if (p == 1) return infinite;
  return within_doubles(scale / upper_gamma_quantile(shape, p), p);
}

double InverseGammaDistribution::draw(Random &random) const {
  return std::exp(std::log(scale) - random.log_gamma_variate(shape));
}

// ---- binomial ----

BinomialDistribution::BinomialDistribution(std::int64_t n, double p) : n(n), p(p) {
  if (n < 0)
    throw Error(Errc::invalid_argument,
                message("n of a binomial distribution is {}, but must be at least 0", n));
  if (!(p >= 0 && p <= 1)) refuse("binomial", "p", p, "from 0 to 1");
}

double BinomialDistribution::log_density(std::int64_t k) const {
  if (k < 0 || k > n) return -infinite;
  return log_binomial(double(k), double(n - k), p, 1 - p);
}

double BinomialDistribution::below(std::int64_t k) const {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return found_probability(beta_above(double(k) + 1, double(n - k), p));
}

std::int64_t BinomialDistribution::quantile(double q) const {
  require_probability(q);
  if (q == 1 && p > 0) return n;
  if (q == 0 || p == 0 || n == 0) return 0;
  if (p == 1) return n;
  const double sd = std::sqrt(double(n) * p * (1 - p)), z = normal_quantile(q);
  return smallest_reaching(q, 0, n, double(n) * p + z * sd + (z * z - 1) * (1 - 2 * p) / 6,
                           [this](std::int64_t k) { return below(k); });
}

std::int64_t BinomialDistribution::draw(Random &random) const { return quantile(random.uniform()); }

// ---- Poisson ----

PoissonDistribution::PoissonDistribution(double rate) : rate(rate) {
  if (!(rate >= 0) || std::isinf(rate))
    refuse("Poisson", "the rate", rate, "at least 0, and finite");
}

double PoissonDistribution::log_density(std::int64_t k) const {
  return k < 0 ? -infinite : log_poisson(double(k), rate, double(k) - rate);
}

double PoissonDistribution::below(std::int64_t k) const {
  if (k < 0) return 0;
  return rate == 0 ? 1 : found_probability(gamma_above(double(k) + 1, rate));
}

std::int64_t PoissonDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0 || rate == 0) return 0;
  const double z = p < 1 ? normal_quantile(p) : infinite,
               guess = rate + z * std::sqrt(rate) + (z * z - 1) / 6;
  if (p == 1 || !(guess < 9.2e18))
    throw Error(Errc::numeric,
                message("the quantile of {} of a Poisson distribution with rate {} is {}", p, rate,
                        p == 1 ? "infinite" : "beyond 64 bits"));
  return smallest_reaching(p, 0, most, guess, [this](std::int64_t k) { return below(k); });
}

std::int64_t PoissonDistribution::draw(Random &random) const {
  // 9e18 is 7e7 standard deviations below 9.2e18.
  if (!(rate <= 9e18))
    throw Error(Errc::numeric,
                message("draws of a Poisson distribution with rate {} are beyond 64 bits", rate),
                "The rate may be 9e18 at most.");
  return quantile(random.uniform());
}

// ---- uniform ----

UniformDistribution::UniformDistribution(double low, double high) : low(low), high(high) {
  require_finite("uniform", "the lower end", low);
  require_finite("uniform", "the upper end", high);
  if (!(low < high)) refuse("uniform", "the upper end", high, "above the lower end");
}

double UniformDistribution::draw(Random &random) const {
  const double u = random.uniform();
  const double range = high - low;
  return std::clamp(std::isfinite(range) ? low + range * u : low * (1 - u) + high * u, low, high);
}

}  // namespace bayes
