// Rows of a query that have a response, or a label, and what is to tell it.
#pragma once

#include <functional>

#include "pg/input/query.hpp"

namespace bayes::pg {

/// Runs `text` as run_query does. Of its columns, but for those that `given` names, the first is
/// the response; the others are one array or record, or with `objects` one jsonb or tsvector, or
/// columns, which become a record's. `begin` gets the form of the items before the query runs;
/// `take` every item (response, row), whose weight is that of option weight. `hint` says what the
/// query should look like.
void read_responses(const char *text, const char *hint, const QueryColumns &given, bool objects,
                    const std::function<void(const ItemForm &form)> &begin,
                    const std::function<void(const Item &item)> &take);

}  // namespace bayes::pg
