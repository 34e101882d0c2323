// Rows of a query that have a response (or class label) and predictors.
#pragma once

#include <functional>

#include "document/model.hpp"
#include "pg/input/query.hpp"

namespace bayes::pg {

/// Runs `text` as run_query does. Apart from the columns that `given` names, the first column is
/// the response; the others are one array or record, or (if `objects`) one jsonb or tsvector, or
/// several columns, which become a record. `begin` receives the form of the items before the query
/// runs; `take` receives every item (response, row), with the weight that option weight names.
/// `hint` says what the query should look like.
void read_responses(const char *text, const char *hint, const QueryColumns &given, bool objects,
                    const std::function<void(const ItemForm &form)> &begin,
                    const std::function<void(const Item &item)> &take);

/// NOTICE if rows of the query were left out of the fit.
void note_rows_left_out(const Model &model);

}  // namespace bayes::pg
