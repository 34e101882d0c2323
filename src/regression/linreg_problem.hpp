// A linear regression in units in which its numbers are about 1, for the methods that learn the
// precision of the noise, alpha, and that of the coefficients, lambda.
//
// Coefficients are w_j = scale_j v_j, so that v ~ Normal(0, 1 / lambda) whatever d_j is, and the
// response is `unit` times its number here. alpha here is alpha unit^2, lambda here lambda
// lambda_unit. Densities of the response refer to its original units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "base/api.hpp"
#include "base/double_double.hpp"
#include "base/linalg.hpp"
#include "base/special.hpp"
#include "document/document.hpp"
#include "fit/fit_run.hpp"
#include "regression/linreg_state.hpp"
#include "regression/linreg_sums.hpp"
#include "regression/terms.hpp"

namespace bayes {

// Symmetric linear systems in double-doubles: for matrices too ill-conditioned for doubles, such as
// the normal equations of a regression on powers of a number.

/// A square matrix of double-doubles, row by row.
class BAYES_API WideMatrix {
 public:
  explicit WideMatrix(int size);
  int size() const { return size_; }
  DoubleDouble operator()(int i, int j) const { return {hi_[at(i, j)], lo_[at(i, j)]}; }
  void set(int i, int j, DoubleDouble x) {
    hi_[at(i, j)] = x.hi;
    lo_[at(i, j)] = x.lo;
  }
  /// Subtracts factor times row k of `other` from row i, from column `first` on. Whole vectors are
  /// changed, so up to 7 columns before `first` change too.
  void subtract_row(int i, DoubleDouble factor, const WideMatrix &other, int k, int first);
  /// Multiplies columns `first` to `end` - 1 of row i by factor.
  void scale_row(int i, DoubleDouble factor, int first, int end);

 private:
  std::size_t at(int i, int j) const { return std::size_t(i) * stride_ + std::size_t(j); }
  int size_;
  /// doubles of a row, padded to whole vectors
  std::size_t stride_;
  Buffer hi_, lo_;
};

/// The Cholesky factor A = U'U of a positive semidefinite matrix. Polls.
class BAYES_API WideCholesky {
 public:
  /// `a`: its upper triangle is read. Column k is *dependent*, and is left out, if its pivot (a_kk
  /// less the part explained by the columns before it) is at most tolerance[k] times a_kk. The last
  /// `border` columns are not factored: they are only reduced to their Schur complement, by
  /// subtracting the part that the others explain.
  WideCholesky(WideMatrix a, std::span<const double> tolerance, int border);

  /// columns that are factored
  int size() const { return size_; }
  bool dependent(int k) const { return dependent_[std::size_t(k)]; }
  int rank() const;
  /// log of the determinant, without dependent columns
  double log_determinant() const;
  /// Element (i, j) of the Schur complement of the border, from 0.
  DoubleDouble left(int i, int j) const { return u_(size_ + i, size_ + j); }
  /// Solves A x = b, where b is a column of the border; x is 0 for dependent columns.
  std::vector<DoubleDouble> solve(int column) const;
  /// The lower triangular W = U^-T, so that A^-1 = W'W; rows and columns that belong to dependent
  /// columns are 0.
  WideMatrix inverse_factor() const;

 private:
  WideMatrix u_;
  int size_;
  std::vector<bool> dependent_;
};

// The normal equations of a linear regression, from its sufficient statistics.

/// An intercept, which has a flat prior, is integrated out: then sums are about the means, with one
/// degree of freedom less. In what follows terms are those besides the intercept, numbered from 0;
/// the response follows the last of them.
struct LinregSystem {
  LinregSystem(const LinregSums &sums, bool intercept, const Document &reference);

  /// all terms, the intercept first
  RegressionTerms all_terms;
  bool intercept;
  /// number of terms
  int size;
  std::int64_t rows;
  /// total weight of all rows
  double weight;
  /// The effective number of observations: weight, less 1 with an intercept. Not n - p, as
  /// coefficients with a proper prior take no degrees of freedom.
  double observations() const { return weight - (intercept ? 1 : 0); }

  /// Means of the terms and of the response; 0 without an intercept.
  std::vector<DoubleDouble> mean;
  /// Products of term or response i and j, summed over the rows, times 2^-(exponent i + exponent
  /// j): their squares are 1/4 to 1, or 0.
  WideMatrix products;
  std::vector<int> exponent;
  /// of terms and the response: their squares are so small that they lose digits, or vanish
  std::vector<bool> underflows;
  /// A term is taken for a linear combination of others if they explain all of its squares but this
  /// share: what is left is rounding errors.
  std::vector<double> tolerance;

  /// The name of a term.
  const std::string &name(int term) const { return all_terms.name(term + (intercept ? 1 : 0)); }
  /// The sum of squares of a term, or of the response.
  double squares(int term) const;
  bool constant(int term) const { return products(term, term).hi == 0; }
};

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

// The methods of linear regression. Each fills the state of a model, and sets objective and trace.

/// The posterior in closed form: with known noise a normal (002 L2), else Normal-inverse-gamma:
/// exactly so under the conjugate prior, otherwise by Laplace's method for the noise, which is
/// exact in the limit of a flat prior. Throws Error(numeric) if there is no posterior.
void fit_exactly(const LinregSystem &system, const LeastSquares &least,
                 const LinregOptions &options, LinregModel &model);

/// EM for the mode of p(w | y), alpha and lambda integrated out (002 L5), with method laplace
/// followed by Laplace's approximation there; or variational inference (002 L6).
void fit_by_iteration(const LinregProblem &problem, const LinregOptions &options,
                      LinregModel &model, FitRun &run);

/// Gibbs sampling of w, alpha and lambda from their full conditionals.
void fit_by_gibbs(const LinregProblem &problem, const LinregOptions &options, LinregModel &model,
                  FitRun &run, Control &control);

}  // namespace bayes
