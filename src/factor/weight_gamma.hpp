// Gamma priors of the weights of one side of a factorization.
#pragma once

namespace bayes {

/// Weights are Gamma(shape, rate), or, in a hierarchical prior (Gopalan, Hofman and Blei 2015),
/// Gamma(shape, a rate of each key), these rates being Gamma(scale_shape, scale_shape / rate).
struct WeightGamma {
  double shape = 0, rate = 0;
  /// 0: not hierarchical
  double scale_shape = 0;

  bool hierarchical() const { return scale_shape > 0; }
};

/// q of the rate of one key under a hierarchical prior: Gamma(shape, rate).
struct ScalePosterior {
  double shape, rate;
  double mean() const { return shape / rate; }

  /// Given the sum of the expected weights of K factors.
  ScalePosterior(const WeightGamma &prior, int factors, double weights)
      : shape(prior.scale_shape + factors * prior.shape),
        rate(prior.scale_shape / prior.rate + weights) {}
  /// With the mean of the prior, before the weights are known.
  ScalePosterior(const WeightGamma &prior, int factors)
      : shape(prior.scale_shape + factors * prior.shape),
        rate(shape / prior.rate) {}

  /// K shape E log rate - KL(q || p): its contribution to a bound, without the terms that are
  /// linear in the rate.
  double bound(const WeightGamma &prior, int factors) const;
};

/// Limits of learned shapes.
inline constexpr double min_learned_shape = 0.002, max_learned_shape = 1e6;

/// The shape that maximises the density of gamma variables, given the mean of their expected values
/// and of their expected logarithms; the rate is then shape / mean.
double learn_gamma_shape(double mean, double mean_log);
/// The same for a given rate.
double learn_gamma_shape_of_rate(double rate, double mean_log);

}  // namespace bayes
