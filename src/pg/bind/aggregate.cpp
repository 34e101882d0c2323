#include "pg/bind/aggregate.hpp"

#include "pg/server/context.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {
namespace {

/// What another process sent, until it is combined: bytes that lie in the tuple that brought them.
/// Nothing is copied.
struct Received {
  const char *data;
  std::size_t size;
};

// of serialised states; both ends are always the same version of the module
constexpr std::uint32_t format = 0x62617901;
constexpr int most_roles = 4;
constexpr std::size_t largest_state = MaxAllocSize - VARHDRSZ - 65536;

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context = nullptr;
  if (!AggCheckCallContext(fcinfo, &context))
    throw Error(Errc::internal, "aggregate support function called outside an aggregate");
  return context;
}

FitState *new_state(MemoryContext context, bool weighted) {
  return make_in<FitState>(context, "pg_bayes rows", weighted);
}

/// The first row: its parameters count for all, and are checked before any row is read.
FitState *first_row(FunctionCallInfo fcinfo, const char *family, int max_dimension,
                    CheckRequest check, std::span<const Role> roles, bool weighted,
                    const Parameters::Argument *arguments) {
  FitState *const state = new_state(aggregate_context(fcinfo), weighted);
  state->parameters.read(roles, arguments);
  const FitState::Asked &asked = state->asked(family, check);
  prepare(state->intake, asked.request, asked.policy, max_dimension);
  return state;
}

}  // namespace

const FitState::Asked &FitState::asked(const char *family, CheckRequest check) {
  if (!asked_) {
    FitRequest request = parameters.request(family);
    const FitPolicy policy = check(request);
    asked_ = Asked{std::move(request), policy};
  }
  return *asked_;
}

Datum fit_transition(FunctionCallInfo fcinfo, const char *family, int max_dimension,
                     CheckRequest check, std::span<const Role> roles) {
  const std::size_t given = std::size_t(PG_NARGS() - 2);
  const bool weighted = given > 0 && roles[given - 1] == Role::weight;
  const std::size_t parameters = given - (weighted ? 1 : 0);
  Parameters::Argument arguments[most_roles];
  for (std::size_t i = 0; i < parameters; ++i)
    arguments[i] = {fcinfo->args[2 + i].value, fcinfo->args[2 + i].isnull};

  FitState *state;
  if (PG_ARGISNULL(0)) {
    state = first_row(fcinfo, family, max_dimension, check, roles.first(parameters), weighted,
                      arguments);
  } else {
    state = reinterpret_cast<FitState *>(PG_GETARG_POINTER(0));
    state->parameters.check_same(arguments);
  }

  if (PG_ARGISNULL(1))
    state->intake.add_null();
  else if (!weighted)
    state->intake.add(PG_GETARG_DATUM(1));
  else {
    const NullableDatum &weight = fcinfo->args[PG_NARGS() - 1];
    state->intake.add(PG_GETARG_DATUM(1), weight.isnull ? 0 : DatumGetFloat8(weight.value),
                      weight.isnull);
  }
  PG_RETURN_POINTER(state);
}

FitState *final_state(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  return PG_ARGISNULL(0) ? nullptr : reinterpret_cast<FitState *>(PG_GETARG_POINTER(0));
}

Datum fit_final(FunctionCallInfo fcinfo, const Family &family) {
  FitState *const state = final_state(fcinfo);
  if (!state) PG_RETURN_NULL();
  const FitState::Asked &asked = state->asked(family.name, family.check);
  const std::unique_ptr<Model> model = fit_rows(family, asked.request, asked.policy, state->intake);
  if (!model) PG_RETURN_NULL();
  return store_model(*model);
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// (internal) -> bytea
BAYES_FUNCTION(bayes_rows_serialize) {
  aggregate_context(fcinfo);
  auto &state = *reinterpret_cast<FitState *>(PG_GETARG_POINTER(0));
  std::string head(reinterpret_cast<const char *>(&format), sizeof format);
  head += state.intake.rows.shape().weighted ? '\1' : '\0';
  state.parameters.write(head);
  state.intake.write_counts(head);

  const std::size_t size = head.size() + state.intake.bytes();
  if (size > largest_state)
    throw Error(Errc::too_large,
                "rows of a parallel worker take " + std::to_string(size) +
                    " bytes, more than can be sent to the leader",
                "The limit is 1 GB.",
                "SET max_parallel_workers_per_gather = 0; or ANALYZE the table, so that the "
                "planner sees how big it is.");
  auto *const bytes = guarded(
      [size] { return static_cast<bytea *>(palloc_extended(size + VARHDRSZ, MCXT_ALLOC_HUGE)); });
  SET_VARSIZE(bytes, size + VARHDRSZ);
  std::memcpy(VARDATA(bytes), head.data(), head.size());
  state.intake.write_blocks(VARDATA(bytes) + head.size());
  PG_RETURN_BYTEA_P(bytes);
}

/// (bytea, internal) -> internal
BAYES_FUNCTION(bayes_rows_deserialize) {
  aggregate_context(fcinfo);
  bytea *const bytes = PG_GETARG_BYTEA_PP(0);
  auto *const received = static_cast<Received *>(palloc(sizeof(Received)));
  *received = {VARDATA_ANY(bytes), std::size_t(VARSIZE_ANY_EXHDR(bytes))};
  PG_RETURN_POINTER(received);
}

/// (internal, internal) -> internal: the second is always one that deserialize made.
BAYES_FUNCTION(bayes_rows_combine) {
  const MemoryContext context = aggregate_context(fcinfo);
  auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<FitState *>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  const auto &received = *reinterpret_cast<const Received *>(PG_GETARG_POINTER(1));
  const char *at = received.data, *const end = at + received.size;
  std::uint32_t its_format = 0;
  if (received.size > sizeof format) std::memcpy(&its_format, at, sizeof format);
  if (its_format != format)
    throw Error(Errc::internal, "partial state of an aggregate has an unknown format");
  at += sizeof format;
  const bool weighted = *at++ != 0;
  Parameters parameters = Parameters::from_bytes(at, end);

  if (!state) {
    state = new_state(context, weighted);
    state->parameters = std::move(parameters);
  } else {
    state->parameters.check_same(parameters);
  }
  state->intake.absorb(at, end);
  PG_RETURN_POINTER(state);
}
