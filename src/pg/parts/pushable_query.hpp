// Queries that can be run where the rows are: a SELECT of columns or expressions of one table, with
// or without WHERE, or of views and subqueries that are such SELECTs; the partitions of the table
// are tables of this server and foreign tables of postgres_fdw, or Citus distributes it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// A partition. Texts of SQL are in the server's encoding, as are those below.
struct RowPart {
  /// for messages: server "s1", table public.t1
  std::string place;
  /// its name, qualified and quoted
  std::string relation;
  /// the name of its server; empty if it is this one
  std::string server;
  /// of postgres_fdw or a worker of Citus, else of this server
  bool foreign = false;
  /// its number, if it is a shard
  std::int64_t shard = 0;
};

struct PushableQuery {
  /// ordered by the names of the tables, or by the numbers of the shards
  std::vector<RowPart> parts;
  /// the table, if Citus distributes it, else empty
  std::string distributed;
  /// the expression of every column of the query, and of every field of those that are records,
  /// over a table called t
  std::vector<std::string> expressions;
  /// the condition of WHERE, empty if there is none
  std::string condition;
  /// a column of the table that the query reads
  std::string column;
};

/// A column of a query that is a record: a whole row, or one that ROW(...), a view or a subquery
/// makes.
struct RecordColumn {
  int column;
  /// the number of the first field among the expressions; the others follow
  int first;
  TupleDesc fields;
};

/// The record in this column; null, with the reason, if its fields are not known.
const RecordColumn *record_at(std::span<const RecordColumn> records, int column,
                              std::string &reason);

using CheckColumns = std::function<void(TupleDesc columns, std::span<const RecordColumn> records)>;

/// Prepares `text` and returns its parts, or nullopt with the reason why it cannot be pushed down.
/// `check` gets the columns of a query that can, and those columns that are records with known
/// fields; it may throw, or give a reason too. `hint`: as for run_query.
std::optional<PushableQuery> pushable_query(const char *text, const char *hint,
                                            const CheckColumns &check, std::string &reason);

}  // namespace bayes::pg
