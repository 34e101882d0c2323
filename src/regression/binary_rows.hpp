// The rows of a binary regression as its learners see them: terms in units of their own, and passes
// over all rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "base/linalg.hpp"
#include "base/random.hpp"
#include "data/rows.hpp"
#include "data/sweep.hpp"
#include "regression/link_moments.hpp"
#include "regression/term_scales.hpp"
#include "regression/terms.hpp"

namespace bayes {

/// Sums over rows, of weights times what a pass computes of them.
struct BinarySums {
  /// log-likelihood; of augmented rows also the sum of the squares of what was drawn
  double log_likelihood = 0, squares = 0;
  /// sum of z times the slope of the log-likelihood (or what was drawn); p numbers
  Vector gradient;
  /// sum of z z' times minus its second derivative, p x p; empty if it was not asked for
  Matrix curvature;
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
  /// of all rows; of those with y = 1
  double weight() const { return weight_; }
  double positives() const { return positives_; }
  /// terms that say nothing: the same in every row, or without an intercept 0
  const std::vector<int> &constant() const { return constant_; }

  /// At coefficients u of z: log-likelihood, gradient and, if asked for, curvature.
  BinarySums likelihood(Link link, const Vector &u, bool curvature);
  /// The sum of weight z z'.
  Matrix gram();
  /// For every row, of weight 1, a Polya-Gamma number omega ~ PG(1, z'u) is drawn: the gradient is
  /// the sum of z (y - 1/2), the curvature that of omega z z'; and the log-likelihood of the logit
  /// at u.
  BinarySums augment_logit(const Vector &u, const RowRandom &random);
  /// For every row, Albert and Chib's latent y* ~ Normal(z'u, 1), positive if and only if y = 1, is
  /// drawn: sums of z y* and y*^2; and the log-likelihood of the probit at u.
  BinarySums augment(const Vector &u, const RowRandom &random);

  /// What a pass computes of a block of rows, called from all threads.
  class Step;

 private:
  class Worker;
  void find_scales();
  BinarySums pass(const Step &step, const Vector &u, bool gradient, bool curvature,
                  double operations);

  RowSource &rows_;
  const RegressionTerms &terms_;
  Control &control_;
  TermScales scales_;
  double weight_ = 0, positives_ = 0;
  std::vector<int> constant_;
};

}  // namespace bayes
