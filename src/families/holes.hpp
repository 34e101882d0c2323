// Finds missing elements (NaN) in blocks of rows.
#pragma once

#include <algorithm>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "data/rows.hpp"

namespace bayes {

/// Sets holes[j] to whether column j of the block contains a NaN. All other numbers must be finite.
inline void find_holes(int columns, const double *block, char *holes) {
  using simd::lanes;
  alignas(cache_line) double partial[lanes * simd::sum_lanes] = {};
  for (int first = 0; first < columns; first += lanes) {
    const int some = std::min(lanes, columns - first);
    for (int j = 0; j < some; ++j) {
      const double *const x = block + std::size_t(first + j) * block_rows;
      simd::Vector total[2 * simd::registers] = {};
      for (int b = 0; b < block_rows; b += lanes)
        total[b / lanes % (2 * simd::registers)] += simd::load(x + b) * 0.0;
      for (int i = 0; i < simd::registers; ++i)
        simd::store(partial + j * simd::sum_lanes + i * lanes,
                    total[i] + total[simd::registers + i]);
    }
    double sums[lanes];
    simd::store(sums, simd::sums(partial));
    for (int j = 0; j < some; ++j) holes[first + j] = sums[j] != 0;
  }
}

}  // namespace bayes
