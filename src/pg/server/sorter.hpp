// PostgreSQL's external sort: in memory up to a limit, beyond it in temporary files.
#pragma once

#include <span>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// One column of what is sorted.
struct SortColumn {
  Oid type;
  /// its operator <; InvalidOid if it is not sorted by
  Oid less = InvalidOid;
  Oid collation = InvalidOid;
};

/// Rows of a few columns, put in any order, then read once in ascending order.
///
/// PostgreSQL's state must be ended before its memory goes, or the end of the query warns about
/// files that are still open; but not after an error, when the resource owner closes them and
/// writing what is left to a full disk could raise again.
class Sorter {
 public:
  /// Columns that are sorted by come first. Takes `kilobytes` of memory, below `context`.
  Sorter(MemoryContext context, std::span<const SortColumn> columns, int kilobytes);
  ~Sorter();
  Sorter(const Sorter &) = delete;
  Sorter &operator=(const Sorter &) = delete;

  void put(const Datum *values, const bool *nulls);
  /// After the last put().
  void sort();
  /// The next row, valid until the next call; nullptr after the last.
  TupleTableSlot *next();

 private:
  void end();
  template <class F> auto busy(F f);

  /// everything of PostgreSQL is below it
  MemoryContext memory_ = nullptr;
  Tuplesortstate *state_ = nullptr;
  TupleTableSlot *in_ = nullptr, *out_ = nullptr;
  /// A call into PostgreSQL has not returned.
  bool interrupted_ = false;
};

}  // namespace bayes::pg
