// What a fitted linear regression knows.
#pragma once

#include <vector>

#include "regression/linreg.hpp"
#include "regression/terms.hpp"

namespace bayes {

/// A gamma distribution.
struct GammaPosterior {
  double shape = 0, rate = 0;
};

/// The quantile (1 + level) / 2 of a standard distribution.
struct LevelQuantile {
  double level = 0, quantile = 0;
};

/// Terms are those besides the intercept.
struct LinregModel::State {
  RegressionTerms terms;
  bool intercept = true;
  /// the weight of all rows
  double weight = 0;
  /// of the terms and of the response, over the rows; 0 without an intercept
  std::vector<double> center;
  double response_center = 0;
  /// posterior means; NaN for a term that was left out
  std::vector<double> coefficients;
  double intercept_mean = 0;
  /// Lower triangular F, row by row, so that F'F is the covariance of the coefficients, or with
  /// noise_scaled its ratio to the noise's variance; empty for a point estimate and for draws.
  std::vector<double> factor;
  bool noise_scaled = false;
  /// of the intercept: what w contributes to its variance, as F'F does
  double intercept_spread = 0;
  /// The precision of the noise: known, or its posterior.
  std::optional<double> known_variance;
  GammaPosterior noise;
  /// The precision of the coefficients, if it was learned: one, or one for each.
  std::vector<GammaPosterior> lambda;
  /// [draw][term], and alpha of each draw
  std::vector<double> drawn, drawn_alpha;

  /// Of draws, over all that count: standard deviations of the coefficients, 0 of those left out,
  /// and of the intercept; empty in models of earlier versions.
  std::vector<double> deviations;
  double intercept_deviation = 0;
  /// the same of the variance of the noise
  double noise_mean = 0, noise_deviation = 0;

  /// those that were asked for last
  mutable LevelQuantile normal_quantile, student_quantile;

  std::size_t size() const { return coefficients.size(); }
  std::size_t draws() const { return drawn_alpha.size(); }
};

}  // namespace bayes
