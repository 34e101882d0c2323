// A block of the rows of a binary regression.
#pragma once

#include <algorithm>

#include "base/aligned.hpp"
#include "data/rows.hpp"
#include "data/sweep.hpp"

namespace bayes {

/// The data of a block that all passes need: packed features, sign (1 for y = 1, else -1) and
/// weight of the rows. Weights past the last row are 0.
struct BlockOfRows {
  BlockOfRows(const RowShape &shape, const Segment &segment, std::int64_t at)
      : data(segment.blocks + std::size_t(at / block_rows) * shape.block_doubles()),
        rows(int(std::min<std::int64_t>(block_rows, segment.rows - at))) {
    for (int b = 0; b < block_rows; ++b) sign[b] = data[b] > 0.5 ? 1 : -1;
    std::fill(weight + rows, weight + block_rows, 0.0);
    if (shape.weighted)
      std::copy_n(data + std::size_t(shape.dimension) * block_rows, rows, weight);
    else
      std::fill_n(weight, rows, 1.0);
  }
  const double *data;
  int rows;
  alignas(cache_line) double sign[block_rows], weight[block_rows];
};

}  // namespace bayes
