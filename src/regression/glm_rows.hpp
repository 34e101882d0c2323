// The rows of a generalized linear model for its learners: standardised terms z (terms.hpp), and
// passes over all rows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/linalg.hpp"
#include "base/random.hpp"
#include "data/pass.hpp"
#include "data/rows.hpp"
#include "data/sweep.hpp"
#include "document/document.hpp"
#include "regression/level_responses.hpp"
#include "regression/responses.hpp"
#include "regression/terms.hpp"

namespace bayes {

class ResponseStep;

/// The sums of a pass over all rows; each row counts with its weight.
struct GlmSums {
  /// log-likelihood; squares: of a poisson response the sum of (y - mean)^2 / mean, of augment()
  /// that of the squared latent variables
  double log_likelihood = 0, squares = 0;
  /// by the unknowns: sum of z times the slope of the log-likelihood (or the counterpart that
  /// augment() and augment_logit() document), and the slopes by the other unknowns
  Vector gradient;
  /// minus its second derivatives (or with omega in their place); empty unless requested
  Matrix curvature;
  /// of counts with a log link, the number of zeros and the sum of their probabilities
  double zeros = 0, zeros_expected = 0;

  /// As sums of a pass (data/pass.hpp); read into sums of the same size.
  template <class F> void fields(F &f) {
    f.number("log_likelihood", log_likelihood);
    f.number("squares", squares);
    f.number("zeros", zeros);
    f.number("zeros_expected", zeros_expected);
    f.vector("gradient", gradient);
    std::vector<double> packed;
    for (Eigen::Index i = 0; i < curvature.rows(); ++i)
      for (Eigen::Index j = 0; j <= i; ++j) packed.push_back(curvature(i, j));
    f.values("curvature", packed);
    auto at = packed.begin();
    for (Eigen::Index i = 0; F::reading && i < curvature.rows(); ++i)
      for (Eigen::Index j = 0; j <= i; ++j) curvature(i, j) = curvature(j, i) = *at++;
  }
  void add(const GlmSums &other) {
    log_likelihood += other.log_likelihood;
    squares += other.squares;
    zeros += other.zeros;
    zeros_expected += other.zeros_expected;
    gradient += other.gradient;
    curvature += other.curvature;
  }
};

/// The columns of rows that are no terms, by their indices among the predictors; -1: there is none.
struct GlmColumns {
  /// what is added to the linear predictor; a number whose logarithm is
  int offset = -1, exposure = -1;
  /// the number of trials of a binomial response; `every`: that of all rows
  int trials = -1;
  double every = 1;
  /// the degrees of freedom of a student_t response
  double degrees = 4;
  /// the number of levels of a response that is labelled, and the cut at 0 of one that is ordered
  int levels = 2, anchor = 0;

  /// As arguments of a pass (data/pass.hpp) over rows of this dimension.
  template <class F> void fields(F &f, int dimension) {
    f.integer("offset", offset, -1, dimension - 2);
    f.integer("exposure", exposure, -1, dimension - 2);
    f.integer("trials", trials, -1, dimension - 2);
    f.number("every", every);
    f.require(every >= 1 && every <= 1e15);
    f.number("degrees", degrees);
    f.require(degrees >= 1 && degrees <= 1e6);
    f.integer("levels", levels, 2, max_levels);
    f.integer("anchor", anchor, 0, levels - 2);
  }
};

/// y is element 0 of every row, allowed by the response; predictors follow, none of them missing.
///
/// The unknowns u are the coefficients of z, of several linear predictors those of one after the
/// other; and after them the logarithm of the dispersion if the response has one, or those of the
/// gaps between cuts (level_responses.hpp).
class GlmRows {
 public:
  /// Makes two passes for the scales. Throws Error(numeric) for columns whose values are too close
  /// or too large to compute with, Error(invalid_argument) for exposures and trials that
  /// cannot be.
  GlmRows(RowSource &rows, const RegressionTerms &terms, const ResponseFamily &response,
          const GlmColumns &columns, Control &control);

  const ResponseFamily &response() const { return response_; }
  /// the number of linear predictors; of coefficients, of other unknowns, and of all
  int predictors() const { return response_.predictors(columns_.levels); }
  int coefficients() const { return terms_.size() * predictors(); }
  int extras() const { return response_.extras(columns_.levels); }
  int size() const { return coefficients() + extras(); }
  /// the first term is one
  bool intercept() const { return terms_.intercept(); }
  const TermScales &scales() const { return scales_; }
  std::int64_t rows() const { return rows_.rows(); }
  /// total weight of all rows; the weighted sums of y, and of trials or exposures
  double weight() const { return weight_; }
  double total() const { return total_; }
  /// Of ordered levels the cut at 0: the one that most nearly halves the rows, so that the
  /// intercept is known well, and gaps besides do not depend on it.
  int anchor() const { return columns_.anchor; }
  /// of a labelled response the weights of its levels
  const std::vector<double> &levels() const { return levels_; }
  double base() const { return base_; }
  /// Of a response on the whole line: the mean of y - offset (0 without an intercept), about which
  /// passes take y, and the root of the mean of its squared distances from that; else 0 and 1.
  double response_mean() const { return response_mean_; }
  double response_scale() const { return response_scale_; }
  /// the rounding error of one as large as the mean and the scale; 0 for other responses
  double rounding() const { return rounding_; }
  /// terms that carry no information: the same in every row, or without an intercept 0 in every row
  const std::vector<int> &constant() const { return constant_; }

  /// At unknowns u: log-likelihood, gradient and, if asked for, curvature.
  GlmSums likelihood(const Vector &u, bool curvature);
  /// The sum of weight z z'.
  Matrix gram();
  /// For every row, of weight 1, a Polya-Gamma variable omega ~ PG(1, z'u) is drawn: the gradient
  /// is the sum of z (y - 1/2), the curvature that of omega z z'; and the log-likelihood of the
  /// logit at u.
  GlmSums augment_logit(const Vector &u, const RowRandom &random);
  /// For every row, Albert and Chib's latent y* ~ Normal(z'u, 1), positive if and only if y = 1, is
  /// drawn: the gradient is the sum of z y*, squares that of y*^2; and the log-likelihood of the
  /// probit at u.
  GlmSums augment(const Vector &u, const RowRandom &random);

  struct SumsPass;

 private:
  class Worker;
  /// Terms that have these scales.
  GlmRows(RowSource &rows, const RegressionTerms &terms, const ResponseFamily &response,
          const GlmColumns &columns, TermScales scales, double response_mean, Control &control)
      : rows_(rows),
        terms_(terms),
        response_(response),
        columns_(columns),
        control_(control),
        scales_(std::move(scales)),
        response_mean_(response_mean) {}
  void find_scales();
  GlmSums pass(const ResponseStep *step, const Vector &u, bool gradient, bool curvature);

  RowSource &rows_;
  const RegressionTerms &terms_;
  const ResponseFamily &response_;
  GlmColumns columns_;
  Control &control_;
  TermScales scales_;
  double response_mean_ = 0, response_scale_ = 1, rounding_ = 0, weight_ = 0, total_ = 0, base_ = 0;
  std::vector<int> constant_;
  std::vector<double> levels_;
};

/// The passes of generalized linear models: sums of the likelihood; ranges of the terms, and their
/// sums of squares.
extern const PassOver<PartOfRows> glm_sums_pass, glm_ranges_pass, glm_squares_pass;

}  // namespace bayes
