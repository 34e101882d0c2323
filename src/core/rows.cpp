#include "core/rows.hpp"

#include <algorithm>

namespace bayes {

void MemoryRows::append(const double *x, double weight) {
  const std::int64_t capacity = shape_.piece_rows();
  if (rows_ == std::int64_t(pieces_.size()) * capacity) {
    if (memory_.size() == pieces_.size()) memory_.emplace_back(shape_.piece_doubles());
    Buffer &memory = memory_[pieces_.size()];
    std::fill(memory.begin(), memory.end(), 0.0);
    pieces_.push_back({memory.data(), 0});
  }
  pack_row(shape_, memory_[pieces_.size() - 1].data(), pieces_.back().rows, x, weight);
  ++pieces_.back().rows;
  ++rows_;
}

void MemoryRows::read_block(std::int64_t index, double *out) {
  const std::int64_t blocks_of_piece = shape_.piece_rows() / block_rows;
  const double *block = pieces_[std::size_t(index / blocks_of_piece)].blocks + std::size_t(index % blocks_of_piece) * shape_.block_doubles();
  std::copy_n(block, shape_.block_doubles(), out);
}

void MemoryRows::clear() {
  pieces_.clear();
  rows_ = 0;
}

}  // namespace bayes
