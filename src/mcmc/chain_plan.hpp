// The number and length of MCMC chains, and which draws are stored: options that all samplers
// share.
#pragma once

#include <cstdint>

#include "document/options.hpp"

namespace bayes {

/// A chain makes `draws` sweeps; the first `warmup` are discarded, and every thin-th of the others
/// is stored.
struct ChainPlan {
  int chains = 4;
  int draws = 1000;
  int warmup = 500;
  int thin = 1;
  /// of one chain
  int kept() const { return (draws - warmup) / thin; }
  std::int64_t all_kept() const { return std::int64_t(chains) * kept(); }
};

/// Keys chains, draws, warmup, thin. Throws Error: invalid_argument, or too_large for more draws
/// than a model can hold.
void read_chain_plan(OptionReader &in, ChainPlan &plan);
void write_chain_plan(Document &out, const ChainPlan &plan);

}  // namespace bayes
