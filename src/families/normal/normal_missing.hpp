// Missing elements of rows under normal components, for the local step.
//
// If the elements of a component are independent, a row's score is a sum over its elements, from
// which missing ones are left out (MissingColumns). Otherwise the observed elements carry
// information about the missing ones (MissingElements):
//
// A component scores a row x with log s(x) = constant - (x - m)' P (x - m) / 2. At a point s is the
// normal density, P its precision; in variational inference s is exp(E_q[log N(x | mu, Lambda)])
// and P = E_q[Lambda]. The score of a row with observed elements o and missing elements h is the
// log of the integral of s over the missing ones:
//   log int s(x) dx_h = constant - (y - m)' P (y - m) / 2 + |h|/2 log 2 pi - 1/2 log |P_hh|,
//   y_o = x_o,  y_h = m_h - P_hh^-1 P_ho (x_o - m_o),
// which at a point is log N(x_o | m_o, Sigma_oo). The missing elements given the others are normal
// with mean y_h and covariance P_hh^-1: at a point their distribution given component and
// parameters (the E step of Dempster, Laird and Rubin 1977; Ghahramani and Jordan 1994), in
// variational inference the factor q(x_h | z) that maximises the bound given q(mu, Lambda). The sum
// over rows of log sum_k exp(E[log pi_k]) int s_k then includes the entropy of q(z, x_h), so that
// the objective remains a bound that every step increases. Sums of squares use the second moments,
// y y' plus the covariance.
//
// So a block is scored and accumulated as a complete one, with y in place of the missing elements,
// and with a constant and a covariance for every incomplete row. Both depend only on which elements
// are missing: they are computed once for every such pattern, and cached from block to block.
//
// A row without observed elements is no evidence: it scores 0 and adds nothing.
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

/// The columns of a block that have missing elements.
class MissingColumns {
 public:
  explicit MissingColumns(int dimension) : holes_(std::size_t(dimension)) {}

  void find(const double *block);
  bool any() const { return any_; }
  /// for every column: is an element missing?
  const char *holes() const { return holes_.data(); }
  /// the places (indices in the block) of rows without observed elements
  std::span<const int> empty() const { return empty_; }

 private:
  std::vector<char> holes_;
  std::vector<int> empty_;
  bool any_ = false;
};

/// The missing elements of a block under components with dense scales; for one thread.
class MissingElements {
 public:
  MissingElements(int dimension, int components, int scales);

  /// Finds the missing elements of the block.
  void find(const double *block);
  bool any() const { return !places_.empty() || !empty_.empty(); }
  /// the places (indices in the block) of rows without observed elements
  std::span<const int> empty() const { return empty_; }

  /// Rows that miss the same elements, but not all of them.
  struct Group {
    /// the missing elements, increasing
    std::span<const int> columns;
    /// the places of the rows in the block
    std::span<const int> places;
  };
  int groups() const { return int(groups_.size()); }
  Group group(int g) const;

  // P = W'W, W lower triangular.

  /// Is the precision of scale s known?
  bool known(int s) const { return precision_[std::size_t(s)].size() > 0; }
  void learn(int s, const Matrix &whiten);
  /// Writes the conditional means of the missing elements, minus the component's mean, into the
  /// centred block y.
  void fill(int k, int s, const double *mean, double *y);
  /// A block of the incomplete rows only, group by group, centred and with missing elements filled
  /// in.
  const double *filled_rows(int k, int s, const double *mean);
  int rows() const { return int(places_.size()); }
  /// The constant added to the scores of a group: |h|/2 log 2 pi - 1/2 log |P_hh|.
  double constant(int s, int g) { return conditional(s, g)[0]; }
  /// scatter (lower triangle, row by row) += weight x covariance of the group's missing elements
  void add_covariance(int s, int g, double weight, double *scatter);

 private:
  struct Pattern {
    std::vector<int> columns;
    /// where its numbers begin among the cached numbers of a scale; none: it is not cached
    std::size_t first;
  };
  struct Rows {
    const Pattern *pattern;
    /// range of its rows in places_
    int first, end;
  };
  using Mask = std::vector<std::uint64_t>;
  static constexpr std::size_t none = ~std::size_t(0);
  /// limits of the cache: numbers of all scales together, and conditional means of a block
  static constexpr std::size_t max_numbers = std::size_t(1) << 20, max_means = 1 << 16;

  /// Finds the columns of the block with missing elements. Do they differ from those of the
  /// previous block?
  bool find_columns(const double *block);
  /// Groups the incomplete rows by their patterns.
  void find_groups(const double *block);
  const Pattern *pattern_of(const Mask &mask);
  /// The constant, and the lower triangle of P_hh^-1 in units of unit_, row by row.
  const double *conditional(int s, int g);
  void compute(int s, const Pattern &pattern, double *out);
  /// The conditional means minus the component's mean, group by group, row by row.
  const double *means(int k, int s, const double *mean);
  void compute_means(int s, const double *mean, double *out);

  const int d_;
  std::vector<char> holes_of_columns_;
  /// the places of the incomplete rows in the block, group by group
  std::vector<int> places_;
  /// d x block_rows: the elements of these rows, column by column
  Buffer rows_of_block_;
  std::vector<Rows> groups_;
  std::vector<int> empty_;
  /// the columns with missing elements, and for each of them its position in this list
  std::vector<int> with_holes_, place_;
  /// number of missing elements in all groups
  std::size_t holes_ = 0;
  /// for every row, a mask of its missing elements among these columns
  std::vector<std::uint64_t> masks_;

  std::unordered_map<std::string, Pattern> patterns_;
  /// patterns met since with_holes_ last changed
  std::vector<std::pair<Mask, const Pattern *>> recent_;
  /// patterns of this block that are not cached
  std::vector<std::unique_ptr<Pattern>> more_;
  std::size_t numbers_ = 0;
  /// the cache of every scale; the constant of a pattern that is not computed yet is NaN
  std::vector<std::vector<double>> conditional_cache_;
  /// of every scale: the precision, its rows and columns multiplied by unit_, so that its diagonal
  /// is 1
  std::vector<Matrix> precision_;
  std::vector<Vector> unit_;
  /// for every component: are its conditional means of this block computed? Then the means
  std::vector<char> has_means_;
  Buffer means_;
  Buffer centred_, products_;
  std::vector<double> scratch_, factor_;
};

}  // namespace bayes
