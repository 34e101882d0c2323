// What a server does for a fit that runs on another one: it keeps its rows, and makes passes over
// them. The other server calls these aggregates through postgres_fdw (pg/parts/pushed_rows.*).
#include "data/remote_rows.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/pass_call.hpp"
#include "pg/parts/kept_rows.hpp"
#include "pg/values/pass_value.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The request of a call, after its number of the part.
PassCall call_of(FunctionCallInfo fcinfo, int &part) {
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) PassReader::refuse();
  part = PG_GETARG_INT32(1);
  if (part < 0) PassReader::refuse();
  return PassCall(PG_GETARG_DATUM(2));
}

constexpr int first_value = 3;

/// The state of the aggregate that keeps rows: a number, since the rows may be replaced or
/// forgotten by other calls.
struct KeepState {
  std::uint64_t serial;
};

KeptRows &begin_rows(FunctionCallInfo fcinfo) {
  int part = 0;
  const PassCall call = call_of(fcinfo, part);
  return begin_kept_rows(call, part, fcinfo, first_value);
}

}  // namespace

/// (internal, int, bayes_pass, values...) -> internal
BAYES_FUNCTION(bayes_keep_rows_transition) {
  const MemoryContext context = aggregate_context(fcinfo);
  auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<KeepState *>(PG_GETARG_POINTER(0));
  if (!state) {
    const std::uint64_t serial = begin_rows(fcinfo).serial();
    state = static_cast<KeepState *>(
        guarded([context] { return MemoryContextAlloc(context, sizeof(KeepState)); }));
    state->serial = serial;
  }
  kept_rows_of(state->serial).add(&fcinfo->args[first_value]);
  PG_RETURN_POINTER(state);
}

/// (internal) -> bayes_pass: NULL if there were no rows at all
BAYES_FUNCTION(bayes_keep_rows_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  KeptRows &kept = kept_rows_of(reinterpret_cast<KeepState *>(PG_GETARG_POINTER(0))->serial);
  return pass_value(PassCall::answered(kept.part(), kept.end()));
}

/// (internal, boolean) -> internal: there are no rows, and if there are, they do not matter
BAYES_FUNCTION(bayes_make_pass_transition) {
  aggregate_context(fcinfo);
  PG_RETURN_NULL();
}

/// (internal, int, bayes_pass) -> bayes_pass
BAYES_FUNCTION(bayes_make_pass_final) {
  aggregate_context(fcinfo);
  int part = 0;
  const PassCall call = call_of(fcinfo, part);
  return pass_value(PassCall::answered(part, call.answer(part)));
}
