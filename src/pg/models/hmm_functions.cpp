// Functions of a fitted hidden Markov model and a sequence, given as an array.

#include <algorithm>

#include "base/message.hpp"
#include "families/parameter.hpp"
#include "pg/bind/binding.hpp"
#include "pg/bind/profile.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/score.hpp"
#include "pg/input/observation.hpp"
#include "pg/models/hmm.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// State kept between calls.
struct CallSite {
  explicit CallSite(MemoryContext context) : models(hmm_family), sequences(context) {}
  ModelCache models;
  SequenceReader sequences;
};

/// The arguments (model, sequence) of a strict function.
class ModelAndSequence {
 public:
  explicit ModelAndSequence(FunctionCallInfo fcinfo)
      : ModelAndSequence(call_site<CallSite>(fcinfo), fcinfo) {}
  ModelAndSequence(SequenceReader &reader, const std::shared_ptr<const Model> &shared,
                   Datum sequence)
      : reader_(reader),
        array_(sequence),
        shared(shared),
        model(hidden(*shared)),
        steps(reader_.steps(shared, array_)) {}

  void each(const std::function<void(std::span<const double> x)> &take) {
    reader_.each(array_, take);
  }

 private:
  ModelAndSequence(CallSite &site, FunctionCallInfo fcinfo)
      : ModelAndSequence(site.sequences, site.models.share(PG_GETARG_DATUM(0)),
                         PG_GETARG_DATUM(1)) {}
  SequenceReader &reader_;
  OpenArray array_;

 public:
  const std::shared_ptr<const Model> shared;
  const HiddenMarkovModel &model;
  /// 0 for an empty sequence
  const std::int64_t steps;
};

/// A sequence in a row store, for algorithms that make several passes over it.
class StoredSequence {
 public:
  /// An empty sequence.
  explicit StoredSequence(const HiddenMarkovModel &model)
      : context_(CurrentMemoryContext, "pg_bayes sequence"),
        sequence_(context_, model) {}
  explicit StoredSequence(ModelAndSequence &from) : StoredSequence(from.model) {
    if (from.steps == 0) return;
    begin(from.steps);
    from.each([this](std::span<const double> x) { step(x); });
  }
  void begin(std::int64_t steps) { sequence_.begin(steps); }
  void step(std::span<const double> x) { sequence_.step(x); }
  operator Sequences &() { return sequence_.sequences; }
  /// The observation at a step, from 0, with the elements of the model. Reads whole blocks, so it
  /// is efficient for steps in increasing order.
  void read(std::int64_t step, std::span<double> x) {
    RowSource &rows = sequence_.sequences.rows;
    if (const std::int64_t block = step / block_rows; block != block_) {
      numbers_.resize(rows.shape().block_doubles());
      rows.read_block(block, numbers_.data());
      block_ = block;
    }
    for (std::size_t j = 0; j < x.size(); ++j)
      x[j] = numbers_[j * block_rows + std::size_t(step % block_rows)];
  }
  ServerControl control;

 private:
  ScopedContext context_;
  ModelSequence sequence_;
  std::vector<double> numbers_;
  /// the block in numbers_
  std::int64_t block_ = -1;
};

/// A new float8[] of shape steps x K in CurrentMemoryContext.
class ProbabilityArray {
 public:
  ProbabilityArray(std::int64_t steps, int k) {
    if (steps > std::int64_t((MaxAllocSize - 64) / sizeof(double)) / k)
      throw Error(
          Errc::too_large,
          message("the probabilities of {} states at {} steps do not fit into an array", k, steps),
          "The limit is 1 GB.", "The window functions of the same name return them row by row.");
    const int sizes[] = {int(steps), k};
    double **const out = &numbers_;
    array_ = guarded([&sizes, out] { return new_float8_array(2, sizes, out); });
  }
  double *numbers() { return numbers_; }
  Datum datum() const { return PointerGetDatum(array_); }

 private:
  double *numbers_;
  ArrayType *array_;
};

Datum empty_array(Oid type) {
  return guarded([type] { return PointerGetDatum(construct_empty_array(type)); });
}

/// An int[] of states, counted from 1, in CurrentMemoryContext.
Datum array_of_states(const std::vector<int> &states) {
  const std::size_t bytes =
      std::size_t(ARR_OVERHEAD_NONULLS(1)) + states.size() * sizeof(std::int32_t);
  if (states.empty()) return empty_array(INT4OID);
  if (bytes > MaxAllocSize)
    throw Error(Errc::too_large,
                message("the states of {} steps do not fit into an array", states.size()),
                "The limit is 1 GB.",
                "hmm_decode(model, observation) OVER (ORDER BY ...) returns them row by row.");
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

/// A prediction as rows: one for each category of a categorical element, one for any other element.
class PredictedElements {
 public:
  explicit PredictedElements(const HiddenMarkovModel &model)
      : columns_(model.info.columns),
        categories_(model.categories()) {}

  /// take(element, column_name, symbol, probability, mean, variance, lower, upper)
  void each(const HiddenMarkovModel::Prediction &next, const TakeCells &take) const {
    auto category = categories_.begin();
    for (std::size_t i = 0; i < next.mean.size(); ++i) {
      const int element = int(i);
      const Cell name = columns_.empty() ? Cell() : Cell::text(columns_[i].name);
      if (category == categories_.end() || category->element != element) {
        const Cell cells[] = {element + 1,
                              name,
                              Cell(),
                              Cell(),
                              Cell::or_null(next.mean[i]),
                              Cell::or_null(next.variance[i]),
                              Cell::or_null(next.lower[i]),
                              Cell::or_null(next.upper[i])};
        take(cells);
      }
      for (; category != categories_.end() && category->element == element; ++category) {
        const double p = next.categories[std::size_t(category - categories_.begin())];
        const Cell cells[] = {element + 1,      name,   Cell::text(category->name),
                              Cell::or_null(p), Cell(), Cell(),
                              Cell(),           Cell()};
        take(cells);
      }
    }
  }

 private:
  const RowColumns &columns_;
  const std::vector<HiddenMarkovModel::Category> categories_;
};

/// Scores sequences by their log-likelihood; the units are the steps that are not entirely missing.
class SequenceScorer final : public RowScorer {
 public:
  SequenceScorer(MemoryContext context, const Oid *types) : sequences_(context) {
    if (is_array_type(types[0])) return;
    throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                   message("a sequence is of type {}", name_of_type(types[0])),
                   "A sequence is an array of observations.",
                   "Group the steps: array_agg(observation ORDER BY ...).");
  }
  std::optional<Score> score(const std::shared_ptr<const Model> &shared,
                             const NullableDatum *row) override {
    const HiddenMarkovModel &model = hidden(*shared);
    const OpenArray array(row->value);
    const std::int64_t steps = sequences_.steps(shared, array);
    if (steps == 0) return std::nullopt;
    StoredSequence one(model);
    one.begin(steps);
    double counted = 0;
    sequences_.each(array, [&](std::span<const double> x) {
      one.step(x);
      counted += observed(x);
    });
    if (counted == 0) return std::nullopt;
    return Score{counted, model.log_likelihood(one, one.control), 0};
  }

 private:
  SequenceReader sequences_;
};

const ScoredFamily scored_sequences(hmm_family, "sequence", 1, ErrorMeasure::none, false,
                                    make_scorer<SequenceScorer>);

int horizon_argument(FunctionCallInfo fcinfo) {
  const int horizon = PG_GETARG_INT32(2);
  constexpr int most = 100000;
  if (horizon < 1 || horizon > most)
    throw Error(Errc::invalid_argument,
                message("horizon is {}, the number of steps must be from 1 to {}", horizon, most));
  return horizon;
}

/// Adds the steps of sequences to the profiles of states, with smoothed probabilities.
class SequenceProfiles final : public ProfileReader {
 public:
  SequenceProfiles(MemoryContext context, const Oid *types) : sequences_(context) {
    if (!guarded([types] { return is_array_type(*types); }))
      throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                     message("a sequence is of type {}", name_of_type(*types)),
                     "Models of hmm take an array of steps, in the order of time.");
  }
  void add(const std::shared_ptr<const Model> &shared, Datum sequence,
           ProfileState &state) override {
    ModelAndSequence given(sequences_, shared, sequence);
    if (given.model.symbols()) state.symbols = &hidden(*state.model).symbol_names();
    if (given.steps == 0) return;
    StoredSequence one(given);
    const std::size_t k = std::size_t(given.model.size());
    std::vector<double> x(std::size_t(given.model.dimension()));
    given.model.smooth(one, one.control,
                       [&](std::int64_t first, int steps, const double *probabilities) {
                         for (int i = 0; i < steps; ++i, probabilities += k) {
                           one.read(first + i, x);
                           state.profile.add(x, {probabilities, k});
                         }
                       });
  }

 private:
  SequenceReader sequences_;
};

const ProfileFamily profiled_states(hmm_family, make_reader<ProfileReader, SequenceProfiles>);

}  // namespace

/// hmm_decode(model, sequence) -> int[]
BAYES_FUNCTION(hmm_decode) {
  ModelAndSequence given(fcinfo);
  if (given.steps == 0) return array_of_states({});
  StoredSequence one(given);
  return array_of_states(given.model.decode(one, one.control).states);
}

BAYES_FUNCTION(hmm_probabilities) {
  ModelAndSequence given(fcinfo);
  if (given.steps == 0) return empty_array(FLOAT8OID);
  const std::size_t k = std::size_t(given.model.size());
  ProbabilityArray result(given.steps, int(k));
  StoredSequence one(given);
  given.model.smooth(one, one.control,
                     [&result, k](std::int64_t first, int steps, const double *probabilities) {
                       std::copy_n(probabilities, std::size_t(steps) * k,
                                   result.numbers() + std::size_t(first) * k);
                     });
  return result.datum();
}

BAYES_FUNCTION(hmm_filter) {
  ModelAndSequence given(fcinfo);
  if (given.steps == 0) return empty_array(FLOAT8OID);
  ProbabilityArray result(given.steps, given.model.size());
  HiddenMarkovModel::Filter filter(given.model);
  double *out = result.numbers();
  given.each([&filter, &out](std::span<const double> x) {
    const std::span<const double> probabilities = filter.next(x);
    out = std::copy(probabilities.begin(), probabilities.end(), out);
  });
  return result.datum();
}

BAYES_FUNCTION(hmm_log_likelihood) {
  ModelAndSequence given(fcinfo);
  if (given.steps == 0) PG_RETURN_FLOAT8(0);
  StoredSequence one(given);
  PG_RETURN_FLOAT8(given.model.log_likelihood(one, one.control));
}

BAYES_FUNCTION(hmm_paths) {
  ResultRows result(fcinfo);
  const int n = PG_GETARG_INT32(2);
  constexpr int most = 1000;
  if (n < 1 || n > most)
    throw Error(Errc::invalid_argument,
                message("n is {}, the number of paths must be from 1 to {}", n, most));
  ModelAndSequence given(fcinfo);
  std::vector<HmmPath> paths = {{0, {}}};  // an empty sequence has one path, of probability 1
  if (given.steps > 0) {
    StoredSequence one(given);
    paths = given.model.decode_best(one, n, one.control);
  }
  int rank = 0;
  for (const HmmPath &path : paths) {
    poll_interrupts();
    const Datum states = array_of_states(path.states);
    result.row({++rank, path.log_probability, Cell::datum(states, INT4ARRAYOID)});
    pfree(DatumGetPointer(states));
  }
  return Datum(0);
}

/// hmm_predict(model, sequence [, horizon [, level]])
BAYES_FUNCTION(hmm_predict) {
  ResultRows result(fcinfo);
  const int horizon = horizon_argument(fcinfo);
  const double level = PG_GETARG_FLOAT8(3);
  require_level(level);
  ModelAndSequence given(fcinfo);
  StoredSequence one(given);
  const PredictedElements elements(given.model);
  int step = 0;
  std::vector<Cell> row;
  const auto take = [&](const HiddenMarkovModel::Prediction &next) {
    poll_interrupts();
    ++step;
    elements.each(next, [&](Cells cells) {
      row.assign(1, Cell(step));
      row.insert(row.end(), cells.begin(), cells.end());
      result.row(row);
    });
  };
  given.model.predict(one, horizon, one.control, take, level);
  return Datum(0);
}

/// hmm_sample(model, sequence, horizon, draws, seed)
BAYES_FUNCTION(hmm_sample_after) {
  ResultRows result(fcinfo);
  const int horizon = horizon_argument(fcinfo), draws = PG_GETARG_INT32(3);
  if (draws < 0)
    throw Error(Errc::invalid_argument,
                message("draws is {}, the number of paths cannot be negative", draws));
  if (double(draws) * horizon > max_sampled)
    throw Error(Errc::too_large,
                message("{} draws of {} steps are too many, the limit is {} steps in all", draws,
                        horizon, max_sampled),
                {}, "Call the function several times, with different seeds.");
  ModelAndSequence given(fcinfo);
  StoredSequence one(given);
  const HiddenMarkovModel &model = given.model;
  model.sample_after(
      one, horizon, draws, std::uint64_t(PG_GETARG_INT64(4)), one.control,
      [&](int draw, int step, int state, std::span<const double> x) {
        poll_interrupts();
        const bool named = model.symbols();
        result.row({draw + 1, step + 1, state + 1,
                    named ? Cell::text(model.symbol_names().at(std::size_t(x[0]))) : Cell(),
                    named ? Cell() : Cell::vector_with_nulls(x)});
      });
  return Datum(0);
}

// A hidden Markov model as relations, and sequences sampled from it.

namespace {

bool any_nan(std::span<const double> x) {
  for (const double v : x)
    if (std::isnan(v)) return true;
  return false;
}

bool all_nan(std::span<const double> x) {
  for (const double v : x)
    if (!std::isnan(v)) return false;
  return true;
}

Cell text_or_null(const std::string *text) { return text ? Cell::text(*text) : Cell(); }

/// The number of an element, from 1; NULL for parameters of all elements together (-1).
Cell element_of(int element) { return element < 0 ? Cell() : Cell(element + 1); }

/// The name of an element's column; NULL if the model was fitted to arrays.
Cell name_of(const Model &model, int element) {
  const RowColumns &columns = model.info.columns;
  return element < 0 || columns.empty() ? Cell() : Cell::text(columns[std::size_t(element)].name);
}

Cell vector_or_null(std::span<const double> x) {
  return all_nan(x) ? Cell() : Cell::vector_with_nulls(x);
}

/// A square matrix; NULL if it is empty or has a NaN.
Cell matrix_or_null(std::span<const double> x) {
  return x.empty() || any_nan(x)
             ? Cell()
             : Cell::matrix(x, std::size_t(std::lround(std::sqrt(double(x.size())))));
}

}  // namespace

void bayes::pg::emit_states(ResultRows &result, const HiddenMarkovModel &model) {
  for (int i = 0; i < model.size(); ++i) {
    const HmmState s = model.state_at(i);
    result.row({i + 1, Cell::or_null(s.initial), Cell::or_null(s.initial_deviation),
                Cell::or_null(s.initial_alpha), Cell::or_null(s.stationary),
                Cell::or_null(s.visits), Cell::or_null(s.dwell)});
  }
}

BAYES_FUNCTION(hmm_states) {
  ResultRows result(fcinfo);
  emit_states(result, hidden(*hmm_argument(PG_GETARG_DATUM(0))));
  return Datum(0);
}

BAYES_FUNCTION(hmm_transitions) {
  ResultRows result(fcinfo);
  const auto model = hmm_argument(PG_GETARG_DATUM(0));
  hidden(*model).transitions([&result](const HmmTransition &t) {
    poll_interrupts();
    result.row({t.from + 1, t.to + 1, Cell::or_null(t.probability), Cell::or_null(t.deviation),
                Cell::or_null(t.alpha), Cell::or_null(t.count)});
  });
  return Datum(0);
}

BAYES_FUNCTION(hmm_emissions) {
  ResultRows result(fcinfo);
  const auto model = hmm_argument(PG_GETARG_DATUM(0));
  hidden(*model).emissions([&](const HmmEmission &e) {
    poll_interrupts();
    result.row({e.state + 1, text_or_null(e.symbol), Cell::or_null(e.probability),
                Cell::or_null(e.deviation), element_of(e.element), name_of(*model, e.element),
                vector_or_null(e.mean), matrix_or_null(e.covariance)});
  });
  return Datum(0);
}

BAYES_FUNCTION(hmm_posterior) {
  ResultRows result(fcinfo);
  const auto model = hmm_argument(PG_GETARG_DATUM(0));
  hidden(*model).posterior([&](const HmmPosterior &p) {
    poll_interrupts();
    result.row({p.state + 1, element_of(p.element), name_of(*model, p.element),
                text_or_null(p.symbol), Cell::text(p.parameter),
                p.matrix ? matrix_or_null(p.value) : vector_or_null(p.value)});
  });
  return Datum(0);
}

/// hmm_sample(model, n, seed). The result is a tuplestore, which spills to disk, so memory does not
/// limit the length.
BAYES_FUNCTION(hmm_sample) {
  ResultRows result(fcinfo);
  const int n = PG_GETARG_INT32(1);
  if (n < 0)
    throw Error(Errc::invalid_argument,
                message("n is {}, the number of steps cannot be negative", n));
  if (n > max_sampled)
    throw Error(Errc::too_large, message("n is {}, but the limit is {} steps", n, max_sampled), {},
                "Sample several shorter sequences, with different seeds.");
  const auto owner = hmm_argument(PG_GETARG_DATUM(0));
  const HiddenMarkovModel &model = hidden(*owner);
  const bool symbols = model.symbols();
  std::int64_t t = 0;
  model.sample(std::uint64_t(PG_GETARG_INT64(2)), 0, n, [&](int state, std::span<const double> x) {
    poll_interrupts();
    const int step = int(++t);
    if (symbols)
      result.row({step, state + 1, Cell::text(model.symbol_names().at(std::size_t(x[0]))), Cell()});
    else
      result.row({step, state + 1, Cell(), Cell::vector_with_nulls(x)});
  });
  return Datum(0);
}
