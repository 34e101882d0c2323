// Hidden Markov models in SQL: fits, as aggregates and over the sequences of a query.
#include "pg/bind/hmm.hpp"

#include "pg/bind/family.hpp"
#include "pg/input/observation.hpp"
#include "pg/input/query.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {

std::unique_ptr<HiddenMarkovModel> fit_sequences(SequenceIntake &intake,
                                                 const FitRequest &request) {
  std::unique_ptr<HiddenMarkovModel> model;
  try {
    if (intake.all_weights_zero())
      throw Error(Errc::invalid_argument, "all weights are zero",
                  "A sequence of weight 0 counts as if it were not there.");
    if (intake.empty()) return nullptr;
    ServerControl control;
    model =
        hmm_fit(intake.sequences(), intake.symbols(), request.k, request.options, intake.elements(),
                intake.vectors(), static_cast<const HiddenMarkovModel *>(request.start.get()),
                request.update, control);
  } catch (const Error &error) {
    if (!intake.null_on_error()) throw;
    warn_of_failure(error);
    return nullptr;
  }
  warn_if_not_converged(*model);
  return model;
}

Datum array_of_states(const std::vector<int> &states) {
  const std::size_t bytes =
      std::size_t(ARR_OVERHEAD_NONULLS(1)) + states.size() * sizeof(std::int32_t);
  if (states.empty())
    return guarded([] { return PointerGetDatum(construct_empty_array(INT4OID)); });
  if (bytes > MaxAllocSize)
    throw Error(
        Errc::too_large,
        "the states of " + std::to_string(states.size()) + " steps do not fit into an array",
        "The limit is 1 GB.",
        "hmm_decode(model, observation) OVER (ORDER BY ...) gives them row by row.");
  auto *const array = guarded([bytes] { return static_cast<ArrayType *>(palloc(bytes)); });
  SET_VARSIZE(array, bytes);
  array->ndim = 1;
  array->dataoffset = 0;
  array->elemtype = INT4OID;
  ARR_DIMS(array)[0] = int(states.size());
  ARR_LBOUND(array)[0] = 1;
  auto *const out = reinterpret_cast<std::int32_t *>(ARR_DATA_PTR(array));
  for (std::size_t i = 0; i < states.size(); ++i) out[i] = states[i] + 1;
  return PointerGetDatum(array);
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr int most_roles = 3;

/// The state of the aggregates: what is asked of the fit, and all sequences.
struct SequenceState {
  SequenceState(MemoryContext context, std::span<const Role> roles,
                const Parameters::Argument *arguments, bool labelled)
      : request(read(parameters, roles, arguments)),
        intake(context, request, labelled) {}
  Parameters parameters;
  FitRequest request;
  SequenceIntake intake;

 private:
  static FitRequest read(Parameters &parameters, std::span<const Role> roles,
                         const Parameters::Argument *arguments) {
    parameters.read(roles, arguments);
    return parameters.request(hmm_family);
  }
};

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context = nullptr;
  if (!AggCheckCallContext(fcinfo, &context))
    throw Error(Errc::internal, "aggregate support function called outside an aggregate");
  return context;
}

/// One sequence. Arguments: state, sequence, known states if `labelled`, then roles, trailing ones
/// left out by the shorter signatures.
Datum sequence_transition(FunctionCallInfo fcinfo, std::span<const Role> roles, bool labelled) {
  const MemoryContext context = aggregate_context(fcinfo);
  const int first = labelled ? 3 : 2;
  const std::size_t given = std::size_t(PG_NARGS() - first);
  const bool weighted = given > 0 && roles[given - 1] == Role::weight;
  const std::size_t parameters = given - (weighted ? 1 : 0);
  Parameters::Argument arguments[most_roles];
  for (std::size_t i = 0; i < parameters; ++i)
    arguments[i] = {fcinfo->args[std::size_t(first) + i].value,
                    fcinfo->args[std::size_t(first) + i].isnull};

  SequenceState *state;
  if (PG_ARGISNULL(0)) {
    state = make_in<SequenceState>(context, "pg_bayes sequences", roles.first(parameters),
                                   arguments, labelled);
  } else {
    state = reinterpret_cast<SequenceState *>(PG_GETARG_POINTER(0));
    state->parameters.check_same(arguments);
  }

  SequenceIntake &intake = state->intake;
  if (PG_ARGISNULL(1)) {
    intake.add_null();
  } else if (labelled) {
    intake.add_labelled(PG_GETARG_DATUM(1), fcinfo->args[2]);
  } else if (weighted) {
    const NullableDatum &weight = fcinfo->args[PG_NARGS() - 1];
    intake.add(PG_GETARG_DATUM(1), weight.isnull ? 0 : DatumGetFloat8(weight.value), weight.isnull);
  } else {
    intake.add(PG_GETARG_DATUM(1));
  }
  PG_RETURN_POINTER(state);
}

constexpr Role by_k[] = {Role::k, Role::options, Role::weight};
constexpr Role by_start[] = {Role::start, Role::options, Role::weight};
constexpr Role by_prior[] = {Role::prior, Role::options, Role::weight};

// ---- the sequences of a query ----

constexpr const char *form_hint =
    "Select what a sequence is called and then the sequence, an array: SELECT id, array_agg(x "
    "ORDER BY t) FROM ... GROUP BY id.";

/// Sequences and what they are called, in their order. Spills to disk.
class KeptSequences {
 public:
  /// The sequences are arrays of type `type`.
  explicit KeptSequences(Oid type) {
    guarded([this, type] {
      store_ = tuplestore_begin_heap(false, false, work_mem);
      description_ = CreateTemplateTupleDesc(2);
      TupleDescInitEntry(description_, 1, "name", TEXTOID, -1, 0);
      TupleDescInitEntry(description_, 2, "sequence", type, -1, 0);
    });
  }
  void add(const NullableDatum &name, const NullableDatum &sequence) {
    guarded([&, this] {
      Datum values[] = {name.value, sequence.value};
      bool nulls[] = {name.isnull, sequence.isnull};
      tuplestore_putvalues(store_, description_, values, nulls);
    });
  }
  /// f(name, sequence) for every one that is not NULL; the values are good for the call. Once: it
  /// gives memory and file back.
  void each(const std::function<void(Cell name, Datum sequence)> &f) {
    each_tuple(store_, description_, [&f](TupleTableSlot *slot) {
      if (!slot->tts_isnull[1])
        f(slot->tts_isnull[0] ? Cell() : Cell::datum(slot->tts_values[0]), slot->tts_values[1]);
    });
    guarded([this] { tuplestore_end(store_); });
  }

 private:
  Tuplestorestate *store_;
  TupleDesc description_;
};

/// The columns of the query: a name of any type and an array.
struct NamedSequences {
  Oid name_output = InvalidOid;
  Oid array = InvalidOid;

  explicit NamedSequences(TupleDesc columns) {
    if (columns->natts != 2)
      throw Error(Errc::invalid_argument,
                  "query returns " + std::to_string(columns->natts) +
                      (columns->natts == 1 ? " column" : " columns") + ", but two are wanted",
                  "The first column is what a sequence is called, the second the sequence.",
                  form_hint);
    const Form_pg_attribute second = TupleDescAttr(columns, 1);
    const Oid name = TupleDescAttr(columns, 0)->atttypid, declared = second->atttypid;
    bool is_array = false;
    const char *type = nullptr;
    guarded([&, this] {
      bool varlena;
      getTypeOutputInfo(name, &name_output, &varlena);
      array = getBaseType(declared);
      is_array = OidIsValid(get_element_type(array));
      if (!is_array) type = format_type_be(declared);
    });
    if (!is_array)
      throw Error(Errc::invalid_argument,
                  std::string("column \"") + NameStr(second->attname) +
                      "\" of the query is of type " + type,
                  "A sequence is an array of observations.", form_hint);
  }
};

/// What is asked of the fit in hmm_decode(query, k [, options]).
FitRequest query_request(FunctionCallInfo fcinfo) {
  Parameters::Argument arguments[most_roles];
  const std::size_t given = std::size_t(PG_NARGS() - 1);
  for (std::size_t i = 0; i < given; ++i)
    arguments[i] = {fcinfo->args[1 + i].value, fcinfo->args[1 + i].isnull};
  Parameters parameters;
  parameters.read(std::span(by_k).first(given), arguments);
  return parameters.request(hmm_family);
}

/// The rows of one sequence: its most probable path, and how probable each of its states is.
void emit_path(ResultRows &result, const HiddenMarkovModel &model, ElementType &type, Cell name,
               Datum array, Control &control) {
  const OpenArray sequence(array);
  const std::int64_t steps = steps_for(model, sequence, type);
  if (steps == 0) return;
  const ScopedContext context(CurrentMemoryContext, "pg_bayes sequence");
  ModelSequence one(context, model);
  one.begin(steps);
  each_step(model, sequence, type, [&one](std::span<const double> x) { one.step(x); });
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

/// The same without a model: a fit that failed under on_error = null.
void emit_nothing(ResultRows &result, Cell name, Datum array) {
  const OpenArray sequence(array);
  const std::int64_t steps = sequence.empty() ? 0 : sequence.size(0);
  for (std::int64_t t = 1; t <= steps; ++t) result.row({name, t, Cell(), Cell()});
}

}  // namespace

// ---- aggregates ----

BAYES_FUNCTION(hmm_fit_transition) { return sequence_transition(fcinfo, by_k, false); }
BAYES_FUNCTION(hmm_start_transition) { return sequence_transition(fcinfo, by_start, false); }
BAYES_FUNCTION(hmm_update_transition) { return sequence_transition(fcinfo, by_prior, false); }

/// (internal, sequence anyarray, states int[], k int [, options jsonb]) -> internal
BAYES_FUNCTION(hmm_states_transition) {
  return sequence_transition(fcinfo, std::span(by_k).first(2), true);
}

BAYES_FUNCTION(hmm_fit_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto &state = *reinterpret_cast<SequenceState *>(PG_GETARG_POINTER(0));
  const std::unique_ptr<HiddenMarkovModel> model = fit_sequences(state.intake, state.request);
  if (!model) PG_RETURN_NULL();
  return store_model(*model);
}

// ---- a relation: fits the sequences of a query, and decodes them ----

BAYES_FUNCTION(hmm_decode_query) {
  ResultRows result(fcinfo);
  if (PG_ARGISNULL(0)) throw Error(Errc::null_value, "query must not be NULL", {}, form_hint);
  const char *const sql = guarded([fcinfo] { return TextDatumGetCString(PG_GETARG_DATUM(0)); });
  const FitRequest request = query_request(fcinfo);
  // Rows of the query come in another memory context: what must stay is made below this one.
  const MemoryContext here = CurrentMemoryContext;
  std::optional<ScopedContext> rows(std::in_place, here, "pg_bayes query");
  std::optional<SequenceIntake> intake(std::in_place, *rows, request, false);
  std::optional<NamedSequences> columns;
  std::optional<KeptSequences> kept;
  run_query(
      sql, form_hint,
      [&](TupleDesc description) {
        columns.emplace(description);
        const MemoryContext before = MemoryContextSwitchTo(here);
        kept.emplace(columns->array);
        MemoryContextSwitchTo(before);
      },
      [&](TupleTableSlot *slot) {
        const NullableDatum sequence = {slot->tts_values[1], slot->tts_isnull[1]};
        if (sequence.isnull) return intake->add_null();
        intake->add(sequence.value);
        NullableDatum name = {Datum(0), slot->tts_isnull[0]};
        if (!name.isnull)
          name.value = guarded([&] {
            return PointerGetDatum(
                cstring_to_text(OidOutputFunctionCall(columns->name_output, slot->tts_values[0])));
          });
        kept->add(name, sequence);
      });

  const std::unique_ptr<HiddenMarkovModel> model = fit_sequences(*intake, request);
  intake.reset();  // sequences are read again, one after another
  rows.reset();
  const ScopedContext context(here, "pg_bayes sequences");
  ElementType type(context);
  ServerControl control;
  kept->each([&](Cell name, Datum array) {
    if (model)
      emit_path(result, *model, type, name, array, control);
    else
      emit_nothing(result, name, array);
  });
  return Datum(0);
}
