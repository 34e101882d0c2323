// Parallel aggregation of rows of numbers: serialisation of transition states. One set of functions
// serves all model families with rows, another one those with rows and a response.
#include "data/pass.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/values/convert.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// identifies the byte format; sender and receiver always run the same version of the module
constexpr std::uint32_t format = 0x62617902;
constexpr std::size_t max_state_bytes = MaxAllocSize - VARHDRSZ - 65536;

template <class C> Datum serialize(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  auto &state = *reinterpret_cast<FitState<C> *>(PG_GETARG_POINTER(0));
  std::string head;
  put_plain(head, format);
  put_plain(head, state.weighted);
  put_plain(head, bool(state.data));
  state.parameters.write(head);
  if (!state.data) {
    put_error(head, *state.data.refusal());
    return new_varlena(head);
  }
  std::string counts;
  message_of(state.data->head()).to_bytes(counts);
  put_bytes(head, counts);

  const std::size_t size = head.size() + state.data->bytes();
  if (size > max_state_bytes)
    refuse_partial_state(size, "rows", "ANALYZE the table, so that the planner knows its size.");
  auto *const bytes = guarded(
      [size] { return static_cast<bytea *>(palloc_extended(size + VARHDRSZ, MCXT_ALLOC_HUGE)); });
  SET_VARSIZE(bytes, size + VARHDRSZ);
  std::memcpy(VARDATA(bytes), head.data(), head.size());
  state.data->write_blocks(VARDATA(bytes) + head.size());
  PG_RETURN_BYTEA_P(bytes);
}

Datum deserialize(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  return guarded([fcinfo] {
    bytea *const bytes = PG_GETARG_BYTEA_PP(0);
    auto *const received = static_cast<ReceivedState *>(palloc(sizeof(ReceivedState)));
    *received = {VARDATA_ANY(bytes), std::size_t(VARSIZE_ANY_EXHDR(bytes))};
    return PointerGetDatum(received);
  });
}

/// The second state comes from deserialize.
template <class C> Datum combine(FunctionCallInfo fcinfo) {
  const MemoryContext context = aggregate_context(fcinfo);
  auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<FitState<C> *>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  const auto &received = *reinterpret_cast<const ReceivedState *>(PG_GETARG_POINTER(1));
  const char *at = received.data, *const end = at + received.size;
  if (take_plain<std::uint32_t>(at, end) != format)
    throw Error(Errc::internal, "partial state of an aggregate has an unknown format");
  const bool weighted = take_plain<bool>(at, end), usable = take_plain<bool>(at, end);
  Parameters parameters = Parameters::from_bytes(at, end);

  if (!state) {
    state = make_in<FitState<C>>(context, "pg_bayes data", ItemForm{.weighted = weighted});
    state->parameters = std::move(parameters);
    state->data.null_on_error(state->parameters.null_on_error());
  } else {
    state->parameters.check_same(parameters);
  }
  if (usable)
    state->data.absorb([&at, end](C &data) {
      const auto head = read_message<PackedHead>(Document::from_bytes(take_bytes(at, end)));
      data.absorb(head, {at, std::size_t(end - at)});
    });
  else
    state->data.refuse(take_error(at, end));
  PG_RETURN_POINTER(state);
}

}  // namespace

/// (internal) -> bytea
BAYES_FUNCTION(bayes_rows_serialize) { return serialize<RowCollector>(fcinfo); }
BAYES_FUNCTION(bayes_responses_serialize) { return serialize<ResponseCollector>(fcinfo); }

/// (bytea, internal) -> internal
BAYES_FUNCTION(bayes_rows_deserialize) { return deserialize(fcinfo); }

/// (internal, internal) -> internal
BAYES_FUNCTION(bayes_rows_combine) { return combine<RowCollector>(fcinfo); }
BAYES_FUNCTION(bayes_responses_combine) { return combine<ResponseCollector>(fcinfo); }
