// rollup(bayes_model): models of parts of the rows put together, for every family that can.
#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/bind/aggregate.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The transition state: the models so far, merged.
struct Merged {
  explicit Merged(MemoryContext) {}
  std::unique_ptr<Model> model;

  void add(std::unique_ptr<Model> other) {
    if (!model) {
      model = std::move(other);
      return;
    }
    if (model->info.family != other->info.family)
      throw Error(Errc::wrong_family,
                  message("models of different families cannot be merged: {} and {}",
                          describe(model->info.family), describe(other->info.family)));
    model->merge(*other);
  }
};

Merged &state_of(FunctionCallInfo fcinfo, MemoryContext context) {
  if (PG_ARGISNULL(0)) return *make_in<Merged>(context, "pg_bayes models");
  return *reinterpret_cast<Merged *>(PG_GETARG_POINTER(0));
}

}  // namespace

/// (internal, bayes_model) -> internal
BAYES_FUNCTION(bayes_rollup_transition) {
  Merged &state = state_of(fcinfo, aggregate_context(fcinfo));
  if (!PG_ARGISNULL(1)) state.add(load_model(PG_GETARG_DATUM(1)));
  PG_RETURN_POINTER(&state);
}

/// (internal, internal) -> internal: the second comes from deserialize, and is used up.
BAYES_FUNCTION(bayes_rollup_combine) {
  Merged &state = state_of(fcinfo, aggregate_context(fcinfo));
  if (!PG_ARGISNULL(1)) {
    Merged &other = *reinterpret_cast<Merged *>(PG_GETARG_POINTER(1));
    if (other.model) state.add(std::move(other.model));
  }
  PG_RETURN_POINTER(&state);
}

/// (internal) -> bytea; empty if there was no model
BAYES_FUNCTION(bayes_rollup_serialize) {
  aggregate_context(fcinfo);
  const auto &state = *reinterpret_cast<const Merged *>(PG_GETARG_POINTER(0));
  return partial_state(state.model ? state.model->to_bytes() : std::string(), "models",
                       "roll up fewer models at a time.");
}

/// (bytea, internal) -> internal
BAYES_FUNCTION(bayes_rollup_deserialize) {
  aggregate_context(fcinfo);
  const bytea *const bytes = guarded([fcinfo] { return PG_GETARG_BYTEA_PP(0); });
  Merged &state = *make_in<Merged>(CurrentMemoryContext, "pg_bayes models");
  if (VARSIZE_ANY_EXHDR(bytes) > 0)
    state.model = Model::from_bytes({VARDATA_ANY(bytes), std::size_t(VARSIZE_ANY_EXHDR(bytes))});
  PG_RETURN_POINTER(&state);
}

/// (internal) -> bayes_model; may run several times on one state.
BAYES_FUNCTION(bayes_rollup_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto &state = *reinterpret_cast<const Merged *>(PG_GETARG_POINTER(0));
  if (!state.model) PG_RETURN_NULL();
  return store_model(*state.model);
}
