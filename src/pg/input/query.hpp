// Rows from a query text.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pg/input/row_collector.hpp"
#include "pg/server/context.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// The names of a query's items, the text of a column, each with a value of one type, in order.
/// Spills to disk.
class NamedValues {
 public:
  /// Lives in CurrentMemoryContext.
  explicit NamedValues(Oid type);
  void add(const NullableDatum &name, const NullableDatum &value);
  /// f(name, value) for every pair, valid during the call; the name is a text or NULL. Call once:
  /// it closes them.
  void each(const std::function<void(Cell name, const NullableDatum &value)> &f);
  /// Releases memory and file. Must be called on success unless each() was: the end of a query
  /// warns about files that are still open.
  void close();

 private:
  Tuplestorestate *store_;
  TupleDesc description_;
};

/// The output function of this type.
Oid output_function_of(Oid type);

/// A column of a row as text, by its output function.
NullableDatum text_of_column(TupleTableSlot *row, int column, Oid output_function);

/// Runs `text`, one SELECT (or VALUES, TABLE), as the caller, read-only, and receives its rows
/// directly from the executor. `check` gets its columns before it runs; `take` gets every row, its
/// columns unpacked, in a memory context that is reset for the next one. `hint` says what the query
/// should look like.
void run_query(const char *text, const char *hint,
               const std::function<void(TupleDesc columns)> &check,
               const std::function<void(TupleTableSlot *row)> &take);

/// The columns of a query that are its rows.
struct QueryForm {
  ItemForm item;
  /// if the row is columns: those that are not marked as dropped
  TupleDesc columns = nullptr;
};

/// Columns of a query that are not of its rows, by their names; UTF-8.
struct QueryColumns {
  std::optional<std::string> id, weight;
  /// Takes options id and weight. Throws Error for what is no name.
  static QueryColumns of(Document &options);
};

/// The column of the query that an option names.
int column_named(TupleDesc columns, const std::string &name, const char *option, const char *hint);
/// Throws Error: this column has another type than is expected.
[[noreturn]] void wrong_column(TupleDesc columns, int index, const char *expected,
                               const char *hint);

/// Runs `text` likewise and collects its rows. Its columns, but for those that `given` names, are
/// one array of numbers, or an array and a numeric weight, or one record, or columns, which are a
/// record's. `make` gets the form of the rows and returns the collector, after begin(). With
/// `names` column id, or else the first one, of any type, names the row, and there can be no
/// weight; names are stored with a boolean, whether the row was included. With `booleans` these
/// count as numbers in arrays.
void read_query(const char *text, const QueryColumns &given,
                const std::function<RowCollector &(const QueryForm &)> &make, NamedValues *names,
                bool booleans);

/// What such a query should look like, for a HINT.
const char *query_hint(bool named);

}  // namespace bayes::pg
