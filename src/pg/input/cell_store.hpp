// The cells of a table while they are collected: in memory up to a budget, beyond it in a temporary
// file; and their order by line, and within a line by the key of the other side. Lines are the rows
// or the columns of the table (TripleCollector::choose_lines).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "data/corpus.hpp"
#include "factor/factor_table.hpp"
#include "pg/server/temporary_files.hpp"

namespace bayes::pg {

/// A cell: the indices of its two keys, and its number. `line` and `other` are the row and the
/// column until a CellMap chooses the side of the lines.
struct TableCell {
  std::int32_t line, other;
  double number;
};

/// In a table with weights a cell is two: after its number its weight, with this added to `other`,
/// which is above all keys.
inline constexpr std::int32_t weight_mark = 1 << 30;

/// Cells in order of arrival.
class CellStore {
 public:
  /// Takes `bytes` of memory, but always enough for one chunk; `context` is for the file.
  CellStore(MemoryContext context, std::size_t bytes);

  void add(const TableCell &cell) {
    if (used_ == chunk_size_) next_chunk();
    chunks_.back()[used_++] = cell;
    ++size_;
  }
  /// After the last cell.
  void finish();

  std::int64_t size() const { return size_; }
  bool in_memory() const { return !file_; }
  /// Receives all cells, some at a time; valid during the call.
  using Take = std::function<void(std::span<const TableCell> cells)>;
  void each(const Take &take) const { pass(take, {}); }
  /// The same, but only once: memory is released after each call of `take`.
  void consume(const Take &take) {
    pass(take, [this](std::size_t chunk) { chunks_[chunk].reset(); });
    release();
  }
  void release();

 private:
  using Chunk = std::unique_ptr<TableCell[]>;
  void next_chunk();
  void spill();
  void pass(const Take &take, const std::function<void(std::size_t chunk)> &after) const;

  MemoryContext context_;
  /// limit of the total size of all chunks, in cells
  std::size_t max_cells_in_memory_;
  std::vector<Chunk> chunks_;
  std::vector<std::size_t> sizes_;
  std::size_t in_memory_ = 0;
  /// number of cells in the last chunk, and its capacity
  std::size_t used_ = 0, chunk_size_ = 0;
  std::int64_t size_ = 0;
  std::unique_ptr<SpillFile> file_;
};

// Orders the cells of a table by line, and within a line by the key of the other side. Lines are
// the rows or the columns of the table (TripleCollector::choose_lines).

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
  /// Cells have weights: key j becomes 2 j for the number, and 2 j + 1 for the weight.
  bool weighted = false;

  TableCell operator()(const TableCell &cell) const {
    const std::int32_t key = cell.other & ~weight_mark;
    std::int32_t line = lines.empty() ? cell.line : lines[std::size_t(cell.line)],
                 other = others.empty() ? key : others[std::size_t(key)];
    if (transposed) std::swap(line, other);
    if (weighted) other = 2 * other + (key != cell.other);
    return {line, other, cell.number};
  }
};

/// A line of a table with weights, put together again from numbers and weights.
class WeightedLine {
 public:
  /// Valid until the next call.
  DocumentTerms of(const DocumentTerms &line);

 private:
  std::vector<std::int32_t> terms_;
  std::vector<double> numbers_, weights_;
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
