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
  /// the object as it was given, or null; after the fit, the labels of all columns
  Document reference;
  /// Variances of the coefficients' prior: as asked for, in units of the columns, or the default,
  /// in units of their scales.
  std::optional<double> variance;
  std::optional<bool> standardize;
  /// of the intercept's
  double intercept_variance = 100;

  bool scaled() const { return standardize.value_or(!variance); }
  double prior_variance() const;
  Document document() const;
};

/// Throws Error(invalid_argument).
BinaryOptions read_binary_options(Link link, const Document &options);

}  // namespace bayes
