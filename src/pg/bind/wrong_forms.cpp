// Forms in which data are given in other languages: errors that tell the form here, where
// PostgreSQL would say that there is no such function.
#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

[[noreturn]] void refuse_form(const std::string &what, const std::string &detail,
                              const std::string &hint) {
  throw SqlError(ERRCODE_DATATYPE_MISMATCH, what, detail, hint);
}

std::string type_of_data(FunctionCallInfo fcinfo) {
  return name_of_type(guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 1); }));
}

}  // namespace

/// (internal, float8, float8, k) -> an error
BAYES_FUNCTION(bayes_columns_transition) {
  aggregate_context(fcinfo);
  refuse_form("columns are given one by one", "A row is one argument: an array or a record.",
              "SELECT f(ARRAY[a, b], k) FROM t; or, with the names of the columns, SELECT f(r, k) "
              "FROM (SELECT a, b FROM t) AS r.");
}

/// (internal, anynonarray, k [, options]) -> an error
BAYES_FUNCTION(hmm_single_steps_transition) {
  aggregate_context(fcinfo);
  refuse_form(message("a sequence is of type {}", type_of_data(fcinfo)),
              "hmm_fit takes a sequence in each row: an array of its steps, in the order of time.",
              "SELECT hmm_fit(s, k) FROM (SELECT array_agg(x ORDER BY t) AS s FROM ... GROUP BY "
              "series) AS q.");
}

/// (internal, anynonarray, k [, options]) -> an error
BAYES_FUNCTION(lda_texts_transition) {
  aggregate_context(fcinfo);
  refuse_form(message("a document is of type {}", type_of_data(fcinfo)),
              "A document is a tsvector, an array of texts, or a jsonb object of counts.",
              "lda_fit(to_tsvector('english', body), k) takes the words of a text.");
}
