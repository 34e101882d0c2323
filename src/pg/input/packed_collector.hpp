// What collectors of rows with columns share: the columns, their labels' codes, and how rows travel
// from parallel workers.
#pragma once

#include <string>

#include "pg/input/collector.hpp"
#include "pg/input/row_reader.hpp"

namespace bayes::pg {

class PackedCollector : public WeightedCollector {
 public:
  /// The columns of records, labels in the order of their codes.
  RowColumns columns() const { return reader_.columns(); }

  /// Everything about the rows except their blocks, as bytes for another process; sorts labels.
  void write_counts(std::string &out);
  /// written by write_blocks()
  std::size_t bytes() const;
  /// The rows themselves; may throw Pending.
  void write_blocks(char *to);
  /// Appends the rows of another process, as written by write_counts() and write_blocks().
  void absorb(const char *at, const char *end);

 protected:
  /// `before`: how many elements of a packed row come before those of the columns; `type`: of the
  /// rows that have the columns.
  PackedCollector(MemoryContext context, bool weighted, Oid type, int before)
      : WeightedCollector(context, weighted, "row"),
        before_(before),
        reader_(context, type) {}

  /// Gives labels codes in the order of their bytes.
  void sort_labels();
  /// Throws for a row of this length, unless it is the first, and not longer than `limit` (0: there
  /// is none).
  void check_length(std::size_t length, int limit);

  const int before_;
  /// of the columns of all rows; 0 while it is unknown
  int dimension_ = 0;
  /// where it comes from, for messages
  const char *expected_by_ = "the first row";
  RowReader reader_;
  /// so many rows are in order
  std::int64_t arranged_ = 0;
};

}  // namespace bayes::pg
