// What goes with what: mutual information of pairs of columns.
#pragma once

#include <functional>

#include "questions/row_distribution.hpp"

namespace bayes {

struct MutualInformation {
  /// elements, from 0; first <= second
  int first, second;
  /// Of an element with itself its entropy if it is a category, else NaN.
  double nats;
  /// its Monte Carlo standard error; 0 if it is exact
  double mcse;
  /// sqrt(1 - exp(-2 nats)), which for two normals is the absolute correlation; NaN of an element
  /// with itself
  double dependence;
};

/// Passes every pair to `emit`. Exact for two categories and for two elements of one normal;
/// otherwise the mean of log p(x, y) - log p(x) - log p(y) over draws with a fixed seed, 0 if it is
/// negative. Polls.
BAYES_API void mutual_information(RowDistribution &rows,
                                  const std::function<void(const MutualInformation &)> &emit);

}  // namespace bayes
