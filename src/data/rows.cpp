#include "data/rows.hpp"

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
  const double *block = pieces_[std::size_t(index / blocks_of_piece)].blocks +
                        std::size_t(index % blocks_of_piece) * shape_.block_doubles();
  std::copy_n(block, shape_.block_doubles(), out);
}

void MemoryRows::scale_weights(double total) {
  double sum = 0;
  const auto each = [this](auto f) {
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      for (std::int64_t row = 0; row < pieces_[p].rows; ++row)
        f(memory_[p][std::size_t(row / block_rows) * shape_.block_doubles() +
                     std::size_t(shape_.dimension) * block_rows + std::size_t(row % block_rows)]);
  };
  each([&sum](double weight) { sum += weight; });
  if (sum != total) each([factor = total / sum](double &weight) { weight *= factor; });
}

void MemoryRows::clear() {
  pieces_.clear();
  rows_ = 0;
}

}  // namespace bayes
