// Hidden Markov models in SQL: fits, as aggregates and over the sequences of a query.
#include "pg/models/hmm.hpp"

#include "base/message.hpp"
#include "pg/bind/choice.hpp"
#include "pg/models/hmm_query.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

const HiddenMarkovModel *start_of(const FitRequest &request) {
  return static_cast<const HiddenMarkovModel *>(request.start.get());
}

/// The rows of one sequence: its most probable path, and the probability of each of its states.
void emit_path(ResultRows &result, const HiddenMarkovModel &model, Cell name, Sequences &sequence,
               Control &control) {
  const HmmPath path = model.decode(sequence, control);
  const std::size_t k = std::size_t(model.size());
  model.smooth(sequence, control, [&](std::int64_t first, int count, const double *probabilities) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t t = first + i;
      const int state = path.states[std::size_t(t)];
      result.row({name, t + 1, state + 1, probabilities[std::size_t(i) * k + std::size_t(state)]});
    }
  });
}

/// WARNING if point estimates have transitions that nothing was learned about.
void warn_if_never_left(const HiddenMarkovModel &model) {
  const Method method = model.info.method;
  if ((method != Method::em && method != Method::map) || model.info.iterations == 0) return;
  const std::vector<int> states = model.never_left();
  if (states.empty()) return;
  report_once(
      WARNING,
      message("transitions from state {} are unknown: no sequence goes on from it", states[0] + 1),
      states.size() > 1
          ? message("So are those from {} other states. They are equal by convention.",
                    states.size() - 1)
          : "They are equal by convention.",
      "Method vi tells how uncertain they are.");
}

/// Fits all models of a selection and emits one row of type hmm_selection for each.
void select_hmms(const FitRequest &request, SequenceCollector &data, Control &control,
                 const TakeCells &take) {
  Choice choice(request, take);
  choice.run([&] {
    hmm_select(
        data.sequences(), data.symbols(), request.ks, request.options, data.elements(),
        data.vectors(), control,
        [&](std::unique_ptr<HiddenMarkovModel> model) { choice.add(*model, data, control); },
        choice.failed());
  });
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
      const HiddenMarkovModel *start = start_of(request);
      std::unique_ptr<HiddenMarkovModel> renumbered;
      if (start && !start->info.columns.empty()) {
        renumbered = start->with_labels_of(data.columns());
        start = renumbered.get();
      }
      auto model = hmm_fit(data.sequences(), data.symbols(), request.k, request.options,
                           data.elements(), data.vectors(), start, request.update, control);
      warn_if_never_left(*model);
      return model;
    },
    .check_selection =
        [](const FitRequest &request, SequenceElements elements, bool vectors) {
          return hmm_check_select_options(request.ks, request.options, elements, vectors);
        },
    .fit_selection = select_hmms,
};

constexpr Method pushed_methods[] = {Method::vi, Method::em, Method::map};

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  SequenceQuery query(fcinfo, hmm.family, hmm.check, by_k, pushed_methods);
  auto model = fit_model(hmm, query.request, query.data(), bytes);
  query.close();
  return model;
}

/// For the first row of an aggregate: throws SqlError if the argument is no array, as when steps
/// are given one per row; the HINT shows how to make a sequence of them.
void require_sequences(FunctionCallInfo fcinfo) {
  if (!PG_ARGISNULL(0)) return;
  const Oid type = argument_type(fcinfo, 1);
  if (is_array_type(type)) return;
  throw SqlError(
      ERRCODE_DATATYPE_MISMATCH, message("a sequence is of type {}", name_of_type(type)),
      "hmm_fit takes a sequence in each row: an array of its steps, in the order of time.",
      "SELECT hmm_fit(s, k) FROM (SELECT array_agg(x ORDER BY t) AS s FROM ... GROUP BY series) AS "
      "q. If a text is a query, cast it to bayes_query.");
}

}  // namespace

// ---- aggregates ----

/// (internal, sequence, k or model [, options [, weight]]) -> internal, or (internal, sequence,
/// states int[], k [, options]) -> internal
BAYES_FUNCTION(hmm_fit_transition) {
  require_sequences(fcinfo);
  const Oid second = argument_type(fcinfo, 2);
  return fit_transition(fcinfo, hmm, second == INT4ARRAYOID ? 2 : 1);
}
BAYES_FUNCTION(hmm_update_transition) {
  require_sequences(fcinfo);
  return fit_transition(fcinfo, hmm, 1, {.model = Role::prior});
}

BAYES_FUNCTION(hmm_fit_final) { return fit_final(fcinfo, hmm); }

BAYES_FUNCTION(hmm_select_transition) {
  require_sequences(fcinfo);
  return selection_transition(fcinfo, hmm);
}
BAYES_FUNCTION(hmm_select_final) { return selection_final(fcinfo, hmm); }

// ---- relations: fit the sequences of a query, show the states, decode the sequences ----

BAYES_FUNCTION(hmm_fit_query) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_states(result, hidden(model));
  });
}
BAYES_FUNCTION(hmm_model_query) { return query_model(fcinfo, fit_query_rows); }

BAYES_FUNCTION(hmm_decode_query) {
  ResultRows result(fcinfo);
  SequenceQuery query(fcinfo, hmm.family, hmm.check, by_k);
  const std::shared_ptr<const Model> model = fit_model(hmm, query.request, query.data());
  ServerControl control;
  query.each(model, [&](Cell name, std::int64_t steps, Sequences *sequence) {
    if (sequence) return emit_path(result, hidden(*model), name, *sequence, control);
    // no model: the fit failed under on_error = null
    for (std::int64_t t = 1; t <= steps; ++t) result.row({name, t, Cell(), Cell()});
  });
  return Datum(0);
}

BAYES_FUNCTION(hmm_select_query) {
  ResultRows result(fcinfo);
  SequenceQuery query(fcinfo, hmm.family, hmm.check_selection, by_ks, pushed_methods);
  fit_selection(hmm, query.request, query.data(), [&result](Cells cells) { result.row(cells); });
  query.close();
  return Datum(0);
}
