// Hidden Markov models in SQL: fits, as aggregates and over the sequences of a query.
#include "pg/bind/hmm.hpp"

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/observation.hpp"
#include "pg/input/sequence_collector.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

const HiddenMarkovModel *start_of(const FitRequest &request) {
  return static_cast<const HiddenMarkovModel *>(request.start.get());
}

constexpr Binding<SequenceCollector> hmm = {
    .family = hmm_family,
    .check =
        [](const FitRequest &request, SequenceElements elements, bool vectors) {
          return hmm_check_options(request.k, request.options, elements, vectors, start_of(request),
                                   request.update);
        },
    .fit = [](const FitRequest &request, SequenceCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      return hmm_fit(data.sequences(), data.symbols(), request.k, request.options, data.elements(),
                     data.vectors(), start_of(request), request.update, control);
    },
};

// ---- the sequences of a query ----

constexpr const char *form_hint =
    "Select a name for the sequence and then the sequence, an array: SELECT id, array_agg(x "
    "ORDER BY t) FROM ... GROUP BY id.";

/// The columns of the query: a name of any type and an array.
struct NamedSequences {
  Oid name_output = InvalidOid;
  Oid array = InvalidOid;

  explicit NamedSequences(TupleDesc columns) {
    if (columns->natts != 2)
      throw Error(Errc::invalid_argument,
                  message("query returns {} {}, but must return two", columns->natts,
                          columns->natts == 1 ? "column" : "columns"),
                  "The first column is the name of the sequence, the second the sequence.",
                  form_hint);
    name_output = output_function_of(TupleDescAttr(columns, 0)->atttypid);
    const Form_pg_attribute second = TupleDescAttr(columns, 1);
    const Oid declared = second->atttypid;
    const char *other = nullptr;
    guarded([&, this] {
      array = getBaseType(declared);
      if (!OidIsValid(get_element_type(array))) other = format_type_be(declared);
    });
    if (other)
      throw Error(
          Errc::invalid_argument,
          message("column \"{}\" of the query is of type {}", NameStr(second->attname), other),
          "A sequence is an array of observations.", form_hint);
  }
};

/// The rows of one sequence: its most probable path, and the probability of each of its states.
void emit_path(ResultRows &result, const HiddenMarkovModel &model, ElementType &type, Cell name,
               Datum array, Control &control) {
  const OpenArray sequence(array);
  const std::int64_t steps = steps_for(model, sequence, type);
  if (steps == 0) return;
  const ScopedContext context(CurrentMemoryContext, "pg_bayes sequence");
  ModelSequence one(context, model);
  one.begin(steps);
  bool warned = false;
  each_step(model, sequence, type, warned, [&one](std::span<const double> x) { one.step(x); });
  const HmmPath path = model.decode(one.sequences, control);
  const std::size_t k = std::size_t(model.size());
  model.smooth(
      one.sequences, control, [&](std::int64_t first, int count, const double *probabilities) {
        for (int i = 0; i < count; ++i) {
          const std::int64_t t = first + i;
          const int state = path.states[std::size_t(t)];
          result.row(
              {name, t + 1, state + 1, probabilities[std::size_t(i) * k + std::size_t(state)]});
        }
      });
}

/// The same without a model, as the fit failed under on_error = null.
void emit_nothing(ResultRows &result, Cell name, Datum array) {
  const OpenArray sequence(array);
  const std::int64_t steps = sequence.empty() ? 0 : sequence.size(0);
  for (std::int64_t t = 1; t <= steps; ++t) result.row({name, t, Cell(), Cell()});
}

}  // namespace

// ---- aggregates ----

BAYES_FUNCTION(hmm_fit_transition) { return fit_transition(fcinfo, hmm, by_k); }
BAYES_FUNCTION(hmm_start_transition) { return fit_transition(fcinfo, hmm, by_start); }
BAYES_FUNCTION(hmm_update_transition) { return fit_transition(fcinfo, hmm, by_prior); }

/// (internal, sequence anyarray, states int[], k int [, options jsonb]) -> internal
BAYES_FUNCTION(hmm_states_transition) {
  return fit_transition(fcinfo, hmm, std::span(by_k).first(2), 2);
}

BAYES_FUNCTION(hmm_fit_final) { return fit_final(fcinfo, hmm); }

// ---- a relation: fits the sequences of a query, and decodes them ----

BAYES_FUNCTION(hmm_decode_query) {
  ResultRows result(fcinfo);
  const char *const sql = query_text(fcinfo, form_hint);
  const FitRequest request = query_request(fcinfo, hmm.family, by_k);
  // Rows of the query arrive in another memory context: what must outlive them is allocated below
  // this one.
  const MemoryContext here = CurrentMemoryContext;
  std::optional<ScopedContext> context(std::in_place, here, "pg_bayes query");
  std::optional<SequenceCollector> data(std::in_place, *context, ItemForm{});
  data->begin(request, hmm.check);
  std::optional<NamedSequences> columns;
  std::optional<NamedValues> sequences;
  run_query(
      sql, form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        const CurrentContext current(here);
        sequences.emplace(columns->array);
      },
      [&](TupleTableSlot *row) {
        const NullableDatum sequence = {row->tts_values[1], row->tts_isnull[1]};
        data->add({&sequence, nullptr});
        if (!sequence.isnull)
          sequences->add(text_of_column(row, 0, columns->name_output), sequence);
      });

  const std::unique_ptr<Model> model = fit_model(hmm, request, *data);
  data.reset();  // sequences are then read again, one at a time
  context.reset();
  const ScopedContext reading(here, "pg_bayes sequences");
  ElementType type(reading);
  ServerControl control;
  sequences->each([&](Cell name, const NullableDatum &array) {
    if (model)
      emit_path(result, hidden(*model), type, name, array.value, control);
    else
      emit_nothing(result, name, array.value);
  });
  return Datum(0);
}
