// Options of linear regression.
#pragma once

#include <optional>

#include "document/document.hpp"
#include "document/option_table.hpp"
#include "fit/fit_options.hpp"

namespace bayes {

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

}  // namespace bayes
