// The rows of a binary regression for its learners: standardised terms z (terms.hpp), and
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
#include "regression/link_moments.hpp"
#include "regression/terms.hpp"

namespace bayes {

/// The sums of a pass over all rows; each row counts with its weight.
struct BinarySums {
  /// log-likelihood; squares: sum of the squared latent variables, for augment() only
  double log_likelihood = 0, squares = 0;
  /// sum of z times the slope of the log-likelihood (or the counterpart that augment() and
  /// augment_logit() document); p numbers
  Vector gradient;
  /// sum of z z' times minus its second derivative (or omega), p x p; empty unless requested
  Matrix curvature;

  /// As sums of a pass (data/pass.hpp), without squares; read into sums of the same size.
  template <class F> void fields(F &f) {
    f.number("log_likelihood", log_likelihood);
    f.vector("gradient", gradient);
    std::vector<double> packed;
    for (Eigen::Index i = 0; i < curvature.rows(); ++i)
      for (Eigen::Index j = 0; j <= i; ++j) packed.push_back(curvature(i, j));
    f.values("curvature", packed);
    auto at = packed.begin();
    for (Eigen::Index i = 0; F::reading && i < curvature.rows(); ++i)
      for (Eigen::Index j = 0; j <= i; ++j) curvature(i, j) = curvature(j, i) = *at++;
  }
  void add(const BinarySums &other) {
    log_likelihood += other.log_likelihood;
    gradient += other.gradient;
    curvature += other.curvature;
  }
};

/// y is element 0 of every row, 0 or 1; predictors follow, none of them missing.
class BinaryRows {
 public:
  /// Makes two passes for the scales. Throws Error(numeric) for columns whose values are too close
  /// or too large to compute with.
  BinaryRows(RowSource &rows, const RegressionTerms &terms, Control &control);

  int size() const { return terms_.size(); }
  /// the first term is one
  bool intercept() const { return terms_.intercept(); }
  const TermScales &scales() const { return scales_; }
  /// total weight of all rows; of the rows with y = 1
  double weight() const { return weight_; }
  double positives() const { return positives_; }
  /// terms that carry no information: the same in every row, or without an intercept 0 in every row
  const std::vector<int> &constant() const { return constant_; }

  /// At coefficients u of z: log-likelihood, gradient and, if asked for, curvature.
  BinarySums likelihood(Link link, const Vector &u, bool curvature);
  /// The sum of weight z z'.
  Matrix gram();
  /// For every row, of weight 1, a Polya-Gamma variable omega ~ PG(1, z'u) is drawn: the gradient
  /// is the sum of z (y - 1/2), the curvature that of omega z z'; and the log-likelihood of the
  /// logit at u.
  BinarySums augment_logit(const Vector &u, const RowRandom &random);
  /// For every row, Albert and Chib's latent y* ~ Normal(z'u, 1), positive if and only if y = 1, is
  /// drawn: the gradient is the sum of z y*, squares that of y*^2; and the log-likelihood of the
  /// probit at u.
  BinarySums augment(const Vector &u, const RowRandom &random);

  /// The computation of a pass for a block of rows, called from all threads.
  class Step;
  struct SumsPass;

 private:
  class Worker;
  /// Terms that have these scales.
  BinaryRows(RowSource &rows, const RegressionTerms &terms, TermScales scales, Control &control)
      : rows_(rows),
        terms_(terms),
        control_(control),
        scales_(std::move(scales)) {}
  void find_scales();
  BinarySums pass(const Step &step, const Vector &u, bool gradient, bool curvature);

  RowSource &rows_;
  const RegressionTerms &terms_;
  Control &control_;
  TermScales scales_;
  double weight_ = 0, positives_ = 0;
  std::vector<int> constant_;
};

/// The passes of binary regressions: sums of the likelihood; ranges of the terms, and their sums of
/// squares.
extern const PassOver<PartOfRows> binary_sums_pass, binary_ranges_pass, binary_squares_pass;

}  // namespace bayes
