// Predictive distributions of responses: averages over an uncertain linear predictor and an
// uncertain dispersion.
#pragma once

#include <span>
#include <vector>

#include "regression/responses.hpp"

namespace bayes {

/// A normal distribution of the linear predictor and the logarithm of the dispersion.
struct UncertainPredictor {
  double mean = 0, variance = 0;
  double log_dispersion = 0, dispersion_variance = 0, covariance = 0;
  /// of the response
  double trials = 1;
};

/// A point with its share of a distribution.
struct WeightedPoint {
  ResponsePoint at;
  double weight;
};

/// Points for averages over `of`, whose weights sum to 1: trapezoidal rules, whose errors for
/// smooth functions are about 1e-6 of what they vary.
std::vector<WeightedPoint> points_of(const ResponseFamily &response, const UncertainPredictor &of);

/// The logarithm of the average density of y, to some 8 digits: by trapezoidal rules about the
/// greatest value of what is integrated.
double log_predictive(const ResponseFamily &response, double y, const UncertainPredictor &of);

/// Mean of the variances plus variance of the means of the response.
double predictive_variance(const ResponseFamily &response, std::span<const WeightedPoint> points);

/// The least y with P(Y <= y) >= p, 0 < p < 1, under the mixture of the points. Throws
/// Error(numeric) if it is beyond 1e300.
double predictive_quantile(const ResponseFamily &response, std::span<const WeightedPoint> points,
                           double p);

}  // namespace bayes
