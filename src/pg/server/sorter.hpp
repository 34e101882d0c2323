// PostgreSQL's external sort: in memory up to a limit, beyond it in temporary files.
#pragma once

#include <span>

#include "pg/server/file_owner.hpp"

namespace bayes::pg {

/// One column of the rows that are sorted.
struct SortColumn {
  Oid type;
  /// operator < of the type; InvalidOid if the column is not a sort key
  Oid less = InvalidOid;
  Oid collation = InvalidOid;
};

/// Rows of a few columns, put in any order, then read once in ascending order.
///
/// PostgreSQL's sort must be ended before its memory is freed, or the end of the query warns about
/// files that are still open; but not after an error: then their resource owner closes the files,
/// and flushing buffers to a full disk could raise again.
class Sorter {
 public:
  /// The sort keys must be the first columns. Takes `kilobytes` of memory, below `context`.
  /// `files`: the owner of its files, if the sort may outlive the query, which owns them else; no
  /// user code may then compare keys.
  Sorter(MemoryContext context, std::span<const SortColumn> columns, int kilobytes,
         const FileOwner *files = nullptr);
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

  /// parent of all memory that PostgreSQL allocates for the sort
  MemoryContext memory_ = nullptr;
  Tuplesortstate *state_ = nullptr;
  TupleTableSlot *in_ = nullptr, *out_ = nullptr;
  const FileOwner *files_;
  /// a call into PostgreSQL is in progress or has raised an error
  bool interrupted_ = false;
};

}  // namespace bayes::pg
