// Common to collectors of rows with columns: the columns, the codes of their labels, and the
// transfer of rows from parallel workers.
#pragma once

#include <optional>
#include <string_view>

#include "data/remote_rows.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/row_reader.hpp"

namespace bayes::pg {

/// What one process or server has read, apart from the rows themselves (data/pass.hpp).
struct PackedHead {
  /// stored rows, those that were left out, all that were seen, and those of weight 0
  std::int64_t rows = 0, skipped = 0, seen = 0, zero_weights = 0;
  /// the number of elements that rows have in their columns; 0 while it is unknown
  std::int64_t dimension = 0;
  /// with their labels, if rows are records
  std::optional<RowColumns> columns;

  template <class F> void fields(F &f) {
    f.integer("rows", rows, 0, most_rows_of_part);
    f.integer("skipped", skipped, 0, most_rows_of_part);
    f.integer("seen", seen, 0, most_rows_of_part);
    f.integer("zero_weights", zero_weights, 0, most_rows_of_part);
    f.integer("dimension", dimension, 0, most_elements);
    f.optional("columns", columns, [&](RowColumns &all) {
      f.columns("columns", all);
      f.require(std::ssize(all) == dimension);
    });
  }
  /// An array has no more.
  static constexpr std::int64_t most_elements = std::int64_t(1) << 27;
};

class PackedCollector : public WeightedCollector {
 public:
  /// The columns of records, labels in the order of their codes.
  RowColumns columns() const { return reader_.columns(); }
  /// The number of elements of a packed row that precede those of the columns.
  int before() const { return before_; }

  /// Identifies the data (DataHash); called after arrange().
  std::uint64_t hash(Control &control);

  /// Everything about the rows except their blocks; sorts labels.
  PackedHead head();
  /// number of bytes that write_blocks() writes
  std::size_t bytes() const;
  /// Replaces the codes of labels by those of `all`, which has the same columns and all labels, if
  /// rows have columns. Throws Error(invalid_binary) unless it has them.
  void recode(const std::optional<RowColumns> &all);
  /// Do rows have columns with names?
  bool described() const { return reader_.described(); }
  /// Gives labels codes in the order of their bytes.
  void sort_labels();
  /// The rows themselves; may throw Pending.
  void write_blocks(char *to);
  /// Appends the rows of another process, as head() and write_blocks() give them.
  void absorb(const PackedHead &head, std::string_view blocks);
  /// Counts the rows of a part that another server keeps, and adds their columns; `described`: they
  /// must have some.
  void hear(const PackedHead &head, bool described);

 protected:
  /// `before`: see before(); `type`: of the rows that have the columns.
  PackedCollector(MemoryContext context, bool weighted, Oid type, int before)
      : WeightedCollector(context, weighted, "row"),
        before_(before),
        reader_(context, type) {}

  /// Called for a row whose length differs from dimension_: sets dimension_ if it is the first row;
  /// throws Error for a later row, or for a length above `limit` (0: no limit).
  void check_length(std::size_t length, int limit);
  /// Counts items that are read elsewhere.
  void count_elsewhere(const PackedHead &head) {
    seen_ += head.seen;
    zero_weights_ += head.zero_weights;
  }

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
