// A query over one table: views and subqueries in its FROM are replaced by what they select.
//
// Everything here may raise an ERROR, and is plain data, for guarded().
#pragma once

#include "pg/server/postgres.hpp"

namespace bayes::pg {

struct FlatQuery {
  /// why the query is none of this kind; null if it is one
  const char *reason;
  Oid table;
  /// an expression for each column of the query, and the condition or null; the table is number 1
  List *expressions;
  Node *condition;
};

FlatQuery flat_query(const Query *query);

/// The fields of a record that an expression makes.
struct RecordExpressions {
  /// null if it is not known which they are
  TupleDesc description;
  /// one for each attribute
  List *expressions;
};

/// Of a whole row of the table, or a row that a view, a subquery or ROW(...) makes.
RecordExpressions record_expressions(Node *expression);

}  // namespace bayes::pg
