// Missing elements of rows under normal components, for the local step.
//
// If the elements of a component are independent, a row's score is a sum over its elements: what is
// missing is left out of it (MissingColumns). Else what is observed tells of what is missing:
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

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/linalg.hpp"
#include "data/rows.hpp"

namespace bayes {

/// Where elements of a block are missing, by columns.
class MissingColumns {
 public:
  explicit MissingColumns(int dimension) : holes_(std::size_t(dimension)) {}

  void find(const double *block);
  bool any() const { return any_; }
  /// of every column: is an element missing?
  const char *holes() const { return holes_.data(); }
  /// places of rows that miss all
  std::span<const int> empty() const { return empty_; }

 private:
  std::vector<char> holes_;
  std::vector<int> empty_;
  bool any_ = false;
};

/// For one thread, and a scorer of so many components with so many dense scales.
class MissingElements {
 public:
  MissingElements(int dimension, int components, int scales);

  /// Which elements of the block are missing.
  void find(const double *block);
  bool any() const { return !places_.empty() || !empty_.empty(); }
  /// places of rows that miss all
  std::span<const int> empty() const { return empty_; }

  /// Rows that miss the same elements, not all.
  struct Group {
    /// increasing
    std::span<const int> columns;
    /// of the rows in the block
    std::span<const int> places;
  };
  int groups() const { return int(groups_.size()); }
  Group group(int g) const;

  // P = W'W, W lower triangular.

  /// Does scale s have its precision?
  bool known(int s) const { return precision_[std::size_t(s)].size() > 0; }
  void learn(int s, const Matrix &whiten);
  /// Puts the conditional means, less the component's, into the holes of a block that is centred.
  void fill(int k, int s, const double *mean, double *y);
  /// The incomplete rows alone, group by group, centred and filled, in a block of their own.
  const double *filled_rows(int k, int s, const double *mean);
  int rows() const { return int(places_.size()); }
  /// What the scores of a group gain: |h|/2 log 2 pi - 1/2 log |P_hh|.
  double constant(int s, int g) { return conditional(s, g)[0]; }
  /// scatter (lower triangle, row by row) += weight x covariance of the group's missing elements
  void add_covariance(int s, int g, double weight, double *scatter);

 private:
  struct Pattern {
    std::vector<int> columns;
    /// where its numbers are among a scale's; none: too many to remember
    std::size_t first;
  };
  struct Rows {
    const Pattern *pattern;
    /// among places_
    int first, end;
  };
  using Mask = std::vector<std::uint64_t>;
  static constexpr std::size_t none = ~std::size_t(0);
  /// numbers remembered of all scales together, and of the conditional means in a block
  static constexpr std::size_t max_numbers = std::size_t(1) << 20, max_means = 1 << 16;

  /// The columns of the block that have holes; has it changed since the block before?
  bool find_columns(const double *block);
  /// Distributes the rows among groups_.
  void find_groups(const double *block);
  const Pattern *pattern_of(const Mask &mask);
  /// The constant, and the lower triangle of P_hh^-1 in units of unit_, row by row.
  const double *conditional(int s, int g);
  void compute(int s, const Pattern &pattern, double *out);
  /// The conditional means less the component's, group by group, row by row.
  const double *means(int k, int s, const double *mean);
  void compute_means(int s, const double *mean, double *out);

  const int d_;
  std::vector<char> holes_of_columns_;
  /// group by group; incomplete rows of the block, and as they stand there, side by side
  std::vector<int> places_;
  Buffer rows_of_block_;
  std::vector<Rows> groups_;
  std::vector<int> empty_;
  /// columns with holes, and their place among them; holes of all rows in groups
  std::vector<int> with_holes_, place_;
  std::size_t holes_ = 0;
  /// the masks of the rows over these columns
  std::vector<std::uint64_t> masks_;

  std::unordered_map<std::string, Pattern> patterns_;
  /// those met while with_holes_ was as now
  std::vector<std::pair<Mask, const Pattern *>> recent_;
  /// of this block alone
  std::vector<std::unique_ptr<Pattern>> more_;
  std::size_t numbers_ = 0;
  /// of every scale, with a NaN for the constant of a pattern not met yet
  std::vector<std::vector<double>> remembered_;
  /// of every scale: the precision in units of 1 / unit_, which makes its diagonal 1
  std::vector<Matrix> precision_;
  std::vector<Vector> unit_;
  /// of every component: has it conditional means of this block, and these
  std::vector<char> has_means_;
  Buffer means_;
  Buffer centred_, products_;
  std::vector<double> scratch_, factor_;
};

}  // namespace bayes
