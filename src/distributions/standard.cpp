#include "distributions/standard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double min_positive = std::numeric_limits<double>::denorm_min();
/// For larger shapes, shape - 1 has no exact double.
constexpr double max_exact_shape = 1e15;

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

/// (x - location) / scale, where the difference may overflow.
double deviate(double x, double location, double scale) {
  const double difference = x - location;
  return std::isfinite(difference) ? difference / scale : 2 * ((x / 2 - location / 2) / scale);
}

/// location + scale t, where the product may overflow.
double at_deviate(double location, double scale, double t) {
  const double x = location + scale * t;
  return std::isfinite(x) ? x : 2 * (location / 2 + scale / 2 * t);
}

/// log |(x - location) / scale|
double log_deviate(double x, double location, double scale) {
  const double t = std::fabs(deviate(x, location, scale));
  return std::isnormal(t) ? std::log(t) : std::log(std::fabs(x - location)) - std::log(scale);
}

/// Throws Error(numeric) for a quantile that overflows.
double within_doubles(double x, double p) {
  if (std::isfinite(x)) return x;
  throw Error(Errc::numeric, message("the quantile of {} is beyond double precision", p));
}

/// The smallest whole number in [low, high] at which `below` reaches p; `below` must reach it at
/// `high`. The search starts at `guess`.
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
  const double z = deviate(x, mean, sd);
  return -0.5 * z * z - half_log_two_pi - std::log(sd);
}

double NormalDistribution::below(double x) const { return normal_below(deviate(x, mean, sd)); }

double NormalDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return -infinite;
  if (p == 1) return infinite;
  return within_doubles(at_deviate(mean, sd, normal_quantile(p)), p);
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
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return -infinite;
  const double t = deviate(x, location, scale), log_degrees = std::log(degrees);
  // 1 / (sqrt(degrees) B(degrees / 2, 1 / 2)), with its limit for degrees next to 0
  const double half = degrees / 2, constant = degrees < min_normal
                                                  ? log_degrees / 2 - std::log(2)
                                                  : -deviance(half, half + 0.5, -0.5) +
                                                        stirling_error(half + 0.5) -
                                                        stirling_error(half) - half_log_two_pi;
  const double ratio = t / std::sqrt(degrees), square = ratio * ratio;
  // log sqrt(1 + t^2 / degrees)
  const double root = square > 1e16 ? log_deviate(x, location, scale) - 0.5 * log_degrees
                                    : 0.5 * std::log1p(square);
  if (square > 0.2) return constant - std::log(scale) - degrees * root - root;
  return constant - std::log(scale) + deviance(half, half + t * t / 2, -t * t / 2) - t * t / 2 -
         root;
}

double StudentDistribution::below(double x) const {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0;
  const double t = deviate(x, location, scale);
  if (std::isfinite(t)) return student_below(degrees, t);
  const double tail = student_tail_at(degrees, log_deviate(x, location, scale));
  return x > location ? 1 - tail : tail;
}

double StudentDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return -infinite;
  if (p == 1) return infinite;
  const double t = student_quantile(degrees, p);
  if (std::isfinite(t)) return within_doubles(at_deviate(location, scale, t), p);
  const double away = std::exp(log_student_quantile(degrees, p) + std::log(scale));
  return within_doubles(location + std::copysign(away, t), p);
}

double StudentDistribution::draw(Random &random) const {
  const double z = random.normal(), half = degrees / 2;
  if (half >= 1) return location + scale * z / std::sqrt(random.gamma(half) / half);
  // in logarithms for few degrees of freedom, as the square may underflow
  const double log_square = random.log_gamma_variate(std::max(half, min_positive)),
               square = std::exp(log_square);
  if (square > min_normal) return location + scale * z / std::sqrt(square / half);
  const double log_size =
      std::log(scale) + std::log(std::fabs(z)) + (std::log(degrees) - std::log(2) - log_square) / 2;
  return location + std::copysign(std::exp(log_size), z);
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
  const auto binomial = [x, y](double p, double q) {
    return log_binomial(p, q, x, y, binomial_difference(p, q, x, y));
  };
  if ((a < 1 && b < 1) || std::max(a, b) > max_exact_shape)
    return std::log(a) + std::log(b) - log_sum(a, b) - std::log(x) - std::log1p(-x) +
           binomial(a, b);
  if (a < 1) return std::log(a) - std::log(x) + binomial(a, b - 1);
  if (b < 1) return std::log(b) - std::log1p(-x) + binomial(a - 1, b);
  return std::log(a + b - 1) + binomial(a - 1, b - 1);
}

double BetaDistribution::below(double x) const { return std::isnan(x) ? x : beta_below(a, b, x); }

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
  if (rate * x < min_normal)
    return log_ratio(shape, x) + log_poisson_at(shape, std::log(rate) + std::log(x));
  if (shape < 1 || shape > max_exact_shape)
    return log_ratio(shape, x) + log_poisson(shape, rate * x, std::fma(-rate, x, shape));
  return log_poisson(shape - 1, rate * x, std::fma(-rate, x, shape - 1)) + std::log(rate);
}

double GammaDistribution::below(double x) const {
  if (std::isnan(x)) return x;
  const double y = rate * x;
  if (x <= 0) return 0;
  return y < min_normal ? gamma_below_at(shape, std::log(rate) + std::log(x))
                        : gamma_below(shape, y, std::fma(rate, x, -y));
}

double GammaDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return 0;
  if (p == 1) return infinite;
  const double y = gamma_quantile(shape, p), x = y / rate;
  if (y > min_normal) return within_doubles(x, p);
  return within_doubles(std::exp(log_gamma_quantile(shape, p) - std::log(rate)), p);
}

double GammaDistribution::draw(Random &random) const {
  if (shape >= 1) return random.gamma(shape) / rate;
  const double log_y = random.log_gamma_variate(shape), y = std::exp(log_y);
  return y > min_normal ? y / rate : std::exp(log_y - std::log(rate));
}

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
  // the density of y = scale / x, which is Gamma(shape, 1), times the derivative y / x
  const double y = scale / x;
  if (std::isinf(y)) return -infinite;
  if (y < min_normal)
    return log_ratio(shape, x) + log_poisson_at(shape, std::log(scale) - std::log(x));
  return std::log(shape) + log_poisson(shape, y, shape - y - lost(y, x)) - std::log(x);
}

double InverseGammaDistribution::lost(double y, double x) const {
  return std::fma(-y, x, scale) / x;
}

double InverseGammaDistribution::below(double x) const {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0;
  const double y = scale / x;
  if (x <= 0) return 0;
  return y < min_normal ? gamma_above_at(shape, std::log(scale) - std::log(x))
                        : gamma_above(shape, y, lost(y, x));
}

double InverseGammaDistribution::quantile(double p) const {
  require_probability(p);
  if (p == 0) return 0;
  if (p == 1) return infinite;
  const double y = upper_gamma_quantile(shape, p);
  if (y > min_normal) return within_doubles(scale / y, p);
  return within_doubles(std::exp(std::log(scale) - log_upper_gamma_quantile(shape, p)), p);
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
  const double x = double(k), y = double(n - k), q = 1 - p;
  return log_binomial(x, y, p, q, binomial_difference(x, y, p, q));
}

double BinomialDistribution::below(std::int64_t k) const {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return beta_above(double(k) + 1, double(n - k), p);
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
  return rate == 0 ? 1 : gamma_above(double(k) + 1, rate);
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
