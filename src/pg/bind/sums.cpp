#include "pg/bind/sums.hpp"

#include <array>

#include "base/message.hpp"

namespace bayes::pg {
namespace {

/// by tag
std::array<const SumsKind *, 128> kinds = {};

}  // namespace

SumsKind::SumsKind(char tag, const char *contents, const char *remedy,
                   Sums *(*make)(MemoryContext context))
    : tag(tag),
      contents(contents),
      remedy(remedy),
      make(make) {
  kinds[std::size_t(tag)] = this;
}

bool SumsWithParameters::read_parameters(FunctionCallInfo fcinfo) {
  std::vector<Role> roles;
  for (int i = 1 + values_; i < PG_NARGS(); ++i) {
    const Oid type = guarded([fcinfo, i] { return get_fn_expr_argtype(fcinfo->flinfo, i); });
    if (type == FLOAT8OID)
      weighted_ = true;
    else
      roles.push_back(type == JSONBOID ? Role::options : Role::prior);
  }
  parameters_.read(roles, &fcinfo->args[1 + values_]);
  read_ = true;
  return !roles.empty();
}

bool SumsWithParameters::combine_parameters(const char *&at, const char *end) {
  Parameters given = Parameters::from_bytes(at, end);
  if (read_) {
    parameters_.check_same(given);
    return false;
  }
  parameters_ = std::move(given);
  return read_ = true;
}

void refuse_text(FunctionCallInfo fcinfo, int argument) {
  const Oid type = guarded(
      [fcinfo, argument] { return getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument)); });
  if (type != TEXTOID && type != VARCHAROID && type != BPCHAROID && type != NAMEOID) return;
  throw SqlError(ERRCODE_DATATYPE_MISMATCH, message("a row is of type {}", name_of_type(type)),
                 "A row is a record, an array of numbers, a number or a boolean.",
                 "Give columns as a record: SELECT f(r) FROM (SELECT a, b FROM t) AS r. The text "
                 "of a query is cast: f(text::bayes_query, ...).");
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// (internal) -> bytea
BAYES_FUNCTION(bayes_sums_serialize) {
  aggregate_context(fcinfo);
  Sums &state = *state_argument<Sums>(fcinfo);
  const SumsKind &kind = state.kind();
  std::string out(1, kind.tag);
  state.serialize(out);
  return partial_state(out, kind.contents, kind.remedy);
}

/// (internal, internal) -> internal: the second comes from bayes_rows_deserialize.
BAYES_FUNCTION(bayes_sums_combine) {
  const MemoryContext context = aggregate_context(fcinfo);
  Sums *state = state_argument<Sums>(fcinfo);
  if (!PG_ARGISNULL(1)) {
    const auto &received = *reinterpret_cast<const ReceivedState *>(PG_GETARG_POINTER(1));
    const auto tag = std::size_t(received.size > 0 ? *received.data : 0);
    const SumsKind *const kind = tag < kinds.size() ? kinds[tag] : nullptr;
    if (!kind || (state && &state->kind() != kind))
      throw Error(Errc::internal, "partial state of an aggregate has an unknown format");
    if (!state) state = kind->make(context);
    state->combine(received.data + 1, received.data + received.size);
  }
  if (!state) PG_RETURN_NULL();
  return state_datum(state);
}

/// (internal) -> bayes_model
BAYES_FUNCTION(bayes_sums_final) {
  aggregate_context(fcinfo);
  Sums *const state = state_argument<Sums>(fcinfo);
  const std::string bytes = state ? state->model_bytes() : std::string();
  if (bytes.empty()) PG_RETURN_NULL();
  return store_bytes(bytes);
}
