// Sequences of which observations come one at a time: between two of them a sequence is a value of
// type hmm_state.
//
// Anybody can make values of a composite type, and may store one for years: all of a state is
// checked when it is read.
#include <optional>

#include "base/message.hpp"
#include "document/sealed.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/input/observation.hpp"
#include "pg/models/hmm.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The columns of hmm_state.
enum StateColumn : int {
  state_steps,
  state_log_likelihood,
  state_surprise,
  state_probabilities,
  state_next,
  state_model,
  state_recursion,
  state_counting,
  state_columns
};

/// the fingerprint of a model without its header, as a uuid
constexpr int fingerprint_bytes = 16;

/// Reads values of type hmm_state.
class StateReader {
 public:
  explicit StateReader(MemoryContext context) : records_(context) {}

  /// False if all columns are NULL, as of a variable without a value. The model is not checked.
  bool open(Datum state) {
    records_.open(state);
    bool any = false;
    for (std::size_t i = 0; i < state_columns; ++i) any |= !records_.null(i);
    return any;
  }
  HmmProgress read() const {
    HmmProgress out;
    out.steps = DatumGetInt64(value(state_steps));
    // Far from the largest one, which could not be counted on.
    if (out.steps < 1 || out.steps >= std::int64_t(1) << 53)
      refuse_progress("its number of steps is out of range");
    out.log_likelihood = DatumGetFloat8(value(state_log_likelihood));
    out.states = numbers(state_probabilities);
    out.next = numbers(state_next);
    if (out.states.size() != out.next.size() || out.states.size() > hmm_max_states)
      refuse_progress("its number of states is wrong");
    for (const std::vector<double> *const each : {&out.states, &out.next})
      for (const double p : *each)
        if (!(p >= 0 && p <= 1 + 1e-6)) refuse_progress("a probability is out of range");
    const std::size_t width = 3 + out.states.size();
    out.recursion = numbers(state_recursion, width);
    if (!records_.null(state_counting)) out.counting = numbers(state_counting, width);
    return out;
  }
  std::string_view fingerprint() const {
    return {static_cast<const char *>(DatumGetPointer(value(state_model))), fingerprint_bytes};
  }
  void close() { records_.close(); }

 private:
  Datum value(std::size_t column) const {
    if (records_.null(column)) refuse_progress("a column is NULL");
    return records_.value(column);
  }
  /// A vector, or a matrix of this width.
  std::vector<double> numbers(std::size_t column, std::size_t width = 0) const {
    const OpenArray array(value(column));
    if (array.dimensions() != (width ? 2 : 1) || array.null_bitmap() ||
        (width && std::size_t(array.size(1)) != width))
      refuse_progress("an array has another shape");
    const auto *const from = reinterpret_cast<const double *>(array.data());
    return {from, from + std::size_t(array.size(0)) * std::max<std::size_t>(1, width)};
  }

  RecordFields records_;
};

/// Takes sequences on under models; kept between calls. `observation`: the number of that argument.
class Advance {
 public:
  Advance(MemoryContext context, FunctionCallInfo fcinfo, int observation)
      : models_(hmm_family),
        states_(context),
        observations_(context, argument_type(fcinfo, observation)) {}

  void use(Datum value) {
    const std::shared_ptr<const Model> &shared = models_.share(value);
    if (shared == model_) return;
    filter_.reset();
    model_.reset();
    observations_.begin(shared);
    filter_.emplace(hidden(*shared));
    fingerprint_ = content_header_of(value).substr(sealed_header_bytes - fingerprint_bytes);
    model_ = shared;
  }
  /// A state under the model in use; a NULL is that of a sequence that has not begun.
  HmmProgress read(const NullableDatum &state) {
    HmmProgress at;
    if (state.isnull || !states_.open(state.value)) return at;
    at = states_.read();
    require_model(states_.fingerprint());
    states_.close();
    if (at.states.size() != std::size_t(model_->info.components))
      refuse_progress("its number of states is wrong");
    return at;
  }
  void step(HmmProgress &at, const NullableDatum &observation) {
    filter_->advance(at, observations_.read(hidden(*model_), observation, at.steps + 1));
  }
  /// Throws Error unless the model in use has this fingerprint.
  void require_model(std::string_view fingerprint) const {
    if (fingerprint == fingerprint_) return;
    throw Error(Errc::invalid_argument, "the state of a sequence is of another model",
                "A state goes on under the model that it was made with.",
                "Begin with NULL under the new model, with the last observations before these.");
  }
  const std::string &fingerprint() const { return fingerprint_; }

 private:
  ModelCache models_;
  StateReader states_;
  ObservationReader observations_;
  /// of the last call, which `filter_` refers to
  std::shared_ptr<const Model> model_;
  std::string fingerprint_;
  std::optional<HiddenMarkovModel::Filter> filter_;
};

/// Makes values of type hmm_state, which the function returns.
class StateWriter {
 public:
  StateWriter(MemoryContext context, FunctionCallInfo fcinfo) {
    const CurrentContext lasting(context);
    description_ = result_row(fcinfo);
  }
  Datum value(const std::string &fingerprint, const HmmProgress &at) const {
    const std::size_t width = 3 + at.states.size();
    const Cell cells[] = {at.steps,
                          at.log_likelihood,
                          Cell::or_null(at.surprise),
                          Cell::vector(at.states),
                          Cell::vector(at.next),
                          Cell::datum(PointerGetDatum(fingerprint.data()), UUIDOID),
                          Cell::matrix(at.recursion, width),
                          at.counting.empty() ? Cell() : Cell::matrix(at.counting, width)};
    return composite(description_, cells);
  }

 private:
  TupleDesc description_;
};

struct AdvanceSite {
  AdvanceSite(MemoryContext context, FunctionCallInfo fcinfo)
      : advance(context, fcinfo, 2),
        writer(context, fcinfo) {}
  Advance advance;
  StateWriter writer;
};

/// The transition state of hmm_advance_all.
struct AdvancedSequence {
  explicit AdvancedSequence(MemoryContext) {}
  std::string fingerprint;
  HmmProgress at;
};

}  // namespace

/// (model, state, observation) -> hmm_state
BAYES_FUNCTION(hmm_advance) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto &site = call_site<AdvanceSite>(fcinfo, fcinfo);
  site.advance.use(PG_GETARG_DATUM(0));
  HmmProgress at = site.advance.read(fcinfo->args[1]);
  site.advance.step(at, fcinfo->args[2]);
  return site.writer.value(site.advance.fingerprint(), at);
}

/// (internal, model, state, observation) -> internal
BAYES_FUNCTION(hmm_advance_transition) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  auto &advance = call_site<Advance>(fcinfo, fcinfo, 3);
  advance.use(PG_GETARG_DATUM(1));
  auto *own = reinterpret_cast<AdvancedSequence *>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(0)) {
    own = make_in<AdvancedSequence>(aggregate_context(fcinfo), "pg_bayes sequence");
    own->fingerprint = advance.fingerprint();
    own->at = advance.read(fcinfo->args[2]);
  }
  advance.require_model(own->fingerprint);
  advance.step(own->at, fcinfo->args[3]);
  PG_RETURN_POINTER(own);
}

/// (internal) -> hmm_state
BAYES_FUNCTION(hmm_advance_final) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto &own = *reinterpret_cast<AdvancedSequence *>(PG_GETARG_POINTER(0));
  return call_site<StateWriter>(fcinfo, fcinfo).value(own.fingerprint, own.at);
}

/// (hmm_state) -> (state, probability, next)
BAYES_FUNCTION(hmm_current) {
  ResultRows result(fcinfo);
  StateReader reader(CurrentMemoryContext);
  if (!reader.open(PG_GETARG_DATUM(0))) return Datum(0);
  const HmmProgress at = reader.read();
  for (std::size_t i = 0; i < at.states.size(); ++i)
    result.row({int(i) + 1, at.states[i], at.next[i]});
  return Datum(0);
}
