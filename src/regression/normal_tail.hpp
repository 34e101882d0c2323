// The standard normal distribution as probit regression needs it, exact far into the lower tail.
#pragma once

#include <cmath>

#include "base/special.hpp"

namespace bayes {

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

}  // namespace bayes
