// Rows from a query text.
#pragma once

#include <functional>

#include "pg/input/row_collector.hpp"
#include "pg/server/context.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// What the items of a query are called, the text of a column, each with a value of one type; in
/// their order. Spills to disk.
class NamedValues {
 public:
  /// Lives in CurrentMemoryContext.
  explicit NamedValues(Oid type);
  void add(const NullableDatum &name, const NullableDatum &value);
  /// f(name, value) for every pair, good for the call; the name is a text or NULL. Once: it closes
  /// them.
  void each(const std::function<void(Cell name, const NullableDatum &value)> &f);
  /// Gives memory and file back. Must be called on success, if each() is not: the end of a query
  /// complains about files that are still open.
  void close();

 private:
  Tuplestorestate *store_;
  TupleDesc description_;
};

/// The function that makes text of a value of this type.
Oid output_function_of(Oid type);

/// A column of a row as text, by its output function.
NullableDatum text_of_column(TupleTableSlot *row, int column, Oid output_function);

/// Runs `text`, one SELECT (or VALUES, TABLE), as the caller, read-only, and takes its rows
/// straight from the executor. `check` sees its columns before it runs; `take` gets every row, its
/// columns unpacked, in a memory context that is emptied for the next one. `hint` says what the
/// query should look like.
void run_query(const char *text, const char *hint,
               const std::function<void(TupleDesc columns)> &check,
               const std::function<void(TupleTableSlot *row)> &take);

/// Runs `text` likewise and collects its rows. Its columns are one array of numbers, or an array
/// and a numeric weight, or numeric columns, the features in order. `make` is told whether the rows
/// are weighted and gives the collector, which has begun. With `names` there is a column before
/// them, of any type, that says what the row is called, and there can be no weight; names are given
/// with whether the row was taken, a boolean. With `booleans` these count as numbers.
void read_query(const char *text, const std::function<RowCollector &(bool weighted)> &make,
                NamedValues *names, bool booleans);

/// What such a query should look like, for a HINT.
const char *query_hint(bool named);

}  // namespace bayes::pg
