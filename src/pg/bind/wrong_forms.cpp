// Forms in which other systems take data, or that lack an argument. Their errors explain the form
// that is expected here; otherwise PostgreSQL would only report that the function does not exist.
#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"

using namespace bayes;
using namespace bayes::pg;

/// (internal, a, b, k) -> an error
BAYES_FUNCTION(bayes_columns_transition) {
  aggregate_context(fcinfo);
  throw SqlError(ERRCODE_DATATYPE_MISMATCH, "columns are given as separate arguments",
                 "A row is one argument: an array or a record.",
                 "SELECT f(ARRAY[a, b], k) FROM t; or, with the names of the columns, SELECT f(r, "
                 "k) FROM (SELECT a, b FROM t) AS r.");
}

/// (internal, x) -> an error
BAYES_FUNCTION(bayes_no_number_transition) {
  aggregate_context(fcinfo);
  throw SqlError(ERRCODE_UNDEFINED_FUNCTION,
                 "the number of components, states, topics or factors is missing",
                 "It is the argument after the data.",
                 "SELECT gmm_fit(x, 3) FROM t; gmm_select, bmm_select and the like compare several "
                 "numbers, and dpmm_fit(x) needs none.");
}

/// (model) -> an error
BAYES_FUNCTION(bayes_no_row) {
  throw SqlError(ERRCODE_UNDEFINED_FUNCTION, "the row is missing",
                 "A prediction is of a row, which is the argument after the model.",
                 "SELECT bayes_predict(model, r) FROM models, t AS r. What a model knows of all "
                 "rows: bayes_parameters(model).");
}
