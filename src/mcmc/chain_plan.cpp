#include "mcmc/chain_plan.hpp"

#include "base/error.hpp"

namespace bayes {

void read_chain_plan(OptionReader &in, ChainPlan &plan) {
  plan.chains = int(in.integer("chains", plan.chains, 1, 1000));
  plan.draws = int(in.integer("draws", plan.draws, 1, 100000000));
  plan.warmup = int(in.integer("warmup", plan.draws / 2, 0, 100000000));
  plan.thin = int(in.integer("thin", plan.thin, 1, 100000000));
  if (plan.warmup >= plan.draws)
    throw Error(Errc::invalid_argument,
                "option \"warmup\" is " + std::to_string(plan.warmup) +
                    ", but must be below option \"draws\", which is " + std::to_string(plan.draws),
                "A chain makes as many sweeps as draws says, and forgets the first ones of them, "
                "the warmup.");
  if (plan.kept() < 1)
    throw Error(Errc::invalid_argument,
                "option \"thin\" is " + std::to_string(plan.thin) + ", but only " +
                    std::to_string(plan.draws - plan.warmup) + " draws follow the warmup",
                "Every thin-th of them is kept, which leaves none.", "Lower thin.");
  if (plan.all_kept() > 4000000)
    throw Error(Errc::too_large,
                std::to_string(plan.chains) + " chains of " + std::to_string(plan.kept()) +
                    " draws are more than a model can hold",
                "The limit is 4 million draws.", "Ask for fewer chains or draws, or raise thin.");
}

void write_chain_plan(Document &out, const ChainPlan &plan) {
  out.set("chains", plan.chains)
      .set("draws", plan.draws)
      .set("warmup", plan.warmup)
      .set("thin", plan.thin);
}

}  // namespace bayes
