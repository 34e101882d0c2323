// Hidden Markov models in SQL: fits, as aggregates and over the sequences of a query.

#include "pg/models/hmm.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/observation.hpp"
#include "pg/input/sequence_collector.hpp"
#include "pg/parts/sequences.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

// The sequences of a query: a row of the query is a whole sequence, or one step.

/// The sequences of a function F(query bayes_query, roles...), and the request.
///
/// A row of the query has the name of a sequence, of any type, and the sequence, an array; or the
/// name and the columns of one step: contiguous rows with the same name are a sequence.
class SequenceQuery {
 public:
  /// Lives in CurrentMemoryContext.
  /// Without `pushed`, the function has no option push_down.
  SequenceQuery(FunctionCallInfo fcinfo, const char *family, SequenceCollector::Check check,
                std::span<const Role> roles, const PushedMethods &pushed = {});
  FitRequest request;
  FitData<SequenceCollector> &data() { return *data_; }
  /// Call this if each() is not called.
  void close() {
    if (sequences_) sequences_->close();
    push_.end();
  }

  /// Calls f(name, steps, sequence) for each sequence that is not NULL, in the order of the query.
  /// `sequence` is encoded for the model; nullptr if there is no model, or if it has no steps. Call
  /// each() once, after the fit.
  using TakeSequence = std::function<void(Cell name, std::int64_t steps, Sequences *sequence)>;
  void each(const std::shared_ptr<const Model> &model, const TakeSequence &f);

 private:
  void take_array(TupleTableSlot *row);
  void take_step(TupleTableSlot *row);
  void end_sequence();
  void each_array(const std::shared_ptr<const Model> &model, const TakeSequence &f);
  void each_stored(const std::shared_ptr<const Model> &model, const TakeSequence &f);

  const MemoryContext here_;
  std::optional<ScopedContext> context_;
  PushDown push_;
  std::optional<FitData<SequenceCollector>> data_;
  Oid name_output_ = InvalidOid;
  /// the type of sequences that are arrays; InvalidOid: rows are steps
  Oid array_ = InvalidOid;
  /// the array of each sequence, or its number of steps
  std::optional<NamedValues> sequences_;

  // ---- rows that are steps ----
  /// the name of the last row's sequence; nullopt if it is NULL, or before the first row
  std::optional<std::string> name_;
  /// the number of its steps so far
  std::int64_t steps_ = 0;
  /// whether there was a row, and whether there was a row whose name is NULL
  bool any_ = false, any_null_ = false;
  /// the names of all sequences so far
  std::optional<TermDictionary> names_;
};

constexpr const char *form_hint =
    "Select a name for the sequence and then the sequence, an array: SELECT id, array_agg(x "
    "ORDER BY t) FROM ... GROUP BY id. Or a row for each step, a name and the step's columns: "
    "SELECT id, a, b FROM ... ORDER BY id, t.";

/// The type of the second column if it is an array: rows of the query are sequences. InvalidOid
/// otherwise: rows are steps.
Oid array_of(TupleDesc columns) {
  if (columns->natts < 2)
    throw Error(
        Errc::invalid_argument,
        message("query returns {} {}, but must return two or more", columns->natts,
                columns->natts == 1 ? "column" : "columns"),
        "The first column is the name of the sequence; the second is the sequence, an array, "
        "or the other columns are one step of it.",
        form_hint);
  const Oid declared = TupleDescAttr(columns, 1)->atttypid;
  const Oid array = guarded([declared] {
    const Oid base = getBaseType(declared);
    return OidIsValid(get_element_type(base)) ? base : InvalidOid;
  });
  if (OidIsValid(array) && columns->natts > 2)
    throw Error(
        Errc::invalid_argument,
        message("query returns {} columns, the second of which is an array", columns->natts),
        "An array is a whole sequence, so no column may follow it.", form_hint);
  return array;
}

[[noreturn]] void refuse_name(TermDictionary::Excess, std::string_view) {
  throw Error(Errc::too_large, "the names of the sequences are too long or too many",
              "The limit is 10000 bytes for one name and 256 MB for all names.",
              "Select arrays, a sequence in each row: SELECT id, array_agg(x ORDER BY t) FROM ... "
              "GROUP BY id.");
}

std::string bytes_of_text(Datum text) {
  return {VARDATA_ANY(DatumGetPointer(text)),
          std::size_t(VARSIZE_ANY_EXHDR(DatumGetPointer(text)))};
}

/// Iterates over the steps in a row store; skips the padding between sequences.
class StepCursor {
 public:
  explicit StepCursor(const Sequences &from)
      : rows_(from.rows),
        shape_(from.rows.shape()),
        block_(shape_.block_doubles()),
        x_(std::size_t(from.dimension)) {}

  std::span<const double> next() {
    for (;; ++row_) {
      if (row_ % block_rows == 0) {
        poll_interrupts();
        rows_.read_block(row_ / block_rows, block_.data());
      }
      const double *const at = block_.data() + row_ % block_rows;
      if (at[std::size_t(shape_.dimension) * block_rows] == 0) continue;
      for (std::size_t j = 0; j < x_.size(); ++j) x_[j] = at[j * block_rows];
      ++row_;
      return x_;
    }
  }

 private:
  RowSource &rows_;
  const RowShape shape_;
  std::vector<double> block_, x_;
  std::int64_t row_ = 0;
};

SequenceQuery::SequenceQuery(FunctionCallInfo fcinfo, const char *family,
                             SequenceCollector::Check check, std::span<const Role> roles,
                             const PushedMethods &pushed)
    : here_(CurrentMemoryContext) {
  const char *const sql = query_text(fcinfo, form_hint);
  request = query_request(fcinfo, family, roles);
  // The callbacks below run in the memory context of a row of the query: data that must outlive the
  // row are allocated below here_.
  context_.emplace(here_, "pg_bayes query");
  if (!pushed.methods.empty()) {
    PushedSequences sequences(data_, request, [&](TupleDesc columns, std::string &reason) {
      const Oid array = array_of(columns);
      if (!OidIsValid(array))
        reason = "its rows are steps, and the steps of a sequence may be on several servers";
      else if (is_array_of_records(array))
        reason = "the steps of its sequences are records";
      data_.emplace(*context_, ItemForm{});
      data_->begin(request, check);
      return 1;
    });
    if (push_.collect(fcinfo, sql, request, pushed, form_hint, sequences)) return;
  }
  data_.emplace(*context_, ItemForm{});
  run_query(
      sql, form_hint,
      [&](TupleDesc columns) {
        array_ = array_of(columns);
        name_output_ = output_function_of(TupleDescAttr(columns, 0)->atttypid);
        const CurrentContext current(here_);
        sequences_.emplace(OidIsValid(array_) ? array_ : INT8OID);
        if (!OidIsValid(array_)) {
          report_name_taken(utf8_of_server(NameStr(TupleDescAttr(columns, 0)->attname)),
                            "the sequence",
                            "If it belongs to the steps, select a name of the sequence before it.");
          (*data_)->describe(columns, 1);
          names_.emplace(std::size_t(std::numeric_limits<std::int32_t>::max()), refuse_name);
        }
        data_->begin(request, check);
      },
      [this](TupleTableSlot *row) { OidIsValid(array_) ? take_array(row) : take_step(row); });
  if (!any_) return;
  end_sequence();
  if (!*data_) return;
  const Sequences &all = (*data_)->sequences();
  if (all.count > 1 && all.longest == 1)
    report(WARNING, message("all {} sequences have one step", all.count),
           "Rows with the same name form a sequence, but every row has a different name.",
           "Select the name of the series first: SELECT series, a, b FROM ... ORDER BY series, t.");
}

void SequenceQuery::take_array(TupleTableSlot *row) {
  const NullableDatum sequence = {row->tts_values[1], row->tts_isnull[1]};
  data_->add({&sequence, nullptr});
  if (!sequence.isnull) sequences_->add(text_of_column(row, 0, name_output_), sequence);
}

void SequenceQuery::take_step(TupleTableSlot *row) {
  const NullableDatum text = text_of_column(row, 0, name_output_);
  std::optional<std::string> name;
  if (!text.isnull) name = bytes_of_text(text.value);
  if (!any_ || name != name_) {
    if (any_) end_sequence();
    const std::int32_t before = names_->size();
    const bool known = name ? names_->number(*name) < before : any_null_;
    if (known)
      throw Error(Errc::invalid_argument,
                  name ? message("the rows of sequence {} are not contiguous",
                                 bayes::describe(Document(abbreviated(utf8_of_server(*name)))))
                       : "the rows of the sequence without a name are not contiguous",
                  "There are rows of other sequences between them.",
                  "Order the query: SELECT id, a, b FROM ... ORDER BY id, t.");
    any_ = true;
    any_null_ |= !name;
    name_ = std::move(name);
    steps_ = 0;
    data_->read([](SequenceCollector &data) { data.begin_sequence(); });
  }
  ++steps_;
  data_->read(
      [row](SequenceCollector &data) { data.add_fields(row->tts_values, row->tts_isnull); });
}

void SequenceQuery::end_sequence() {
  data_->read([](SequenceCollector &data) { data.end_sequence(); });
  const CurrentContext current(here_);
  NullableDatum name = {Datum(0), true};
  if (name_)
    name = {guarded([this] {
              return PointerGetDatum(cstring_to_text_with_len(name_->data(), int(name_->size())));
            }),
            false};
  sequences_->add(name, {Int64GetDatum(steps_), false});
  if (!name.isnull) pfree(DatumGetPointer(name.value));
}

void SequenceQuery::each(const std::shared_ptr<const Model> &model, const TakeSequence &f) {
  OidIsValid(array_) ? each_array(model, f) : each_stored(model, f);
}

void SequenceQuery::each_array(const std::shared_ptr<const Model> &model, const TakeSequence &f) {
  data_.reset();  // sequences are read again, one at a time
  context_.reset();
  const ScopedContext reading(here_, "pg_bayes sequences");
  SequenceReader reader(reading);
  sequences_->each([&](Cell name, const NullableDatum &value) {
    const OpenArray array(value.value);
    if (!model) return f(name, array.empty() ? 0 : array.size(0), nullptr);
    const std::int64_t steps = reader.steps(model, array);
    if (steps == 0) return f(name, 0, nullptr);
    const ScopedContext context(CurrentMemoryContext, "pg_bayes sequence");
    ModelSequence one(context, hidden(*model));
    one.begin(steps);
    reader.each(array, [&one](std::span<const double> x) { one.step(x); });
    f(name, steps, &one.sequences);
  });
}

void SequenceQuery::each_stored(const std::shared_ptr<const Model> &model, const TakeSequence &f) {
  std::optional<StepCursor> cursor;
  if (model) cursor.emplace((*data_)->sequences());
  sequences_->each([&](Cell name, const NullableDatum &value) {
    const std::int64_t steps = DatumGetInt64(value.value);
    if (!model) return f(name, steps, nullptr);
    const ScopedContext context(CurrentMemoryContext, "pg_bayes sequence");
    ModelSequence one(context, hidden(*model));
    one.begin(steps);
    for (std::int64_t t = 0; t < steps; ++t) one.step(cursor->next());
    f(name, steps, &one.sequences);
  });
}

}  // namespace
}  // namespace bayes::pg

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
