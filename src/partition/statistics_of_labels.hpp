// The sufficient statistics of the clusters of a given partition.
#pragma once

#include <vector>

#include "data/local_step.hpp"

namespace bayes {

/// The statistics of rows whose labels (below k) are given. The second pass computes sums about the
/// posterior means from the first, so that rows far from the prior's mean lose no digits.
/// `elsewhere`: as in GivenAllocation.
template <class Q>
auto statistics_of_labels(RowSource &rows, const Q &prior, const int *labels, int k,
                          Control &control, const Document *elsewhere = nullptr) {
  const Q all = replicate(prior, k);
  const std::vector<double> zeros(std::size_t(k), 0.0);
  const auto pass = [&](const Q &about) {
    return local_step<GivenAllocation>(rows, control, make_scorer(about), zeros,
                                       {labels, elsewhere})
        .statistics;
  };
  return pass(posterior(pass(all), all));
}

}  // namespace bayes
