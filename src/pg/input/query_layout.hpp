// The columns of a query that gives rows to a fit, and what each of them is.
#pragma once

#include <vector>

#include "pg/input/query.hpp"

namespace bayes::pg {

/// The roles of the columns of the query. Columns are counted from 0; -1: none.
struct QueryLayout {
  /// the row is a single value, an array or a record, in column `row`; else it consists of several
  /// columns
  bool whole = false;
  int row = -1, weight = -1, name = -1;
  /// columns that do not belong to the row
  std::vector<int> others;
  /// type of the single value; type of the weight
  Oid type = InvalidOid, weight_type = InvalidOid;
  Oid name_output = InvalidOid;
  const char *hint = nullptr;
};

/// The single SELECT of a plan; throws Error for anything else.
CachedPlanSource *only_select(SPIPlanPtr plan, const char *hint);

/// The layout of a query with these columns; throws Error for columns that rows cannot have.
QueryLayout layout_of(TupleDesc columns, const QueryColumns &given, bool named, bool booleans);

/// The form of its rows, in CurrentMemoryContext.
QueryForm form_of(const QueryLayout &layout, TupleDesc columns);

}  // namespace bayes::pg
