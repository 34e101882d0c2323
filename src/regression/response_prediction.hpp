// Predictive distributions of responses: averages over an uncertain linear predictor and an
// uncertain dispersion.
#pragma once

#include <span>

#include "regression/responses.hpp"

namespace bayes {

/// A normal distribution of the linear predictor and the logarithm of the dispersion.
struct UncertainPredictor {
  double mean = 0, variance = 0;
  double log_dispersion = 0, dispersion_variance = 0, covariance = 0;
  /// of the response
  double trials = 1, degrees = 0;

  ResponsePoint at(double predictor) const { return {predictor, trials, log_dispersion, degrees}; }
};

/// A distribution of them: one, or equally many draws, which know the predictor.
using PredictorMixture = std::span<const UncertainPredictor>;

/// The mean of the response, which may overflow.
BAYES_API double predictive_mean(const NumberResponse &response, PredictorMixture of);

/// The logarithm of the average density of y, to some 8 digits: by trapezoidal rules about the
/// greatest value of what is integrated, wherever that lies.
BAYES_API double log_predictive(const NumberResponse &response, double y,
                                const UncertainPredictor &of);
BAYES_API double log_predictive(const NumberResponse &response, double y, PredictorMixture of);

/// The mean of the variances plus the variance of the means of the response, which may overflow; in
/// closed form but for the moments of a logit (link_moments.hpp). NaN if y has no variance.
BAYES_API double predictive_variance(const NumberResponse &response, const UncertainPredictor &of);
BAYES_API double predictive_variance(const NumberResponse &response, PredictorMixture of);

/// P(Y <= y), to some 8 digits; of counts and amounts for y >= 0.
BAYES_API double predictive_below(const NumberResponse &response, double y,
                                  const UncertainPredictor &of);
BAYES_API double predictive_below(const NumberResponse &response, double y, PredictorMixture of);

/// The least y with P(Y <= y) >= p, 0 < p < 1. Throws Error(numeric) if its magnitude is beyond
/// 1e300.
BAYES_API double predictive_quantile(const NumberResponse &response, PredictorMixture of, double p);
inline double predictive_quantile(const NumberResponse &response, const UncertainPredictor &of,
                                  double p) {
  return predictive_quantile(response, PredictorMixture(&of, 1), p);
}

}  // namespace bayes
