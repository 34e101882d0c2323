// Probabilities of binary regressions, as functions of an uncertain linear predictor.
#pragma once

#include "base/api.hpp"

namespace bayes {

/// The link, which determines the probability at a linear predictor a: 1 / (1 + exp(-a)), or
/// Phi(a).
enum class Link : char { logit, probit };

/// P(y = 1) at the linear predictor a; NaN only for a NaN.
BAYES_API double probability_at(Link link, double a);

/// The logarithm of probability_at(), also where that underflows.
double log_probability_at(Link link, double a);

struct LinkMoments {
  double mean = 0, sd = 0;
};

/// Mean and standard deviation of the probability if the linear predictor has the distribution
/// Normal(mean, variance). Mean finite, variance finite and not negative. By the trapezoidal rule,
/// which converges geometrically here: accurate to about 14 digits, for values far below 1 to 12.
BAYES_API LinkMoments link_moments(Link link, double mean, double variance);

/// The logarithm of the mean of link_moments(), also where that underflows.
BAYES_API double log_link_mean(Link link, double mean, double variance);

}  // namespace bayes
