// A linear regression in units in which its numbers are about 1, for the methods that learn the
// precision of the noise, alpha, and that of the coefficients, lambda.
//
// Coefficients are w_j = scale_j v_j, so that v ~ Normal(0, 1 / lambda) whatever d_j is, and the
// response is `unit` times its number here. alpha here is alpha unit^2, lambda here lambda
// lambda_unit. What is a density of the response is given in its own units.
#pragma once

#include <string>
#include <vector>

#include "base/linalg.hpp"
#include "base/special.hpp"
#include "regression/linreg_options.hpp"
#include "regression/linreg_state.hpp"
#include "regression/linreg_system.hpp"

namespace bayes {

/// What least squares says, before any prior.
struct LeastSquares {
  LeastSquares(const LinregSystem &system);
  /// in units of the response, which is not negative
  double residual_squares;
  int rank;
  std::vector<bool> dependent;
  /// the coefficients, in their own units; 0 of dependent terms
  std::vector<double> solution;
  /// of the noise: by the residuals if there are enough rows, else that of the response
  double noise_variance;
  /// of the response
  double variance;
};

/// d_j of every term, as LinregOptions says; 0 for a constant one that is standardized.
std::vector<double> prior_scales(const LinregSystem &system, const LinregOptions &options);

/// Sets the parameters of the prior that were not given.
void set_defaults(const LinregSystem &system, const LeastSquares &least, LinregOptions &options);

struct LinregProblem {
  LinregProblem(const LinregSystem &system, const LeastSquares &least,
                const LinregOptions &options);

  const LinregSystem &system;
  /// terms that are fitted; the others are constant
  std::vector<int> used;
  int size() const { return int(used.size()); }
  /// names of those that are linear combinations of terms before them
  std::vector<std::string> collinear;
  bool ard;
  /// the given precision of the coefficients, if it is not learned
  std::optional<double> lambda;
  /// of alpha and lambda
  GammaPosterior noise_prior, lambda_prior;
  double unit = 1, lambda_unit = 1;
  Vector scale;
  /// X'X and X'y
  Matrix gram;
  Vector moment;
  /// With one lambda and few terms: the eigenvectors of X'X, and X'y in their basis. A larger
  /// matrix would take longer than a cancel may wait.
  bool in_basis = false;
  SymmetricEigen eigen;
  Vector moment_in_basis;
  /// the v of least squares, and its squared residuals
  Vector least;
  double residual_squares;
  /// y'y
  double response_squares;
  /// how many numbers the noise is known from
  double observations;
  /// log density of the response: what does not depend on w, alpha and lambda
  double log_constant;

  /// One lambda for each coefficient, or for all.
  int lambdas() const { return ard ? size() : 1; }
  bool learns_lambda() const { return !lambda && lambdas() > 0; }
  /// Coefficients that share a lambda.
  double sharing() const { return ard ? 1 : size(); }

  /// The sum of squared residuals at v.
  double residual_squares_at(const Vector &v) const;
  /// log p(y | v, alpha), with the intercept integrated out.
  double log_likelihood(double residual_squares, double alpha) const;
  /// What turns a density of v into one of w, of alpha and of lambda: to be added to its log.
  double log_unit_of_coefficients() const { return -scale.array().log().sum(); }
  double log_unit_of_alpha() const { return 2 * std::log(unit); }
  double log_unit_of_lambdas() const { return lambdas() * std::log(lambda_unit); }

  /// Puts what is found into a model: v, and F so that F'F is its covariance, if there is one.
  void describe(const Vector &v, const Matrix *factor, const GammaPosterior &noise,
                const std::vector<GammaPosterior> &lambda, LinregModel::State &state) const;
};

/// The centers of a model, and all coefficients left out.
void begin_state(const LinregSystem &system, LinregModel::State &state);

/// log of the density of Gamma(q) at x, and of its normalizer: shape log rate - log Gamma(shape).
double log_gamma_density(const GammaPosterior &q, double x);
double log_gamma_normalizer(const GammaPosterior &q);

}  // namespace bayes
