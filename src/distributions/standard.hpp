// Standard distributions: log density, probability below, quantile, and draws.
//
// Each is a struct whose constructor refuses parameters out of range: Error(invalid_argument),
// naming the parameter. Discrete distributions are over whole numbers, and their density is the
// probability. All functions accept any number: outside of the support the density is 0 and the
// probability below 0 or 1; NaN gives NaN. quantile(p) is the smallest x of the support with P(X <=
// x) >= p, 0 <= p <= 1; Error(numeric) where it is beyond double precision (or 64 bits).
//
// Densities are evaluated as C. Loader, "Fast and accurate computation of binomial probabilities"
// (2000) does: as a deviance and remainders of Stirling's formula, so that nothing cancels however
// large counts and shapes are. Distribution functions are those of base/incomplete.hpp.
#pragma once

#include <cstdint>

#include "base/api.hpp"
#include "base/random.hpp"

namespace bayes {

/// Normal with this mean (finite) and standard deviation (positive).
struct BAYES_API NormalDistribution {
  using Value = double;
  explicit NormalDistribution(double mean = 0, double sd = 1);
  double log_density(double x) const;
  double below(double x) const;
  double quantile(double p) const;
  double draw(Random &random) const;
  double mean, sd;
};

/// location + scale t, where t has Student's t distribution with `degrees` degrees of freedom.
struct BAYES_API StudentDistribution {
  using Value = double;
  explicit StudentDistribution(double degrees, double location = 0, double scale = 1);
  double log_density(double x) const;
  double below(double x) const;
  double quantile(double p) const;
  double draw(Random &random) const;
  double degrees, location, scale;
};

/// Density x^(a - 1) (1 - x)^(b - 1) / B(a, b) on [0, 1].
struct BAYES_API BetaDistribution {
  using Value = double;
  BetaDistribution(double a, double b);
  double log_density(double x) const;
  double below(double x) const;
  double quantile(double p) const;
  double draw(Random &random) const;
  double a, b;
};

/// Density rate^shape x^(shape - 1) exp(-rate x) / Gamma(shape), x >= 0.
struct BAYES_API GammaDistribution {
  using Value = double;
  explicit GammaDistribution(double shape, double rate = 1);
  double log_density(double x) const;
  double below(double x) const;
  double quantile(double p) const;
  double draw(Random &random) const;
  double shape, rate;
};

/// 1 / x has the distribution Gamma(shape, rate = scale).
struct BAYES_API InverseGammaDistribution {
  using Value = double;
  explicit InverseGammaDistribution(double shape, double scale = 1);
  double log_density(double x) const;
  double below(double x) const;
  double quantile(double p) const;
  double draw(Random &random) const;
  double shape, scale;

 private:
  /// the rounding error of y: scale / x is y + this
  double lost(double y, double x) const;
};

/// Successes among n >= 0 trials of probability p in [0, 1].
struct BAYES_API BinomialDistribution {
  using Value = std::int64_t;
  BinomialDistribution(std::int64_t n, double p);
  double log_density(std::int64_t k) const;
  double below(std::int64_t k) const;
  std::int64_t quantile(double p) const;
  std::int64_t draw(Random &random) const;
  std::int64_t n;
  double p;
};

/// The number of events, with this rate >= 0.
struct BAYES_API PoissonDistribution {
  using Value = std::int64_t;
  explicit PoissonDistribution(double rate);
  double log_density(std::int64_t k) const;
  double below(std::int64_t k) const;
  std::int64_t quantile(double p) const;
  std::int64_t draw(Random &random) const;
  double rate;
};

/// The continuous uniform distribution; low < high, both finite.
struct BAYES_API UniformDistribution {
  using Value = double;
  explicit UniformDistribution(double low = 0, double high = 1);
  double draw(Random &random) const;
  double low, high;
};

}  // namespace bayes
