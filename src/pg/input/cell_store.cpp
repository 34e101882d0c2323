#include "pg/input/cell_store.hpp"

#include <algorithm>

namespace bayes::pg {
namespace {

/// in cells: small groups should take little memory, and files should be written in large parts
constexpr std::size_t min_chunk_cells = 256, max_chunk_cells = 65536;

}  // namespace

CellStore::CellStore(MemoryContext context, std::size_t bytes)
    : context_(context),
      max_cells_in_memory_(std::max(min_chunk_cells, bytes / sizeof(TableCell))) {}

void CellStore::next_chunk() {
  poll_interrupts();
  const std::size_t next =
      std::clamp(2 * chunk_size_, min_chunk_cells, std::min(max_chunk_cells, max_cells_in_memory_));
  if (file_ || in_memory_ + next > max_cells_in_memory_) {
    if (in_memory_ > 0) return spill();
  }
  chunks_.push_back(std::make_unique_for_overwrite<TableCell[]>(next));
  sizes_.push_back(next);
  in_memory_ += next;
  chunk_size_ = next;
  used_ = 0;
}

/// Appends the cells in memory to the file; the last chunk is reused.
void CellStore::spill() {
  if (!file_) file_ = std::make_unique<SpillFile>(context_);
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const std::size_t cells = i + 1 < chunks_.size() ? sizes_[i] : used_;
    if (cells > 0) file_->append(chunks_[i].get(), cells * sizeof(TableCell));
  }
  chunks_.erase(chunks_.begin(), chunks_.end() - 1);
  sizes_.erase(sizes_.begin(), sizes_.end() - 1);
  in_memory_ = chunk_size_;
  used_ = 0;
}

void CellStore::finish() {
  if (!file_) return;
  spill();
  chunks_.clear();
  sizes_.clear();
  in_memory_ = used_ = chunk_size_ = 0;
}

void CellStore::release() {
  chunks_.clear();
  sizes_.clear();
  in_memory_ = used_ = chunk_size_ = 0;
  file_.reset();
}

void CellStore::pass(const Take &take, const std::function<void(std::size_t chunk)> &after) const {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    poll_interrupts();
    take({chunks_[i].get(), i + 1 < chunks_.size() ? sizes_[i] : used_});
    if (after) after(i);
  }
  if (!file_) return;
  const std::size_t most = std::min(max_chunk_cells, max_cells_in_memory_);
  const auto buffer = std::make_unique_for_overwrite<TableCell[]>(most);
  for (std::int64_t done = 0; done < size_;) {
    poll_interrupts();
    const std::size_t cells = std::size_t(std::min(std::int64_t(most), size_ - done));
    file_->read(done * std::int64_t(sizeof(TableCell)), buffer.get(), cells * sizeof(TableCell));
    take({buffer.get(), cells});
    done += std::int64_t(cells);
  }
}

}  // namespace bayes::pg
