// Rows from a query text.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pg/input/collector.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/server/context.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// The names of a query's items (the text of a column), each with a value of one type, in order.
/// Spills to disk.
class NamedValues {
 public:
  /// Lives in CurrentMemoryContext.
  explicit NamedValues(Oid type);
  void add(const NullableDatum &name, const NullableDatum &value);
  /// Calls f(name, value) for every pair, which is valid during the call; the name is a text or
  /// NULL. To be called once: afterwards the values are closed.
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

/// The values of $1, $2, ... in a query, all of one type.
struct QueryArguments {
  Oid type = InvalidOid;
  std::span<const Datum> values = {};
};

/// Runs `text`, one SELECT (or VALUES, TABLE), as the caller, read-only, and receives its rows
/// directly from the executor. `check` gets its columns before it runs; `take` gets every row, its
/// columns unpacked, in a memory context that is reset for the next one. `hint` says what the query
/// should look like.
void run_query(const char *text, const char *hint,
               const std::function<void(TupleDesc columns)> &check,
               const std::function<void(TupleTableSlot *row)> &take,
               const QueryArguments &arguments = {});

/// The one SELECT in a text, for use within another query.
struct SelectInText {
  /// without a semicolon, in the server's encoding; it may end in a comment, after which a line
  /// must end
  std::string text;
  /// in CurrentMemoryContext
  TupleDesc columns;
};
/// Throws Error, with this hint, for a text that run_query would refuse.
SelectInText select_in(const char *text, const char *hint);

/// The form of the rows of a query.
struct QueryForm {
  ItemForm item;
  /// the columns, if a row consists of several; columns that do not belong to it are marked as
  /// dropped
  TupleDesc columns = nullptr;
};

/// The names (UTF-8) of columns of a query that do not belong to its rows.
struct QueryColumns {
  std::optional<std::string> id, weight;
  /// Removes options id and weight, and returns them. Throws Error for a value that is not a name.
  static QueryColumns of(Document &options);
};

/// The column of the query that an option names.
int column_named(TupleDesc columns, const std::string &name, const char *option, const char *hint);
/// Throws Error: this column has another type than is expected.
[[noreturn]] void wrong_column(TupleDesc columns, int index, const char *expected,
                               const char *hint);

/// Runs `text` as run_query does, and collects its rows. Apart from the columns that `given` names,
/// a row is one array of numbers, or an array and a numeric weight, or one record, or several
/// columns, which are read as a record. `make` receives the form of the rows and returns the
/// collector, on which begin() has been called.
///
/// `names`: if not nullptr, column id, or else the first column, of any type, is the name of the
/// row, and weights are not allowed; each name is stored with a boolean that tells whether the row
/// was included. `booleans`: whether boolean arrays count as arrays of numbers.
void read_query(const char *text, const QueryColumns &given,
                const std::function<FitData<RowCollector> &(const QueryForm &)> &make,
                NamedValues *names, bool booleans);

/// The form that such a query should have, for a HINT.
const char *query_hint(bool named);

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

/// Connects to SPI, and prepares the query there. An error after it aborts the transaction (or
/// subtransaction), which cleans up SPI.
SPIPlanPtr prepare_query(const char *text, const char *hint, const QueryArguments &arguments = {});

/// The single SELECT of a plan; throws Error for anything else.
CachedPlanSource *only_select(SPIPlanPtr plan, const char *hint);

/// The layout of a query with these columns; throws Error for columns that rows cannot have.
QueryLayout layout_of(TupleDesc columns, const QueryColumns &given, bool named, bool booleans);

/// The form of its rows, in CurrentMemoryContext.
QueryForm form_of(const QueryLayout &layout, TupleDesc columns);

}  // namespace bayes::pg
