// Cells of a table put in order: line by line, each by the keys of the other side.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/corpus.hpp"
#include "factor/factor_table.hpp"
#include "pg/input/cell_store.hpp"

namespace bayes::pg {

/// What becomes of cells that occur more than once, and of zeros.
struct CellRules {
  FactorTableOptions::Repeated repeated;
  bool keep_zeros;
  /// Throws: a cell occurs more than once, with these numbers among others, the first one not
  /// larger than the second.
  std::function<void(std::int32_t line, std::int32_t other, double first, double second)> refuse;
  /// Throws: the sum of a cell's numbers is not finite.
  std::function<void(std::int32_t line, std::int32_t other)> overflow;
};

/// Other numbers for the keys of cells, and which of the two is the line.
struct CellMap {
  /// the new number of each of `line` and of `other`; empty: as it was
  std::span<const std::int32_t> lines, others;
  /// then the other one is the line
  bool transposed = false;

  TableCell operator()(const TableCell &cell) const {
    const std::int32_t line = lines.empty() ? cell.line : lines[std::size_t(cell.line)],
                       other = others.empty() ? cell.other : others[std::size_t(cell.other)];
    return transposed ? TableCell{other, line, cell.number} : TableCell{line, other, cell.number};
  }
};

/// Orders cells by distributing them, without comparisons between lines.
///
/// A few megabytes of cells are put at the places of their lines; more are first divided among
/// files by ranges of lines that hold about as many cells each, and so on. The result is the same:
/// the cells of a line in order, those of the same key in the order of arrival, or, where that is
/// not to matter, from the smallest number to the largest.
class CellOrder {
 public:
  /// Takes about `bytes` of memory; `context` is for files.
  CellOrder(MemoryContext context, std::int32_t lines, std::size_t bytes, const CellRules &rules)
      : context_(context),
        lines_(lines),
        bytes_(bytes),
        rules_(rules) {}

  /// Every line, ascending, also those without a cell; valid during the call.
  using Take = std::function<void(const DocumentTerms &line)>;
  /// Uses up the cells.
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
  /// lines handed on
  std::int32_t done_ = 0;
  /// the current line, its cells and a buffer for its order
  std::vector<std::int32_t> others_;
  std::vector<double> numbers_, moved_;
  std::vector<std::uint64_t> places_;
};

}  // namespace bayes::pg
