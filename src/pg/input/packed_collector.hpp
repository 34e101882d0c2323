// Common to collectors of rows with columns: the columns, the codes of their labels, and the
// transfer of rows from parallel workers.
#pragma once

#include <string>

#include "pg/input/collector.hpp"
#include "pg/input/row_reader.hpp"

namespace bayes::pg {

class PackedCollector : public WeightedCollector {
 public:
  /// The columns of records, labels in the order of their codes.
  RowColumns columns() const { return reader_.columns(); }
  /// The number of elements of a packed row that precede those of the columns.
  int before() const { return before_; }

  /// Identifies the data (DataHash); called after arrange().
  std::uint64_t hash(Control &control);

  /// Everything about the rows except their blocks, as bytes for another process; sorts labels.
  void write_counts(std::string &out);
  /// number of bytes that write_blocks() writes
  std::size_t bytes() const;
  /// The columns of rows that are read elsewhere: their labels are added to those of the reader.
  void add_columns(const RowColumns &columns) { reader_.merge(columns); }
  /// Replaces the codes of labels by those of `all`, which has the same columns and all labels.
  /// Throws Error(invalid_binary) unless it has them.
  void recode(const RowColumns &all);
  /// Counts items that are read elsewhere: all, and those of weight 0.
  void count_elsewhere(std::int64_t seen, std::int64_t zero_weights) {
    seen_ += seen;
    zero_weights_ += zero_weights;
  }
  std::int64_t zero_weights() const { return zero_weights_; }
  int dimension() const { return dimension_; }
  /// Do rows have columns with names?
  bool described() const { return reader_.described(); }
  /// Gives labels codes in the order of their bytes.
  void sort_labels();
  /// The rows themselves; may throw Pending.
  void write_blocks(char *to);
  /// Appends the rows of another process, as written by write_counts() and write_blocks().
  void absorb(const char *at, const char *end);

 protected:
  /// `before`: see before(); `type`: of the rows that have the columns.
  PackedCollector(MemoryContext context, bool weighted, Oid type, int before)
      : WeightedCollector(context, weighted, "row"),
        before_(before),
        reader_(context, type) {}

  /// Called for a row whose length differs from dimension_: sets dimension_ if it is the first row;
  /// throws Error for a later row, or for a length above `limit` (0: no limit).
  void check_length(std::size_t length, int limit);

  const int before_;
  /// number of elements that rows have in their columns; 0 while it is unknown
  int dimension_ = 0;
  /// what determined the length, for messages
  const char *expected_by_ = "the first row";
  RowReader reader_;
  /// number of rows that have been arranged
  std::int64_t arranged_ = 0;
};

}  // namespace bayes::pg
