// rollup(bayes_model): models of parts of the rows put together, for every family that can.
#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/bind/aggregate.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The transition state: the models so far, merged.
///
/// To merge two models takes as long as both are large, as labels and words of either may be new to
/// the other. So models of like numbers are merged, as numbers of one digit are carried: each takes
/// part in as many merges as there are digits.
class Merged {
 public:
  explicit Merged(MemoryContext) {}

  bool empty() const { return family_.empty(); }
  void add(std::unique_ptr<Model> other) {
    const std::string &family = other->info.family;
    if (empty()) family_ = family;
    if (family != family_)
      throw Error(Errc::wrong_family,
                  message("models of different families cannot be merged: {} and {}",
                          describe(family_), describe(family)));
    std::size_t digit = 0;
    for (; digit < parts_.size() && parts_[digit]; ++digit) {
      parts_[digit]->merge(*other);
      other = std::move(parts_[digit]);
    }
    if (digit == parts_.size()) parts_.emplace_back();
    parts_[digit] = std::move(other);
  }
  std::unique_ptr<Model> take() {
    all();
    return std::move(parts_.back());
  }
  /// All of them together, which are so from then on. There is one.
  Model &all() {
    std::unique_ptr<Model> sum;
    for (std::unique_ptr<Model> &part : parts_) {
      if (!part) continue;
      if (sum) part->merge(*sum);
      sum = std::move(part);
    }
    parts_.back() = std::move(sum);
    return *parts_.back();
  }

 private:
  std::string family_;
  /// [i]: 2^i models, or more of them if they were merged before; or null
  std::vector<std::unique_ptr<Model>> parts_;
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
    if (!other.empty()) state.add(other.take());
  }
  PG_RETURN_POINTER(&state);
}

/// (internal) -> bytea; empty if there was no model
BAYES_FUNCTION(bayes_rollup_serialize) {
  aggregate_context(fcinfo);
  auto &state = *reinterpret_cast<Merged *>(PG_GETARG_POINTER(0));
  return partial_state(state.empty() ? std::string() : state.all().to_bytes(), "models",
                       "roll up fewer models at a time.");
}

/// (bytea, internal) -> internal
BAYES_FUNCTION(bayes_rollup_deserialize) {
  aggregate_context(fcinfo);
  const bytea *const bytes = guarded([fcinfo] { return PG_GETARG_BYTEA_PP(0); });
  Merged &state = *make_in<Merged>(CurrentMemoryContext, "pg_bayes models");
  if (VARSIZE_ANY_EXHDR(bytes) > 0)
    state.add(Model::from_bytes({VARDATA_ANY(bytes), std::size_t(VARSIZE_ANY_EXHDR(bytes))}));
  PG_RETURN_POINTER(&state);
}

/// (internal) -> bayes_model; may run several times on one state.
BAYES_FUNCTION(bayes_rollup_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto &state = *reinterpret_cast<Merged *>(PG_GETARG_POINTER(0));
  if (state.empty()) PG_RETURN_NULL();
  return store_model(state.all());
}
