// The options of chains, which all samplers share.
#pragma once

#include "core/options.hpp"
#include "inference/chains.hpp"

namespace bayes {

/// Keys chains, draws, warmup, thin. Throws Error: invalid_argument, or too_large for more draws than a model can hold.
void read_chain_plan(OptionReader &in, ChainPlan &plan);
void write_chain_plan(Document &out, const ChainPlan &plan);

}  // namespace bayes
