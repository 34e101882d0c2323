// A linear regression in units in which its numbers are about 1, for the methods that learn the
// precision of the noise, alpha, and that of the coefficients, lambda.
//
// Coefficients are w_j = scale_j v_j, so that v ~ Normal(0, 1 / lambda) whatever d_j is, and the
// response is `unit` times its number here. alpha here is alpha unit^2, lambda here lambda
// lambda_unit. Densities of the response refer to its original units.
#pragma once

#include <string>
#include <vector>

#include "base/linalg.hpp"
#include "base/special.hpp"
#include "regression/linreg_options.hpp"
#include "regression/linreg_state.hpp"
#include "regression/linreg_system.hpp"

namespace bayes {

/// The least-squares fit, without any prior.
struct LeastSquares {
  LeastSquares(const LinregSystem &system);
  /// sum of squared residuals, in the response's original units; not negative
  double residual_squares;
  int rank;
  std::vector<bool> dependent;
  /// the coefficients, in their original units; 0 for dependent terms
  std::vector<double> solution;
  /// of the noise: from the residuals if there are enough rows, else that of the response
  double noise_variance;
  /// of the response
  double variance;
};

/// d_j of every term, as defined in LinregOptions; 0 for a constant term with option standardize.
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
  /// matrix would delay a cancel for too long.
  bool in_basis = false;
  SymmetricEigen eigen;
  Vector moment_in_basis;
  /// the v of least squares, and its squared residuals
  Vector least;
  double residual_squares;
  /// y'y
  double response_squares;
  /// LinregSystem::observations()
  double observations;
  /// the terms of the response's log density that do not depend on w, alpha and lambda
  double log_constant;

  /// Number of lambdas: one for each coefficient, or one for all.
  int lambdas() const { return ard ? size() : 1; }
  bool learns_lambda() const { return !lambda && lambdas() > 0; }
  /// Number of coefficients that share a lambda.
  double sharing() const { return ard ? 1 : size(); }

  /// The sum of squared residuals at v.
  double residual_squares_at(const Vector &v) const;
  /// log p(y | v, alpha), with the intercept integrated out.
  double log_likelihood(double residual_squares, double alpha) const;
  /// log Jacobians: added to the log density of v, or of alpha or lambda here, they give the log
  /// density of w, alpha or lambda in original units.
  double log_unit_of_coefficients() const { return -scale.array().log().sum(); }
  double log_unit_of_alpha() const { return 2 * std::log(unit); }
  double log_unit_of_lambdas() const { return lambdas() * std::log(lambda_unit); }

  /// Stores results in a model's state: v, and `factor`, an F with F'F the covariance of v in units
  /// of the noise's variance, or null.
  void describe(const Vector &v, const Matrix *factor, const GammaPosterior &noise,
                const std::vector<GammaPosterior> &lambda, LinregModel::State &state) const;
};

/// Initialises the state of a model: its centers, with all coefficients marked as left out.
void initialise_state(const LinregSystem &system, LinregModel::State &state);

/// log of the density of Gamma(q) at x, and of its normalizer: shape log rate - log Gamma(shape).
double log_gamma_density(const GammaPosterior &q, double x);
double log_gamma_normalizer(const GammaPosterior &q);

}  // namespace bayes
