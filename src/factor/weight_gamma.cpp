#include "factor/weight_gamma.hpp"

#include <algorithm>
#include <cmath>

#include "base/special.hpp"

namespace bayes {

double ScalePosterior::bound(const WeightGamma &prior, int factors) const {
  const double a = prior.scale_shape, log_mean = digamma(shape) - std::log(rate);
  return factors * prior.shape * log_mean - gamma_divergence(shape, rate, a, a / prior.rate);
}

// Newton's method in 1 / shape (Minka 2002, Estimating a gamma distribution).
double learn_gamma_shape(double mean, double mean_log) {
  const double s = std::log(mean) - mean_log;
  const auto inside = [](double x) {
    return std::clamp(x, least_learned_shape, most_learned_shape);
  };
  if (!(s > 0)) return most_learned_shape;
  double shape = inside((3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s));
  for (int i = 0; i < 50; ++i) {
    const double slope = std::log(shape) - digamma(shape) - s;
    const double inverse = 1 / shape + slope / (shape * shape * (1 / shape - trigamma(shape)));
    const double next = inside(inverse > 0 ? 1 / inverse : most_learned_shape);
    const bool there = std::abs(next - shape) <= 1e-12 * shape;
    shape = next;
    if (there) break;
  }
  return shape;
}

// The inverse of digamma by Newton's method (Minka 2000, Estimating a Dirichlet distribution,
// appendix C).
double learn_gamma_shape_of_rate(double rate, double mean_log) {
  const double y = std::log(rate) + mean_log;
  double x = y >= -2.22 ? std::exp(std::min(y, 15.0)) + 0.5 : -1 / (y + 0.5772156649015329);
  for (int i = 0; i < 20; ++i)
    x = std::clamp(x - (digamma(x) - y) / trigamma(x), least_learned_shape, most_learned_shape);
  return x;
}

}  // namespace bayes
