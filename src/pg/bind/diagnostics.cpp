// Posterior draws as relations, and aggregates that diagnose their chains.
#include "mcmc/diagnostics.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "mcmc/stored_draws.hpp"
#include "pg/bind/sums.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The transition state: all draws so far, by chain, in order of arrival.
class CollectedDraws {
 public:
  CollectedDraws(MemoryContext, FunctionCallInfo) {}

  /// NULLs are refused: skipping one would shift all later draws of its chain.
  void add(FunctionCallInfo fcinfo) {
    if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
      throw Error(Errc::null_value,
                  message("{} of draw {} is NULL", PG_ARGISNULL(1) ? "value" : "chain", count_ + 1),
                  "Draws of a chain are a sequence, from which none can be left out.",
                  "To leave it out nevertheless, use FILTER (WHERE ... IS NOT NULL).");
    add(PG_GETARG_INT32(2), PG_GETARG_FLOAT8(1));
  }
  std::vector<Chain> chains() const {
    std::vector<Chain> views;
    for (const auto &[number, draws] : chains_) views.push_back({number, draws});
    return views;
  }

 private:
  void add(std::int32_t chain, double value) {
    if (count_ == max_diagnosed_draws)
      throw Error(Errc::too_large, message("more than {} draws", max_diagnosed_draws), {},
                  "Thin them, for instance by FILTER (WHERE draw % 10 = 0).");
    if (!last_ || last_->first != chain) {
      last_ = &*chains_.try_emplace(chain).first;
      if (chains_.size() > max_diagnosed_chains)
        throw Error(Errc::too_large, message("more than {} chains", max_diagnosed_chains), {},
                    "The second argument is the number of the chain, not of the draw.");
    }
    last_->second.push_back(value);
    ++count_;
  }
  std::map<std::int32_t, std::vector<double>> chains_;
  std::pair<const std::int32_t, std::vector<double>> *last_ = nullptr;
  std::size_t count_ = 0;
};

/// (internal) -> float8. Several aggregates may share the state, and rows may be added afterwards.
Datum diagnose(FunctionCallInfo fcinfo,
               std::optional<double> (*diagnostic)(std::span<const Chain>, Control &)) {
  const CollectedDraws *const state = state_argument<CollectedDraws>(fcinfo);
  if (!state) PG_RETURN_NULL();
  ServerControl control;
  const std::optional<double> value = diagnostic(state->chains(), control);
  if (!value) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*value);
}

}  // namespace

BAYES_FUNCTION(bayes_draws) {
  ResultRows rows(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  const Draws &draws = model->draws;
  require_posterior_draws(*model);
  ServerControl control;
  const double *value = draws.values.data();
  for (int chain = 1; chain <= draws.chains; ++chain)
    for (int draw = 1; draw <= draws.draws; ++draw) {
      control.poll();
      for (const std::string &quantity : draws.quantities)
        rows.row({chain, draw, Cell::text(quantity), *value++});
    }
  return Datum(0);
}

/// (internal, value float8 [, chain int]) -> internal
BAYES_FUNCTION(bayes_draws_transition) { return add_row<CollectedDraws>(fcinfo); }

BAYES_FUNCTION(rhat_final) { return diagnose(fcinfo, rhat); }

BAYES_FUNCTION(ess_bulk_final) { return diagnose(fcinfo, ess_bulk); }

BAYES_FUNCTION(ess_tail_final) { return diagnose(fcinfo, ess_tail); }

BAYES_FUNCTION(mcse_final) { return diagnose(fcinfo, mcse_mean); }
