// The options of logistic and probit regression.
#pragma once

#include <optional>
#include <string>

#include "fit/fit_options.hpp"
#include "regression/link_moments.hpp"

namespace bayes {

struct BinaryOptions : FitOptions {
  explicit BinaryOptions(Link link) : link(link) {}

  Link link;
  bool intercept = true;
  /// option reference as given, or null; after the fit, the reference labels of all columns
  Document reference;
  /// Prior variance of the coefficients: if given, in units of the columns; the default applies in
  /// units of their scales.
  std::optional<double> variance;
  std::optional<bool> standardize;
  /// prior variance of the intercept
  double intercept_variance = 100;

  bool scaled() const { return standardize.value_or(!variance); }
  double prior_variance() const;
  Document document() const;
};

/// Throws Error(invalid_argument).
BinaryOptions read_binary_options(Link link, const Document &options);

}  // namespace bayes
