// The options of binary regressions, and the posterior mode of the coefficients, by Newton's method
// or by EM.
#pragma once

#include <optional>
#include <string>

#include "fit/fit_options.hpp"
#include "fit/schedule.hpp"
#include "mcmc/run_chains.hpp"
#include "regression/binary_rows.hpp"
#include "regression/link_moments.hpp"

namespace bayes {

// The options of logistic and probit regression.

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

/// The prior of the coefficients u of z: independent normals about 0 with these precisions.
using PriorPrecision = Vector;

/// log Normal(u | 0, diag(1 / precision))
double log_prior(const PriorPrecision &precision, const Vector &u);

/// The posterior mode.
struct BinaryMode : RunTrace {
  /// u
  Vector state;
  /// at the mode, without the prior
  double log_likelihood = 0;
  /// the lower Cholesky factor of the precision of a normal approximation of the posterior
  Matrix factor;
};

/// Starting values: the intercept that gives y = 1 its frequency in the data; 0 for all others.
Vector first_coefficients(const BinaryRows &rows, Link link);

/// Newton's method with steps that are shortened until the posterior density rises: it always ends
/// at the mode, as the density is log-concave and the prior proper. The trace has the log joint
/// density of y and u. Converged when half the squared length of a step in the metric of the
/// Hessian, which is the predicted remaining rise of the log density, is at most the tolerance. The
/// factor is that of minus the Hessian at the mode (002 L3). Throws Error(numeric) where the
/// Hessian is singular in double precision.
BinaryMode newton(BinaryRows &rows, Link link, const PriorPrecision &precision, Vector start,
                  const Schedule &schedule, Control &control);

/// The same mode by the EM algorithm of 002 L4, for the probit model. The factor is that of the
/// sum of z z' plus the prior's precision: the precision of u given the latent variables.
BinaryMode probit_em(BinaryRows &rows, const PriorPrecision &precision, Vector start,
                     const Schedule &schedule, Control &control);

/// The Cholesky factor of that precision.
Matrix augmented_precision(BinaryRows &rows, const PriorPrecision &precision);

}  // namespace bayes
