// Rows from a query text.
#pragma once

#include <functional>

#include "pg/input/row_intake.hpp"
#include "pg/server/context.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// f(slot) for every tuple of a store, in order, its attributes ready; good for the call.
void each_tuple(Tuplestorestate *store, TupleDesc description,
                const std::function<void(TupleTableSlot *slot)> &f);

/// What rows of a query are called, in their order: the text of their first column, and whether
/// they were taken or left out. Spills to disk.
class RowNames {
 public:
  RowNames();
  void add(Datum name, bool null, bool taken);
  std::int64_t rows() const { return rows_; }
  /// f(name, taken) for every row; the name, a text or NULL, is good for the call. Once: it closes
  /// them.
  void each(const std::function<void(Cell name, bool taken)> &f);
  /// Gives memory and file back. Whoever succeeds without each() must call it: the end of a query
  /// complains about files that are still open.
  void close();

 private:
  Tuplestorestate *store_;
  TupleDesc description_;
  std::int64_t rows_ = 0;
};

/// Runs `text`, one SELECT (or VALUES, TABLE), as the caller, read-only, and takes its rows
/// straight from the executor. `check` sees its columns before it runs; `take` gets every row, its
/// columns unpacked, in a memory context that is emptied for the next one. `hint` says what the
/// query should look like.
void run_query(const char *text, const char *hint,
               const std::function<void(TupleDesc columns)> &check,
               const std::function<void(TupleTableSlot *row)> &take);

/// Runs `text` likewise and fills an intake. Its columns are one array of numbers, or an array and
/// a numeric weight, or numeric columns, the features in order. `make` is told whether the rows are
/// weighted and gives the intake to fill. With `names` there is a column before them, of any type,
/// that says what the row is called, and there can be no weight. With `booleans` these count as
/// numbers.
void read_query(const char *text, const std::function<RowIntake &(bool weighted)> &make,
                RowNames *names = nullptr, bool booleans = false);

/// What such a query should look like, for a HINT.
const char *query_hint(bool named);

}  // namespace bayes::pg
