// Rows that miss elements with something in their place: draws given component and parameters, for
// samplers, or conditional means, for starting points.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "data/rows.hpp"
#include "families/normal/normal_point.hpp"

namespace bayes {

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
  void set_point(NormalPoint point);
  const NormalPoint &point() const { return point_; }
  /// Completes incomplete row i, given that it is of this component: by a draw of the missing
  /// elements, or with `random` null by their mean.
  void complete(std::size_t i, int component, Random *random);
  void complete_by_means(int component, Control &control);

 private:
  /// The root of the covariance of a pattern's missing elements: L^-1 of P_hh = L L'.
  const Matrix &root(int scale, std::size_t pattern);

  std::vector<std::int64_t> numbers_;
  /// the elements missing, of every pattern; and the pattern of every incomplete row
  std::vector<std::vector<int>> patterns_;
  std::vector<std::size_t> pattern_;
  NormalPoint point_;
  /// of every scale, if dense
  std::vector<Matrix> precision_;
  std::map<std::size_t, Matrix> roots_;
  std::vector<double> x_;
};

}  // namespace bayes
