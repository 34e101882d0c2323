// Forms in which data are given in other languages: errors that tell the form here, where
// PostgreSQL would say that there is no such function.
#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"

using namespace bayes;
using namespace bayes::pg;

/// (internal, a, b, k) -> an error
BAYES_FUNCTION(bayes_columns_transition) {
  aggregate_context(fcinfo);
  throw SqlError(ERRCODE_DATATYPE_MISMATCH, "columns are given one by one",
                 "A row is one argument: an array or a record.",
                 "SELECT f(ARRAY[a, b], k) FROM t; or, with the names of the columns, SELECT f(r, "
                 "k) FROM (SELECT a, b FROM t) AS r.");
}
