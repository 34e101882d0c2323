// Orders the cells of a table by line, and within a line by the key of the other side. Lines are
// the rows or the columns of the table (TripleCollector::choose_lines).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/corpus.hpp"
#include "factor/factor_table.hpp"
#include "pg/input/cell_store.hpp"

namespace bayes::pg {

/// Treatment of cells that occur more than once, and of zeros.
struct CellRules {
  FactorTableOptions::Repeated repeated;
  bool keep_zeros;
  /// Throws Error: a cell occurs more than once; `first` <= `second` are two of its numbers.
  std::function<void(std::int32_t line, std::int32_t other, double first, double second)> refuse;
  /// Throws Error: the sum of a cell's numbers is not finite.
  std::function<void(std::int32_t line, std::int32_t other)> overflow;
};

/// Maps the keys of cells to new numbers, and chooses which of the two keys is the line.
struct CellMap {
  /// the new number of every `line` and of every `other`; empty: unchanged
  std::span<const std::int32_t> lines, others;
  /// swaps the keys, after mapping them
  bool transposed = false;

  TableCell operator()(const TableCell &cell) const {
    const std::int32_t line = lines.empty() ? cell.line : lines[std::size_t(cell.line)],
                       other = others.empty() ? cell.other : others[std::size_t(cell.other)];
    return transposed ? TableCell{other, line, cell.number} : TableCell{line, other, cell.number};
  }
};

/// Orders cells by distributing them, without comparisons between lines.
///
/// A few megabytes of cells are moved to the positions of their lines (a counting sort); more are
/// first distributed among files, by ranges of lines with about equally many cells, recursively.
/// The result is the same: the cells of a line in the order of the other key. Numbers of the same
/// cell are taken in order of arrival if the last one counts, else from the smallest to the
/// largest, so that the order of arrival does not matter.
class CellOrder {
 public:
  /// Takes about `bytes` of memory; `context` is for files.
  CellOrder(MemoryContext context, std::int32_t lines, std::size_t bytes, const CellRules &rules)
      : context_(context),
        lines_(lines),
        bytes_(bytes),
        rules_(rules) {}

  /// Receives every line in ascending order, including empty ones; valid during the call.
  using Take = std::function<void(const DocumentTerms &line)>;
  /// Consumes the cells.
  void run(CellStore &cells, const CellMap &map, const Take &take);

 private:
  /// Cells of one or more lines, from `first`.
  struct Part {
    CellStore &cells;
    const CellMap &map;
    std::int32_t first;
  };
  void order(const Part &part, std::int32_t end);
  void order_here(const Part &part, std::vector<std::int64_t> counts);
  void distribute(const Part &part, std::vector<std::int64_t> counts);
  void sort_line(const Part &part);
  void order_line(std::int32_t *others, double *numbers, std::size_t size);
  void merge_line(std::int32_t line, std::span<const std::int32_t> others,
                  std::span<const double> numbers);
  void keep(std::int32_t other, double number);
  void emit(std::int32_t line);

  MemoryContext context_;
  std::int32_t lines_;
  std::size_t bytes_;
  const CellRules &rules_;
  const Take *take_ = nullptr;
  /// number of lines passed on
  std::int32_t done_ = 0;
  /// keys of the current line; then its numbers, and buffers for sorting
  std::vector<std::int32_t> others_;
  std::vector<double> numbers_, moved_;
  std::vector<std::uint64_t> places_;
};

}  // namespace bayes::pg
