#include "pg/bind/sums.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/message.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"

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
  // A tag that is given twice would show only in parallel plans.
  if (std::exchange(kinds[std::size_t(tag)], this)) std::abort();
}

void Refusals::add(MemoryContext context, const Error &error) {
  if (count_++ > 0) return;
  std::string bytes;
  put_error(bytes, error);
  error_ = guarded(
      [context, &bytes] { return static_cast<char *>(MemoryContextAlloc(context, bytes.size())); });
  size_ = bytes.size();
  std::memcpy(error_, bytes.data(), size_);
}

void Refusals::remove() {
  if (--count_ > 0) return;
  pfree(std::exchange(error_, nullptr));
  warned_ = false;
}

Error Refusals::first() const {
  const char *at = error_;
  return take_error(at, error_ + size_);
}

bool warn_of_refusal(Sums &state, const char *result) {
  if (!state.refusals) return false;
  if (state.refusals.is_news()) warn_of_failure(state.refusals.first(), result);
  return true;
}

bool SumsWithParameters::read_parameters(FunctionCallInfo fcinfo) {
  std::vector<Role> roles = roles_by_type(fcinfo, 1 + values_, {.model = Role::prior});
  weighted_ = take_weight(roles);
  parameters_.read(roles, &fcinfo->args[1 + values_]);
  null_on_error_ = parameters_.null_on_error();
  read_ = true;
  return !roles.empty();
}

void SumsWithParameters::read_rollup_options(FunctionCallInfo fcinfo) {
  values_ = 1;
  read_parameters(fcinfo);
  const FitRequest request = parameters_.request("");
  OptionReader options(request.options);
  options.choice("on_error", "error", {"error", "null"});
  options.finish();
}

bool SumsWithParameters::combine_parameters(const char *&at, const char *end) {
  Parameters given = Parameters::from_bytes(at, end);
  if (read_) {
    parameters_.check_same(given);
    return false;
  }
  parameters_ = std::move(given);
  null_on_error_ = parameters_.null_on_error();
  return read_ = true;
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// (internal) -> bytea
BAYES_FUNCTION(bayes_sums_serialize) {
  const MemoryContext context = aggregate_context(fcinfo);
  Sums &state = *state_argument<Sums>(fcinfo);
  const SumsKind &kind = state.kind();
  std::string out(1, kind.tag), sums;
  if (!state.refusals) add_or_refuse(state, context, [&] { state.serialize(sums); });
  put_plain(out, bool(state.refusals));
  if (state.refusals)
    put_error(out, state.refusals.first());
  else
    out += sums;
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
    const char *at = received.data + 1, *const end = received.data + received.size;
    if (take_plain<bool>(at, end))
      state->refusals.add(context, take_error(at, end));
    else if (!state->refusals)
      add_or_refuse(*state, context, [&] { state->combine(at, end); });
    if (state->refusals) state->clear();
  }
  if (!state) PG_RETURN_NULL();
  return state_datum(state);
}

/// (internal) -> bayes_model
BAYES_FUNCTION(bayes_sums_final) {
  aggregate_context(fcinfo);
  ModelSums *const state = state_argument<ModelSums>(fcinfo);
  if (!state || warn_of_refusal(*state)) PG_RETURN_NULL();
  std::string bytes;
  try {
    bytes = state->model_bytes();
  } catch (const Error &error) {
    if (!state->null_on_error()) throw;
    warn_of_failure(error);
  }
  if (bytes.empty()) PG_RETURN_NULL();
  return store_bytes(bytes);
}

// bayes_rollup(bayes_model [, options]): merges models of parts of the rows, for every family that
// supports it.

namespace {

/// The transition state: the models so far, merged.
///
/// Merging takes time proportional to the sizes of both models, as either may have labels and words
/// that the other lacks. So models are merged like the digits of a binary counter, each with one
/// that holds about as many models: a model takes part in logarithmically many merges.
class Merged final : public SumsWithParameters {
 public:
  explicit Merged(MemoryContext) : SumsWithParameters(1) {}
  Merged(MemoryContext context, FunctionCallInfo fcinfo) : Merged(context) {
    read_rollup_options(fcinfo);
  }

  void add(FunctionCallInfo fcinfo) {
    if (!PG_ARGISNULL(1)) add(load_model(PG_GETARG_DATUM(1)));
  }

  void clear() override { parts_.clear(); }
  const SumsKind &kind() const override;
  void serialize(std::string &out) override {
    parameters_.write(out);
    if (!empty()) out += all().to_bytes();
  }
  void combine(const char *at, const char *end) override {
    combine_parameters(at, end);
    if (at != end) add(Model::from_bytes({at, std::size_t(end - at)}));
  }
  std::string model_bytes() override { return empty() ? std::string() : bytes_of(all()); }

 private:
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
  /// Merges all parts into one, which replaces them. There must be at least one. If two cannot be
  /// merged, both stay: the models are merged again for the next frame of a window.
  Model &all() {
    std::unique_ptr<Model> sum;
    for (std::unique_ptr<Model> &part : parts_) {
      if (!part) continue;
      try {
        if (sum) part->merge(*sum);
      } catch (const Error &) {
        parts_.push_back(std::move(sum));
        throw;
      }
      sum = std::move(part);
    }
    parts_.back() = std::move(sum);
    return *parts_.back();
  }

  std::string family_;
  /// [i]: 2^i models merged (more if they were themselves merged before), or null
  std::vector<std::unique_ptr<Model>> parts_;
};

const SumsKind merged_models('m', "models", "roll up fewer models at a time.", make_sums<Merged>);
const SumsKind &Merged::kind() const { return merged_models; }

}  // namespace

/// (internal, bayes_model [, options jsonb]) -> internal
BAYES_FUNCTION(bayes_rollup_transition) { return add_row<Merged>(fcinfo); }
