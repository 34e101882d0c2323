// The number and length of MCMC chains, and which draws are stored: options that all samplers
// share.
#pragma once

#include <cstdint>

namespace bayes {

class OptionTable;

/// A chain makes `draws` sweeps, of which the first `warmup` are forgotten, and of the others every
/// thin-th counts.
struct ChainPlan {
  int chains = 4;
  int draws = 1000;
  int warmup = 500;
  int thin = 1;
  /// How many draws a model stores whole; 0: as many as draws_to_store chooses.
  int stored_draws = 0;
  /// of one chain
  int stored() const { return (draws - warmup) / thin; }
  std::int64_t all_stored() const { return std::int64_t(chains) * stored(); }

  /// Options chains, draws, warmup, thin. Throws Error: invalid_argument, or too_large for more
  /// than 4 million draws of all chains.
  void lines(OptionTable &t, bool applies);
  /// Option stored_draws, for a model that stores draws whole.
  void stored_line(OptionTable &t, bool applies);
};

}  // namespace bayes
