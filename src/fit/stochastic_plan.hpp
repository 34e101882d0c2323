// Step sizes and samples of stochastic variational inference.
#pragma once

#include <cstdint>

namespace bayes {

/// The step sizes (t0 + t)^-kappa and sample sizes of stochastic inference (002 L8).
struct StochasticPlan {
  std::int64_t batch_rows = 1024;
  /// Minibatches of rows are chosen by their contents (data/hashed_rows.hpp), not by their places.
  bool by_hash = false;
  double kappa = 0.7, t0 = 10;
  std::uint64_t seed = 1;
};

}  // namespace bayes
