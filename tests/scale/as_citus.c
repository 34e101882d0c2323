// Aggregates whose functions are called as Citus calls them, for tests on plain servers:
//
//   partial(aggregate, arguments...) -> text      the state of an aggregate over some rows, as its
//                                                 type writes it; 'internal' for one of that type
//   combined(aggregate, text, NULL::type) -> type such states, put together
//
// Transition and combine functions are looked up for each row, so that fn_extra is always NULL;
// they have no expression, so that get_fn_expr_argtype() gives 0; the current memory context is
// that of the row; and the aggregate that AggCheckCallContext() finds is another one.
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(partial_transition);
PG_FUNCTION_INFO_V1(partial_final);
PG_FUNCTION_INFO_V1(combined_transition);
PG_FUNCTION_INFO_V1(combined_final);
PG_FUNCTION_INFO_V1(copied_bytes);

// how much of states was copied, as they had moved
static int64 copied = 0;

typedef struct State {
  FormData_pg_aggregate aggregate;
  int16 length;
  bool by_value, null;
  Datum value;
} State;

static MemoryContext context_of(FunctionCallInfo fcinfo) {
  MemoryContext out;
  if (!AggCheckCallContext(fcinfo, &out)) elog(ERROR, "not called as an aggregate");
  return out;
}

static State *state_of(FunctionCallInfo fcinfo) {
  State *state;
  HeapTuple tuple;
  if (!PG_ARGISNULL(0)) return (State *)PG_GETARG_POINTER(0);
  state = MemoryContextAllocZero(context_of(fcinfo), sizeof(State));
  tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(PG_GETARG_OID(1)));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "no aggregate");
  memcpy(&state->aggregate, GETSTRUCT(tuple), offsetof(FormData_pg_aggregate, aggmtransspace));
  ReleaseSysCache(tuple);
  get_typlenbyval(state->aggregate.aggtranstype, &state->length, &state->by_value);
  state->null = true;
  return state;
}

static void replace(State *state, FunctionCallInfo fcinfo, Datum value, bool null) {
  Datum before = state->value;
  bool had = !state->null && !state->by_value;
  if (!null && !state->by_value) {
    MemoryContext row;
    if (had && DatumGetPointer(value) == DatumGetPointer(before)) return;
    row = MemoryContextSwitchTo(context_of(fcinfo));
    copied += datumGetSize(value, false, state->length);
    value = datumCopy(value, false, state->length);
    MemoryContextSwitchTo(row);
  }
  if (had) pfree(DatumGetPointer(before));
  state->value = value;
  state->null = null;
}

// Calls f(state, arguments...), where the state is an argument like the others.
static void advance(State *state, FunctionCallInfo fcinfo, Oid function, int count,
                    const NullableDatum *arguments) {
  LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
  FmgrInfo info;
  Datum value;
  fmgr_info(function, &info);
  if (info.fn_strict) {
    for (int i = 0; i < count; ++i)
      if (arguments[i].isnull) return;
    if (state->null) return replace(state, fcinfo, arguments[0].value, false);
  }
  InitFunctionCallInfoData(*inner, &info, count + 1, fcinfo->fncollation, fcinfo->context, NULL);
  inner->args[0].value = state->value;
  inner->args[0].isnull = state->null;
  for (int i = 0; i < count; ++i) inner->args[i + 1] = arguments[i];
  value = FunctionCallInvoke(inner);
  if (state->length > 0 && state->by_value)
    state->value = value, state->null = inner->isnull;
  else
    replace(state, fcinfo, value, inner->isnull);
}

// (internal, aggregate, arguments...) -> internal
Datum partial_transition(PG_FUNCTION_ARGS) {
  State *state = state_of(fcinfo);
  advance(state, fcinfo, state->aggregate.aggtransfn, PG_NARGS() - 2, &fcinfo->args[2]);
  PG_RETURN_POINTER(state);
}

// (internal) -> text
Datum partial_final(PG_FUNCTION_ARGS) {
  State *state;
  Oid output;
  bool variable;
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  state = (State *)PG_GETARG_POINTER(0);
  if (state->null) PG_RETURN_NULL();
  if (state->aggregate.aggtranstype == INTERNALOID) return CStringGetTextDatum("internal");
  getTypeOutputInfo(state->aggregate.aggtranstype, &output, &variable);
  return CStringGetTextDatum(OidOutputFunctionCall(output, state->value));
}

// (internal, aggregate, text, result) -> internal
Datum combined_transition(PG_FUNCTION_ARGS) {
  State *state = state_of(fcinfo);
  Oid input, parameter;
  NullableDatum part = {0, true};
  if (!PG_ARGISNULL(2)) {
    getTypeInputInfo(state->aggregate.aggtranstype, &input, &parameter);
    part.value =
        OidInputFunctionCall(input, TextDatumGetCString(PG_GETARG_DATUM(2)), parameter, -1);
    part.isnull = false;
  }
  advance(state, fcinfo, state->aggregate.aggcombinefn, 1, &part);
  PG_RETURN_POINTER(state);
}

// (internal, aggregate, text, result) -> result, of aggregates whose state is their result
Datum combined_final(PG_FUNCTION_ARGS) {
  State *state = PG_ARGISNULL(0) ? NULL : (State *)PG_GETARG_POINTER(0);
  if (!state || state->null) PG_RETURN_NULL();
  if (OidIsValid(state->aggregate.aggfinalfn)) elog(ERROR, "the aggregate has a final function");
  PG_RETURN_DATUM(state->value);
}

// () -> int8: since the last call
Datum copied_bytes(PG_FUNCTION_ARGS) {
  const int64 out = copied;
  copied = 0;
  PG_RETURN_INT64(out);
}
