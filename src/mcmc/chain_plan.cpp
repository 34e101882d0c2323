#include "mcmc/chain_plan.hpp"

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/option_table.hpp"

namespace bayes {
namespace {

void check(const ChainPlan &plan) {
  if (plan.warmup >= plan.draws)
    throw Error(Errc::invalid_argument,
                message("option \"warmup\" is {}, but must be below option \"draws\", which is {}",
                        plan.warmup, plan.draws),
                "Option draws is the length of a chain, the warmup included, which is discarded.");
  if (plan.stored() < 1)
    throw Error(Errc::invalid_argument,
                message("option \"thin\" is {}, but only {} draws follow the warmup", plan.thin,
                        plan.draws - plan.warmup),
                "Every thin-th of them is kept, which leaves none.", "Lower thin.");
  if (plan.all_stored() > 4000000)
    throw Error(Errc::too_large,
                message("{} chains of {} draws are too many", plan.chains, plan.stored()),
                "The limit is 4 million draws.", "Ask for fewer chains or draws, or raise thin.");
}

}  // namespace

void ChainPlan::lines(OptionTable &t, bool applies) {
  t.integer({"chains", "number of chains"}, chains, 1, 1000, applies);
  t.integer({"draws", "steps of a chain, the warmup included"}, draws, 1, 100000000, applies);
  if (t.reads()) warmup = draws / 2;
  t.integer({"warmup", "first steps of a chain, which are discarded", "", "half of draws"}, warmup,
            0, 100000000, applies);
  t.integer({"thin", "every thin-th step after the warmup is a draw"}, thin, 1, 100000000, applies);
  if (t.reads()) check(*this);
}

void ChainPlan::stored_line(OptionTable &t, bool applies) {
  // Written only if it was given, since the default depends on the draws.
  if (t.reads() || stored_draws > 0)
    t.integer({"stored_draws", "draws that the model keeps"}, stored_draws, 1, 1000000, applies);
}

}  // namespace bayes
