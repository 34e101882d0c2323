// The options of linear regression, and the internal state of a fitted one, for the files of this
// model only.
#pragma once

#include <optional>
#include <vector>

#include "document/document.hpp"
#include "document/option_table.hpp"
#include "fit/fit_options.hpp"
#include "regression/linreg.hpp"
#include "regression/terms.hpp"

namespace bayes {

// Options of linear regression.

/// Letters as in 002 L5: y ~ Normal(x'w, 1 / alpha), w_j ~ Normal(0, 1 / (lambda d_j)), alpha ~
/// Gamma(a, rate b), lambda ~ Gamma(e, rate f); the conjugate prior of method exact is w_j | alpha
/// ~ Normal(0, 1 / (c alpha d_j)). d_j is 1, or the variance of the term if option standardize is
/// true.
struct LinregOptions : FitOptions {
  LinregOptions();

  bool intercept = true;
  bool standardize = true;
  /// one precision for each coefficient
  bool ard = false;
  std::optional<double> noise_variance;
  Document reference;
  /// Those that are not given get defaults that depend on the data.
  std::optional<double> lambda, a, b, c, e, f;
  static constexpr double default_e = 0.5;

  bool exact() const { return method == Method::exact; }
  bool known_noise() const { return noise_variance.has_value(); }
  /// Is the whole conjugate prior given?
  bool conjugate() const { return exact() && a && b && c; }
  /// Is the precision of the coefficients learned?
  bool learns_lambda() const { return !exact() && !lambda; }

  /// Throws Error(invalid_argument) for invalid options.
  static LinregOptions read(const Document &options);
  /// All options in force.
  Document document() const;

 private:
  void lines(OptionTable &t);
  void prior_lines(OptionTable &t);
};

/// A gamma distribution.
struct GammaPosterior {
  double shape = 0, rate = 0;
};

/// The quantile (1 + level) / 2 of a standard distribution.
struct LevelQuantile {
  double level = 0, quantile = 0;
};

/// In all members but `terms`, the terms are those besides the intercept.
struct LinregModel::State {
  RegressionTerms terms;
  bool intercept = true;
  /// total weight of all rows
  double weight = 0;
  /// weighted means of the terms and of the response over the rows; 0 without an intercept
  std::vector<double> center;
  double response_center = 0;
  /// posterior means; NaN for a term that was left out
  std::vector<double> coefficients;
  double intercept_mean = 0;
  /// Lower triangular F, row by row, so that F'F is the covariance of the coefficients, or with
  /// noise_scaled its ratio to the noise's variance; empty for a point estimate and for draws.
  std::vector<double> factor;
  bool noise_scaled = false;
  /// the part of the intercept's variance that is due to the coefficients, in the units of F'F
  double intercept_spread = 0;
  /// The noise: its known variance, or the posterior of its precision.
  std::optional<double> known_variance;
  GammaPosterior noise;
  /// The precision of the coefficients, if it was learned: one, or one for each.
  std::vector<GammaPosterior> lambda;
  /// [draw][term], and alpha of each draw
  std::vector<double> drawn, drawn_alpha;

  /// For gibbs, over all draws after warmup and thinning: standard deviations of the coefficients
  /// (0 for those left out) and of the intercept; empty in models of earlier versions.
  std::vector<double> deviations;
  double intercept_deviation = 0;
  /// likewise, mean and standard deviation of the variance of the noise
  double noise_mean = 0, noise_deviation = 0;

  /// caches of the quantiles that were computed last
  mutable LevelQuantile normal_quantile, student_quantile;

  std::size_t size() const { return coefficients.size(); }
  std::size_t draws() const { return drawn_alpha.size(); }
};

}  // namespace bayes
