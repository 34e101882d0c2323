// A hidden Markov model as relations, and sequences sampled from it.
#include "base/message.hpp"
#include "pg/models/hmm.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

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
