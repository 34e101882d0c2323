#include "pg/bind/sums.hpp"

#include <array>

#include "base/message.hpp"

namespace bayes::pg {
namespace {

/// indexed by tag
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
  std::vector<Role> roles = roles_by_type(fcinfo, 1 + values_, {.model = Role::prior});
  weighted_ = take_weight(roles);
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
