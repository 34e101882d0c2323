// Which queries can be run where the rows are: a SELECT of columns or expressions of one table,
// with or without WHERE, or of views and subqueries that are such SELECTs; the partitions of the
// table are tables of this server and foreign tables of postgres_fdw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pg/input/query_layout.hpp"

namespace bayes::pg {

/// A partition. Texts of SQL are in the server's encoding, as are those below.
struct RowPart {
  /// for messages: server "s1", table public.t1
  std::string place;
  /// its name, qualified and quoted
  std::string relation;
  /// the name of its server; empty if it is this one
  std::string server;
  /// of postgres_fdw, else of this server
  bool foreign = false;
};

struct PushableQuery {
  /// ordered by the names of the tables
  std::vector<RowPart> parts;
  /// the expression of every column of the query, or of every field of its records and their
  /// weight, over a table called t
  std::vector<std::string> expressions;
  /// the condition of WHERE, empty if there is none
  std::string condition;
  /// a column of the table that the query reads
  std::string column;
  QueryLayout layout;
  QueryForm form;
};

/// Prepares `text`, and says what its parts are; or else why it cannot be pushed down, in `reason`.
/// Throws Error for a query whose rows no fit takes.
std::optional<PushableQuery> pushable_query(const char *text, const QueryColumns &given,
                                            bool booleans, std::string &reason);

}  // namespace bayes::pg
