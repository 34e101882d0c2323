// Gamma and beta variables of large shapes, which are nearly normal.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/special.hpp"

namespace bayes {

/// P(z <= x) of the standard normal distribution, any x.
inline double normal_probability(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// Gamma and beta variables of large shapes, by the first three terms of N. M. Temme's uniform
/// expansions (1979; 1987).
///
/// For a gamma variable let alpha = 1 / sqrt(shape) and beta = 0; for a beta variable alpha^2 = b /
/// (a n) and beta^2 = a / (b n), n = a + b. At u standard deviations (sqrt(shape) or sqrt(a b /
/// n^3)) from the mean the density is, up to a factor, that of a standard normal variable at Z,
/// where Z^2 = u^2 (1 - u k): with q_1 = alpha - beta and q_j = alpha^j - alpha^(j-1) beta + ..., k
/// = 2 (q_1 / 3 - u q_2 / 4 + u^2 q_3 / 5 - ...).
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

  /// k, at a u for which `probability` is neither 0 nor 1.
  double skew(double u) const {
    // q_j (-u)^(j - 1): powers of u alone might overflow.
    const double p = alpha_ - beta_, up = u * p, uq = (u * alpha_) * (u * beta_),
                 ratio = std::fabs(u) * std::max(alpha_, beta_);
    double now = p, next = -u * (p * p + alpha_ * beta_), sum = 0, size = 1;
    for (int j = 1; size > 1e-18; ++j, size *= ratio) {
      sum += 2 * now / (j + 2);
      now = std::exchange(next, uq * now - up * next);
    }
    return sum;
  }

  /// normal_probability(side Z) with two corrections: the density at Z times 1 / Z - 1 / u, and the
  /// next term of the expansion, which matters where u is small.
  double probability(double u, int side) const {
    // the smaller tail is below 1e-300
    if (!(std::fabs(u) * std::max(alpha_, beta_) < 0.3)) return side * u > 0;
    const double p = alpha_ - beta_, q = alpha_ * beta_, p2 = p * p;
    const double k = skew(u), root = std::sqrt(1 - u * k), z = u * root;
    const double first = k / (root * (1 + root));
    const double second = p * (p2 / 540 + q / 20) + u * (p2 * (p2 / 288 + q / 48) + q * q / 32) -
                          u * u * p * (p2 * (p2 * 23 / 6048 + q * 3 / 112) + q * q * 31 / 672);
    const double density = normal_density(z), known = normal_probability(side * z);
    return density > 0 ? std::clamp(known + side * density * (first + second), 0.0, 1.0) : known;
  }

  static double normal_density(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }

  /// Solves z = Z + log(u / Z) / Z for u by fixed-point iteration, z being the normal quantile;
  /// then makes two Newton steps, with the density of Z and dZ / du.
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

}  // namespace bayes
