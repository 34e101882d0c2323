// Missing elements of rows under normal components, for the local step.
//
// A component scores a row x with log s(x) = constant - (x - m)' P (x - m) / 2. At a point s is the
// normal density, P its precision; in variational inference s is exp(E_q[log N(x | mu, Lambda)])
// and P = E_q[Lambda]. Of a row with observed elements o and missing ones h it scores the integral
// of s over the missing elements:
//   log int s(x) dx_h = constant - (y - m)' P (y - m) / 2 + |h|/2 log 2 pi - 1/2 log |P_hh|,
//   y_o = x_o,  y_h = m_h - P_hh^-1 P_ho (x_o - m_o),
// which at a point is log N(x_o | m_o, Sigma_oo). The missing elements given the others are normal
// with mean y_h and covariance P_hh^-1: at a point their distribution given component and
// parameters (the E step of Dempster, Laird and Rubin 1977; Ghahramani and Jordan 1994), in
// variational inference the factor q(x_h | z) that maximises the bound given q(mu, Lambda). The sum
// over rows of log sum_k exp(E[log pi_k]) int s_k then holds the entropy of q(z, x_h), so bound and
// monotone steps remain. Sums of squares take the second moments, y y' plus the covariance.
//
// So a block is scored and added up as a complete one whose holes hold y, with a constant and a
// covariance for every incomplete row. Both depend on which elements are missing alone: they are
// computed once for each such pattern, and remembered from block to block.
//
// A row that misses everything is no evidence: it scores 0 and adds nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/aligned.hpp"
#include "base/linalg.hpp"
#include "data/rows.hpp"

namespace bayes {

/// For one thread, and a scorer with so many scales, each d x d.
class MissingElements {
 public:
  MissingElements(int dimension, int scales);

  /// Which elements of the block are missing.
  void find(const double *block);
  bool any() const { return !rows_.empty() || !empty_.empty(); }
  /// rows that miss something, but not all
  int rows() const { return int(rows_.size()); }
  /// the row's place in the block
  int place(int row) const { return rows_[std::size_t(row)].place; }
  /// those that miss all
  std::span<const int> empty() const { return empty_; }
  /// the elements missing of a row, increasing
  std::span<const int> columns(int row) const { return rows_[std::size_t(row)].pattern->columns; }

  // Dense scales. `whiten(i, j)`: the lower triangular W of scale s, P = W'W.

  /// Does scale s have its precision?
  bool known(int s) const { return precision_[std::size_t(s)].size() > 0; }
  void learn(int s, const Matrix &whiten);
  /// Puts the conditional means, less the component's mean, into a centred block.
  void fill(int s, double *y);
  /// What the row's score gains: |h|/2 log 2 pi - 1/2 log |P_hh|.
  double constant(int s, int row) { return conditional(s, row)[0]; }
  /// scatter (lower triangle, row by row) += weight x covariance of the row's missing elements
  void add_covariance(int s, int row, double weight, double *scatter);
  /// The incomplete rows of a filled block, one after the other, in a block of their own.
  const double *gather(const double *y);

 private:
  struct Pattern {
    std::vector<int> columns;
    /// where its numbers are among a scale's; none: too many to remember
    std::size_t first;
  };
  struct Row {
    int place;
    const Pattern *pattern;
  };
  static constexpr std::size_t none = ~std::size_t(0);
  /// numbers remembered of all scales together
  static constexpr std::size_t most_numbers = std::size_t(1) << 20;

  const Pattern *pattern_of(const double *row);
  /// The constant, and the lower triangle of P_hh^-1 in units of unit_, row by row.
  const double *conditional(int s, int row);
  void compute(int s, const Pattern &pattern, double *out);

  const int d_;
  std::vector<Row> rows_;
  std::vector<int> empty_;
  std::unordered_map<std::string, Pattern> patterns_;
  /// of this block alone
  std::vector<std::unique_ptr<Pattern>> more_;
  std::size_t numbers_ = 0;
  /// of every scale, with a NaN for the constant of a pattern not met yet
  std::vector<std::vector<double>> remembered_;
  /// columns with holes in this block, and their place among them
  std::vector<int> with_holes_, place_;
  /// of every scale: the precision in units of 1 / unit_, which makes its diagonal 1
  std::vector<Matrix> precision_;
  std::vector<Vector> unit_;
  std::string key_;
  Buffer rows_of_block_, products_;
  std::vector<double> scratch_, factor_;
};

}  // namespace bayes
