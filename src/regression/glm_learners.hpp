// The options of generalized linear models, and the posterior mode of their unknowns, by Newton's
// method or by EM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/fit_options.hpp"
#include "fit/schedule.hpp"
#include "mcmc/run_chains.hpp"
#include "regression/glm.hpp"
#include "regression/glm_rows.hpp"

namespace bayes {

struct GlmOptions : FitOptions {
  /// of the family, or of option response
  const ResponseFamily *response = nullptr;
  GlmFamily family = GlmFamily::glm;
  /// columns of predictors that are none: their names, or empty
  std::string exposure, offset, trials;
  /// the number of trials of every row, where it is no column
  double trials_of_rows = 1;
  /// the degrees of freedom of a student_t response
  double degrees = 4;
  /// The levels of a labelled response; empty: those of the rows, which the caller gives in the
  /// end.
  std::vector<std::string> levels;
  /// option terms as given; empty: all columns
  std::vector<std::string> terms;
  bool intercept = true;
  /// option reference as given, or null; after the fit, the reference labels of all columns
  Document reference;
  /// Prior variance of the coefficients: if given, in units of the columns; the default applies in
  /// units of their scales.
  std::optional<double> variance;
  std::optional<bool> standardize;
  /// prior variance of the intercept, and its mean if it was given
  double intercept_variance = 100;
  std::optional<double> intercept_mean;
  /// prior median of the dispersion, and prior variance of its logarithm
  double dispersion = 1, dispersion_variance = 9;
  /// the same of degrees of freedom that are learned: about Gamma(2, 0.1) (Juarez and Steel 2010)
  double degrees_median = 15, degrees_variance = 0.64;
  /// the same of gaps between the cuts of ordered levels
  double gap = 1, gap_variance = 4;

  /// The linear predictor is in the units of the responses, or their logarithm.
  bool measured() const { return response->link == Link::log || response->link == Link::identity; }
  bool scaled() const { return standardize.value_or(!variance); }
  double prior_variance() const;
  Document document() const;
};

/// The methods that fit models of a response.
std::span<const Method> methods_of(const ResponseFamily &response);

/// Option levels. Throws Error(invalid_argument) unless it is a list of 2 to max_levels labels.
std::vector<std::string> listed_levels(const Document &given);

/// Throws Error(invalid_argument).
GlmOptions read_glm_options(GlmFamily family, const Document &options);

/// The prior of the unknowns u: independent normals.
struct GlmPrior {
  Vector precision, mean;

  /// Coefficients that are integrated out of the posterior of a dispersion (newton()): how many,
  /// how many of them the rows determine rather than the prior, at which logarithm of the
  /// dispersion, and the logarithm of their integral there.
  double coefficients = 0, determined = 0, log_dispersion = 0, integral = 0;
  /// The logarithm of that integral near there, as if all were determined alike; its slope, and
  /// minus its second derivative there.
  double log_integral(double at) const;
  double slope(double at) const;
  double bend() const;

  double log_density(const Vector &u) const;
};

/// Beyond these bounds no mode lies: products with z may overflow, and a dispersion or a gap would
/// be 0 or infinite to all digits.
bool within_bounds(const GlmRows &rows, const Vector &u);

/// The posterior mode.
struct GlmMode : RunTrace {
  /// u
  Vector state;
  /// at the mode, without the prior
  double log_likelihood = 0;
  /// those of GlmSums at the mode
  double squares = 0, zeros = 0, zeros_expected = 0;
  void take(const GlmSums &sums) {
    log_likelihood = sums.log_likelihood;
    squares = sums.squares;
    zeros = sums.zeros;
    zeros_expected = sums.zeros_expected;
  }
  /// what the trace adds to the log joint density of rows and unknowns
  double added = 0;
  /// the lower Cholesky factor of the precision of a normal approximation of the posterior
  Matrix factor;
};

/// The intercept at which the mean of a row without predictors is that of the data; responses on
/// the whole line are about their mean (GlmRows::response_mean()). `predictor`: which one, of a
/// response with several.
double intercept_of_data(const GlmRows &rows, int predictor = 0);
/// The logarithms of the gaps between cuts at which the levels of a row without predictors are as
/// frequent as in the data.
Vector log_gaps_of_data(const GlmRows &rows);
/// Is what responses on the whole line vary about their means no more than their rounding?
bool rounds(const GlmRows &rows, const Vector &u);

/// How many starts find the best of the modes of a student_t response with few degrees of freedom.
inline constexpr int student_starts = 7;
/// Starting values: that intercept, and those gaps; for all others the means of the prior. For
/// restarts from 2 to student_starts: intercepts about the mean, and a fifth of the scale of the
/// responses.
Vector first_unknowns(const GlmRows &rows, const GlmPrior &prior, int restart);

/// Newton's method with steps that are shortened until the posterior density rises: it always ends
/// at the mode, as the density is log-concave and the prior proper; with a dispersion it is
/// concave in all but that (of a student_t response it may have several modes), and steps go
/// uphill. The trace has the log joint density of y and u.
///
/// A dispersion that scales what rows tell of coefficients would be too small at the mode of all
/// unknowns, as coefficients follow the rows. Its own posterior, by Laplace's method for the
/// coefficients, is the joint density over the root of the determinant of their precision, which
/// falls with the dispersion in proportion for each coefficient that the rows determine (of normal
/// responses: the residual squares over rows less coefficients). The mode of that is found, and the
/// trace has its logarithm.
///
/// Converged when half the squared length of a step in the metric of the Hessian, which is the
/// predicted remaining rise of the log density, is at most the tolerance. The factor is that of
/// minus the Hessian at the mode (002 L3). Throws Error(numeric) where the Hessian is singular in
/// double precision.
GlmMode newton(GlmRows &rows, const GlmPrior &prior, Vector start, const Schedule &schedule,
               Control &control);

/// The same mode by the EM algorithm of 002 L4, for the probit model. The factor is that of the
/// sum of z z' plus the prior's precision: the precision of u given the latent variables.
GlmMode probit_em(GlmRows &rows, const GlmPrior &prior, Vector start, const Schedule &schedule,
                  Control &control);

/// The Cholesky factor of that precision.
Matrix augmented_precision(GlmRows &rows, const GlmPrior &prior);

}  // namespace bayes
