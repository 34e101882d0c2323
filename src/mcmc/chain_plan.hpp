// The number and length of MCMC chains, and which draws are stored: options that all samplers
// share.
#pragma once

#include <cstdint>

namespace bayes {

class OptionTable;

/// A chain makes `draws` sweeps. The first `warmup` are discarded, and of the others every thin-th
/// is a draw.
struct ChainPlan {
  int chains = 4;
  int draws = 1000;
  int warmup = 500;
  int thin = 1;
  /// Number of draws that a model stores completely; 0: chosen by draws_to_store().
  int stored_draws = 0;
  /// number of draws of one chain after warmup and thinning
  int stored() const { return (draws - warmup) / thin; }
  std::int64_t all_stored() const { return std::int64_t(chains) * stored(); }

  /// Options chains, draws, warmup, thin. Throws Error: invalid_argument, or too_large for more
  /// than 4 million draws of all chains.
  void lines(OptionTable &t, bool applies);
  /// Option stored_draws, for models that store complete draws.
  void stored_line(OptionTable &t, bool applies);
};

}  // namespace bayes
