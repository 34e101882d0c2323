// Forms in which other systems take data. Their errors explain the form that is expected here;
// otherwise PostgreSQL would only report that the function does not exist.
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
