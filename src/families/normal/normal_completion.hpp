// Rows that miss elements with something in their place: draws given component and parameters, for
// samplers, or conditional means, for starting points.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "data/rows.hpp"
#include "families/normal/normal_point.hpp"

namespace bayes {

/// Puts something in the place of what a row misses, given its component.
class ElementCompletion {
 public:
  /// The components from here on.
  void set_point(NormalPoint point);
  const NormalPoint &point() const { return point_; }

  /// The number of the pattern of a row's missing elements (NaN), of which there is one at least.
  std::size_t pattern_of(std::span<const double> x);
  /// The elements missing in a pattern, rising.
  const std::vector<int> &columns_of(std::size_t pattern) const { return patterns_[pattern]; }
  /// Completes a row of this pattern, given that it is of this component: by a draw of the missing
  /// elements, or with `random` null by their mean.
  void complete(std::span<double> x, std::size_t pattern, int component, Random *random);

 private:
  /// The root of the covariance of a pattern's missing elements: L^-1 of P_hh = L L'.
  const Matrix &root(int scale, std::size_t pattern);

  std::map<std::vector<int>, std::size_t> numbers_;
  std::vector<std::vector<int>> patterns_;
  NormalPoint point_;
  /// of every scale, if dense
  std::vector<Matrix> precision_;
  std::map<std::pair<int, std::size_t>, Matrix> roots_;
};

/// A copy of all rows in memory.
class RowCompletion {
 public:
  RowCompletion(RowSource &rows, Control &control);

  /// All rows, with 0 for missing elements until these are completed.
  MemoryRows rows;
  /// Those that miss elements, in the same order, as they came.
  MemoryRows incomplete;
  /// their numbers among all rows
  std::span<const std::int64_t> numbers() const { return numbers_; }

  /// The components that rows are completed by from here on.
  void set_point(NormalPoint point) { completion_.set_point(std::move(point)); }
  const NormalPoint &point() const { return completion_.point(); }
  /// Completes incomplete row i, given that it is of this component: by a draw of the missing
  /// elements, or with `random` null by their mean.
  void complete(std::size_t i, int component, Random *random);
  void complete_by_means(int component, Control &control);

 private:
  std::vector<std::int64_t> numbers_;
  /// of every incomplete row
  std::vector<std::size_t> pattern_;
  ElementCompletion completion_;
  std::vector<double> x_;
};

}  // namespace bayes
