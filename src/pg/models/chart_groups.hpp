// Groups of documents, as a chart of their topics shows them.
#pragma once

#include <memory>

#include "charts/charts.hpp"
#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Throws Error unless the query has this many columns.
void require_columns(TupleDesc columns, int count, const char *detail, const char *hint);

/// Runs the query as the caller: groups and documents, which get their topics from the model, one
/// of lda. Throws Error: invalid_argument for columns of other types; too_large for more than
/// max_groups groups.
void read_groups(const std::shared_ptr<const Model> &shared, const char *query, ChartRows &to);

}  // namespace bayes::pg
