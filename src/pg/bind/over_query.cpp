// Aggregates of models and rows over the rows of a query: bayes_profile, bayes_drift, bayes_score
// and bayes_score_difference as relations of plain columns. PostgreSQL runs the aggregate itself
// over the query, so that both forms give the same.

#include <string>
#include <vector>

#include "base/message.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/score.hpp"
#include "pg/input/query.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {
namespace {

constexpr const char *hint_of_row =
    "Select the columns of a row (SELECT a, b, c FROM ...), or one array, sequence or document for "
    "each row.";
constexpr const char *hint_of_response =
    "Select the response or label, and then the row: columns (SELECT y, a, b FROM ...), or one "
    "array (SELECT y, x FROM ...).";
constexpr const char *hint_of_cell =
    "Select the keys of a row and of a column, and the number in their cell (SELECT customer, "
    "product, rating FROM ...).";

/// An aggregate of models and rows.
struct OverQuery {
  const char *name;
  /// the number of its first arguments, which are models
  int models;
  /// it gives an array of composite values about rows, else one, the score of rows, which may have
  /// a response or be cells
  bool array;
};

/// Is a row a value of this type, rather than a record of the one column that has it?
bool is_whole_row(Oid type) {
  const Oid base = guarded([type] { return getBaseType(type); });
  switch (guarded([base] { return TypeCategory(base); })) {
    case TYPCATEGORY_ARRAY:
    case TYPCATEGORY_COMPOSITE:
    case TYPCATEGORY_PSEUDOTYPE: return true;
    // documents, and vectors of other extensions
    case TYPCATEGORY_USER: return base != UUIDOID;
    default: return false;
  }
}

/// The aggregate over the rows of a query: of its columns, the first `single` are arguments of
/// their own; all others make the row, if there are any.
std::string statement_of(const OverQuery &call, const char *schema, const SelectInText &query,
                         int single) {
  const int n = query.columns->natts;
  std::string models, arguments, aliases, fields;
  for (int i = 0; i < call.models; ++i) models += message("{}${}", i > 0 ? ", " : "", i + 1);
  for (int i = 0; i < n; ++i) {
    const Form_pg_attribute column = TupleDescAttr(query.columns, i);
    aliases += message("{}c{}", i > 0 ? ", " : "", i + 1);
    if (i < single || (n == single + 1 && is_whole_row(column->atttypid)))
      arguments += message(", q.c{}{}", i + 1, i == 2 ? "::pg_catalog.float8" : "");
    else
      fields += message("{}q.c{} AS {}", fields.empty() ? "" : ", ", i + 1,
                        guarded([column] { return quote_identifier(NameStr(column->attname)); }));
  }
  std::string from = message("({}\n) AS q({})", query.text, aliases);
  if (!fields.empty()) {
    from += message(", LATERAL (SELECT {}) AS r", fields);
    arguments += ", r.*";
  }
  const std::string value =
      message("SELECT {}.{}({}{}) AS v FROM {}", schema, call.name, models, arguments, from);
  return call.array ? message("SELECT s.* FROM pg_catalog.unnest(({})) AS s", value)
                    : message("SELECT (s.v).* FROM ({}) AS s WHERE (s.v).rows IS NOT NULL", value);
}

/// How many columns of the query are arguments of their own, and what it should look like.
struct RowForm {
  int single = 0;
  const char *hint = hint_of_row;
};

RowForm form_of_scored(const Model &model) {
  const int values = ScoredFamily::of(model.info.family).values;
  return values == 1   ? RowForm{}
         : values == 2 ? RowForm{1, hint_of_response}
                       : RowForm{3, hint_of_cell};
}

/// F(query bayes_query, model bayes_model, ...)
Datum run_over_query(FunctionCallInfo fcinfo, const OverQuery &call) {
  std::vector<Datum> models;
  for (int i = 1; i <= call.models; ++i) {
    if (PG_ARGISNULL(i))
      throw Error(Errc::null_value, "model must not be NULL", {},
                  "Fit a model first, and give it after the query.");
    models.push_back(PG_GETARG_DATUM(i));
  }
  ResultRows result(fcinfo);
  const RowForm form = call.array ? RowForm() : form_of_scored(*load_model(models[0]));
  const SelectInText query = select_in(query_text(fcinfo, form.hint), form.hint);
  const int n = query.columns->natts, single = form.single;
  if (single == 3 ? n != 3 : n <= single)
    throw Error(Errc::invalid_argument, message("query returns {} column{}", n, n == 1 ? "" : "s"),
                single == 3   ? "It must return three: two keys and a number."
                : single == 1 ? "The response or label must be followed by the row."
                              : "There is no row.",
                form.hint);
  const Oid function = fcinfo->flinfo->fn_oid;
  const char *const schema = guarded(
      [function] { return quote_identifier(get_namespace_name(get_func_namespace(function))); });
  const std::string text = statement_of(call, schema, query, single);
  run_query(
      text.c_str(), form.hint, [](TupleDesc) {},
      [&result](TupleTableSlot *row) {
        std::vector<Cell> cells;
        for (int i = 0; i < row->tts_nvalid; ++i)
          cells.push_back(row->tts_isnull[i]
                              ? Cell()
                              : Cell::datum(row->tts_values[i],
                                            TupleDescAttr(row->tts_tupleDescriptor, i)->atttypid));
        result.row(cells);
      },
      {argument_type(fcinfo, 1), models});
  return Datum(0);
}

}  // namespace
}  // namespace bayes::pg

using namespace bayes::pg;

/// bayes_profile(query, model)
BAYES_FUNCTION(bayes_profile_query) { return run_over_query(fcinfo, {"bayes_profile", 1, true}); }

/// bayes_drift(query, model)
BAYES_FUNCTION(bayes_drift_query) { return run_over_query(fcinfo, {"bayes_drift", 1, true}); }

/// bayes_score(query, model)
BAYES_FUNCTION(bayes_score_query) { return run_over_query(fcinfo, {"bayes_score", 1, false}); }

/// bayes_score_difference(query, a, b)
BAYES_FUNCTION(bayes_score_difference_query) {
  return run_over_query(fcinfo, {"bayes_score_difference", 2, false});
}
