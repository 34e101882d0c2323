// Cells of a table while they are collected: in memory up to a budget, beyond it in a temporary
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pg/server/temporary_files.hpp"

namespace bayes::pg {

/// A cell: the indices of its two keys, and its number. `line` and `other` are the row and the
/// column until a CellMap chooses the side of the lines.
struct TableCell {
  std::int32_t line, other;
  double number;
};

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

}  // namespace bayes::pg
