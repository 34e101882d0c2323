// Completion of rows with missing elements: imputation by draws given component and parameters, for
// samplers, or by conditional means, for starting points.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "data/rows.hpp"
#include "families/normal/normal_point.hpp"

namespace bayes {

/// Imputes the missing elements of rows, given their components.
class ElementCompletion {
 public:
  /// Sets the components to impute from.
  void set_point(NormalPoint point);
  const NormalPoint &point() const { return point_; }

  /// The number of the pattern of missing elements (NaN) in row x, which has at least one.
  std::size_t pattern_of(std::span<const double> x);
  /// The elements missing in a pattern, in ascending order.
  const std::vector<int> &columns_of(std::size_t pattern) const { return patterns_[pattern]; }
  /// Completes a row x with this pattern, given that it belongs to this component: by a draw of the
  /// missing elements, or by their conditional mean if `random` is null.
  void complete(std::span<double> x, std::size_t pattern, int component, Random *random);

 private:
  /// L^-1, where P_hh = L L' is the precision of a pattern's missing elements: a root of their
  /// covariance given the other elements.
  const Matrix &root(int scale, std::size_t pattern);

  std::map<std::vector<int>, std::size_t> numbers_;
  std::vector<std::vector<int>> patterns_;
  NormalPoint point_;
  /// of every scale, if the shape is dense
  std::vector<Matrix> precision_;
  std::map<std::pair<int, std::size_t>, Matrix> roots_;
};

/// A copy of all rows in memory, with missing elements completed.
class RowCompletion {
 public:
  RowCompletion(RowSource &rows, Control &control);

  /// All rows; missing elements are 0 until they are completed.
  MemoryRows rows;
  /// The rows with missing elements, as they were read, in the same order.
  MemoryRows incomplete;
  /// their indices among all rows
  std::span<const std::int64_t> numbers() const { return numbers_; }

  /// Sets the components to complete rows from.
  void set_point(NormalPoint point) { completion_.set_point(std::move(point)); }
  const NormalPoint &point() const { return completion_.point(); }
  /// Completes incomplete row i, given that it belongs to this component: by a draw of the missing
  /// elements, or by their conditional mean if `random` is null.
  void complete(std::size_t i, int component, Random *random);
  void complete_by_means(int component, Control &control);
  /// Writes or reads the completed rows.
  void exchange(StateNumbers &numbers);

 private:
  std::vector<std::int64_t> numbers_;
  /// the pattern of every incomplete row
  std::vector<std::size_t> pattern_;
  ElementCompletion completion_;
  std::vector<double> x_;
};

}  // namespace bayes
