// The dependence of columns: mutual information of pairs.
#pragma once

#include <cstdint>
#include <functional>

#include "questions/row_distribution.hpp"

namespace bayes {

struct MutualInformation {
  /// elements, from 0; first <= second
  int first, second;
  /// For an element with itself: its entropy if it is a category, else NaN.
  double nats;
  /// its Monte Carlo standard error; 0 if it is exact
  double mcse;
  /// sqrt(1 - exp(-2 nats)), which for two normals is the absolute correlation; NaN of an element
  /// with itself
  double dependence;
};

struct DependenceOptions {
  int draws = 10000;
  std::uint64_t seed = 1;
};
/// Throws Error(invalid_argument) for an option that does not exist, or cannot have its value.
BAYES_API DependenceOptions read_dependence_options(const Document &options);

/// Passes every pair to `emit`. Exact for two categories, for two elements of one normal, and, as
/// an integral, for a category and a number (label_and_number.hpp); otherwise the mean of log p(x,
/// y) - log p(x) - log p(y) over draws, 0 if it is negative. Polls.
BAYES_API void mutual_information(RowDistribution &rows,
                                  const std::function<void(const MutualInformation &)> &emit,
                                  const DependenceOptions &options = {});

}  // namespace bayes
