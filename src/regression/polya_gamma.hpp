// Draws of the Polya-Gamma distribution PG(1, z) (Polson, Scott and Windle 2013), whose mean is
// tanh(z / 2) / (2 z).
#pragma once

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/special.hpp"
#include "regression/normal_tail.hpp"

namespace bayes {

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
