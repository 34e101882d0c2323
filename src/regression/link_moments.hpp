// Means of responses, as functions of an uncertain linear predictor.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/api.hpp"
#include "base/random.hpp"
#include "base/special.hpp"

namespace bayes {

/// The link, which determines the mean of a response at a linear predictor a: the probability
/// 1 / (1 + exp(-a)) or Phi(a), or exp(a), or a.
enum class Link : char { logit, probit, log, identity };

/// The mean at a.
BAYES_API double mean_at(Link link, double a);

/// The predictor at which this is the mean: of a probability between 0 and 1, of a log above 0.
BAYES_API double predictor_at(Link link, double mean);

/// P(y = 1) at the linear predictor a of a logit or probit; NaN only for a NaN.
BAYES_API double probability_at(Link link, double a);

/// The logarithm of probability_at(), also where that underflows.
double log_probability_at(Link link, double a);

struct LinkMoments {
  double mean = 0, sd = 0;
};

/// Mean and standard deviation of mean_at() if the linear predictor has the distribution
/// Normal(mean, variance), which may overflow for a log link. Mean finite, variance finite and not
/// negative. By the trapezoidal rule, which converges geometrically here: accurate to about 14
/// digits, for values far below 1 to 12.
BAYES_API LinkMoments link_moments(Link link, double mean, double variance);

/// The logarithm of the mean of link_moments(), also where that underflows.
BAYES_API double log_link_mean(Link link, double mean, double variance);

// The standard normal distribution as probit regression needs it, exact far into the lower tail.

/// The standard normal cdf Phi and density.
inline double normal_cdf(double t) { return 0.5 * std::erfc(-t * 0.70710678118654752440); }
inline double normal_density(double t) { return std::exp(-0.5 * t * t - half_log_two_pi); }

/// Of log Phi at t: its value, its slope phi / Phi (the inverse Mills ratio of -t, > 0), and minus
/// its second derivative, slope (slope + t), within (0, 1).
struct LogNormalCdf {
  double value, slope, curvature;
};

/// |t| at most 1e150. Relative errors below 1e-12, of the curvature below 2e-11.
inline LogNormalCdf log_normal_cdf(double t) {
  if (t > -17) {
    const double upper = t > 0 ? 0.5 * std::erfc(t * 0.70710678118654752440) : 0;
    const double cdf = t > 0 ? 1 - upper : normal_cdf(t);
    const double slope = normal_density(t) / cdf;
    return {t > 0 ? std::log1p(-upper) : std::log(cdf), slope, slope * (slope + t)};
  }
  // Phi(-x) = phi(x) / x (1 - q + 3 q^2 - 15 q^3 + ...) with q = 1 / x^2, of which nine terms are
  // accurate to the last digit. `rest` is computed apart because the leading ones cancel in slope +
  // t.
  const double q = 1 / (t * t);
  double rest = 1;
  for (int k = 17; k >= 3; k -= 2) rest = 1 - k * q * rest;
  const double series = 1 - q * rest;
  return {-0.5 * t * t - std::log(-t) - half_log_two_pi + std::log(series), -t / series,
          rest / (series * series)};
}

// Draws of the Polya-Gamma distribution PG(1, z) (Polson, Scott and Windle 2013), whose mean is
// tanh(z / 2) / (2 z).

namespace polya_gamma_detail {

inline constexpr double pi = 3.14159265358979323846;
/// Where one series of the density replaces the other: on either side the first term bounds the
/// density.
inline constexpr double border = 0.64;

/// Term n of the alternating series of the density of J*(1, 0) at x > 0.
inline double term(int n, double x) {
  const double k = n + 0.5;
  if (x > border) return k * pi * std::exp(-0.5 * k * k * pi * pi * x);
  return k * pi * std::exp(-1.5 * std::log(pi / 2 * x) - 2 * k * k / x);
}

/// A draw of the inverse Gaussian with mean 1 / z and shape 1, truncated to values below the
/// border.
inline double inverse_gaussian_below(double z, Random &random) {
  if (z * border < 1) {  // by rejection from z = 0
    for (;;) {
      double e = random.exponential();
      while (e * e > 2 * random.exponential() / border) e = random.exponential();
      const double root = 1 + e * border, x = border / (root * root);
      if (random.uniform() <= std::exp(-0.5 * z * z * x)) return x;
    }
  }
  const double mean = 1 / z;
  for (;;) {
    const double normal = random.normal(), y = mean * normal * normal;
    const double low = mean * (1 + 0.5 * (y - std::sqrt(y * (4 + y))));
    const double x = random.uniform() * (mean + low) <= mean ? low : mean * (mean / low);
    if (x > 0 && x <= border) return x;
  }
}

}  // namespace polya_gamma_detail

/// An exact draw by Devroye's method: a quarter of J*(1, |z| / 2), by rejection with the
/// alternating series of its density. Proposals are exponential above the border and inverse
/// Gaussian below. At least 0.9992 of all proposals are accepted. `z` finite.
inline double polya_gamma(double z, Random &random) {
  using namespace polya_gamma_detail;
  z = 0.5 * std::fabs(z);
  const double rate = pi * pi / 8 + 0.5 * z * z, root = 1 / std::sqrt(border);
  // Masses of the proposals: of the exponential p, of the inverse Gaussian q.
  const double from = std::log(rate) + rate * border;
  const double ratio = 4 / pi *
                       (std::exp(from - z + log_normal_cdf(root * (border * z - 1)).value) +
                        std::exp(from + z + log_normal_cdf(-root * (border * z + 1)).value));
  const double above = 1 / (1 + ratio);
  for (;;) {
    const double x = random.uniform() < above ? border + random.exponential() / rate
                                              : inverse_gaussian_below(z, random);
    double sum = term(0, x);
    const double y = random.uniform() * sum;
    for (int n = 1;; ++n) {
      if (n % 2 == 1) {
        sum -= term(n, x);
        if (y <= sum) return 0.25 * x;
      } else {
        sum += term(n, x);
        if (y > sum) break;
      }
    }
  }
}

}  // namespace bayes
