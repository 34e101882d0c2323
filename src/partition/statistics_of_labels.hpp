// The clusters of a partition that is given.
#pragma once

#include <vector>

#include "data/sampled_allocation.hpp"

namespace bayes {

/// The statistics of rows whose labels (below k) are given. The second pass takes sums about means
/// that the first has found, so that rows far from the prior's mean keep their digits.
template <class Q>
auto statistics_of_labels(RowSource &rows, const Q &prior, const int *labels, int k,
                          Control &control) {
  const Q all = replicate(prior, k);
  const std::vector<double> zeros(std::size_t(k), 0.0);
  const auto pass = [&](const Q &about) {
    return local_step<GivenAllocation>(rows, control, make_scorer(about), zeros, {labels})
        .statistics;
  };
  return pass(posterior(pass(all), all));
}

}  // namespace bayes
