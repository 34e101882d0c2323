// The inner loops of the normal family: quadratic forms and weighted scatter over one block of
// rows.
//
// Rows lie in the lanes of vector registers (data/rows.hpp), features one after the other, so both
// loops are small matrix products kept in registers: a tile of 4 outputs x 4 vectors of rows for
// the quadratic form, of 4 x 4 features for the scatter. Everything is centred on the component's
// own mean before it is squared, so that data far from the origin lose no digits.
#pragma once

#include <cstddef>
#include <vector>

#include "base/simd.hpp"
#include "data/rows.hpp"

namespace bayes::normal_block {

using simd::lanes;
using simd::madd;
using simd::registers;
using simd::sum_lanes;
using simd::Vector;

inline constexpr int tile = 4;                            // features of a tile, each way
inline constexpr int block_vectors = block_rows / lanes;  // vectors across a block
// vectors of rows in the quadratic form's tile: as many as the registers hold
inline constexpr int row_vectors = lanes == 8 ? 4 : 2;

inline int padded(int dimension) { return (dimension + tile - 1) / tile * tile; }
inline int tiles(int dimension) { return (dimension + tile - 1) / tile; }

/// Doubles of a packed lower triangle: tile t (rows 4t .. 4t+3) holds, for each column j = 0 ..
/// 4t+3, its 4 elements.
inline std::size_t packed_triangle_size(int dimension) {
  const std::size_t t = std::size_t(tiles(dimension));
  return tile * tile * (t * (t + 1) / 2);
}

/// Packs the lower triangular W (element (i, j) = at(i, j), i >= j) for `quadratic`.
template <class At> void pack_triangle(int dimension, At at, double *out) {
  for (int t = 0; t < tiles(dimension); ++t)
    for (int j = 0; j < tile * (t + 1); ++j)
      for (int i = tile * t; i < tile * (t + 1); ++i)
        *out++ = i < dimension && j <= i ? at(i, j) : 0.0;
}

/// The elements of a packed triangle: at(i, j) = element, i >= j.
template <class At> void unpack_triangle(int dimension, const double *packed, At at) {
  for (int t = 0; t < tiles(dimension); ++t)
    for (int j = 0; j < tile * (t + 1); ++j)
      for (int i = tile * t; i < tile * (t + 1); ++i, ++packed)
        if (i < dimension && j <= i) at(i, j) = *packed;
}

/// y = x - mean over a block; rows of padding up to padded(dimension) are zero. y:
/// padded(dimension) x block_rows.
inline void centre(int dimension, const double *x, const double *mean, double *y) {
  for (int j = 0; j < dimension; ++j) {
    const Vector m = simd::all(mean[j]);
    for (int v = 0; v < block_vectors; ++v)
      simd::store(y + j * block_rows + v * lanes, simd::load(x + j * block_rows + v * lanes) - m);
  }
  for (int j = dimension * block_rows; j < padded(dimension) * block_rows; ++j) y[j] = 0;
}

/// z = W y over a block; W packed, y centred and padded; z: padded(dimension) x block_rows.
inline void transform(int dimension, const double *packed, const double *y, double *z) {
  for (int t = 0; t < tiles(dimension); ++t, packed += tile * tile * t)
    for (int v = 0; v < block_vectors; ++v) {
      Vector sum[tile] = {};
      for (int j = 0; j < tile * (t + 1); ++j) {
        const Vector column = simd::load(y + j * block_rows + v * lanes);
#pragma GCC unroll 4
        for (int i = 0; i < tile; ++i) sum[i] = madd(packed[j * tile + i], column, sum[i]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < tile; ++i)
        simd::store(z + (tile * t + i) * block_rows + v * lanes, sum[i]);
    }
}

/// out[b] = constant - |W y_b|^2 / 2 for the rows of a block, or at least the first `rows` of them;
/// W packed, y centred and padded.
inline void quadratic(int dimension, const double *packed, const double *y, double constant,
                      double *out, int rows = block_rows) {
  const int t_end = tiles(dimension);
  for (int first = 0; first < rows; first += row_vectors * lanes) {
    Vector q[row_vectors] = {};
    const double *w = packed;
    for (int t = 0; t < t_end; ++t) {
      Vector z[tile][row_vectors] = {};
      const double *at = y + first;
      for (int j = 0; j < tile * (t + 1); ++j, w += tile, at += block_rows) {
        Vector column[row_vectors];
#pragma GCC unroll 4
        for (int v = 0; v < row_vectors; ++v) column[v] = simd::load(at + v * lanes);
#pragma GCC unroll 4
        for (int i = 0; i < tile; ++i)
#pragma GCC unroll 4
          for (int v = 0; v < row_vectors; ++v) z[i][v] = madd(w[i], column[v], z[i][v]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < tile; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < row_vectors; ++v) q[v] = madd(z[i][v], z[i][v], q[v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < row_vectors; ++v)
      simd::store(out + first + v * lanes, constant - 0.5 * q[v]);
  }
}

/// Up to this dimension a scatter accumulator holds sum_lanes partial sums of every element, which
/// are added up once per segment. Beyond it they would not fit into the caches, and are added up
/// once per block.
inline constexpr int lane_sums_limit = 64;

/// Doubles of a scatter accumulator: lower triangular tiles of 4 x 4 elements.
inline std::size_t scatter_size(int dimension) {
  return packed_triangle_size(dimension) * (dimension <= lane_sums_limit ? sum_lanes : 1);
}

/// scatter += sum_b ry_b y_b' over a block, tile by tile of the lower triangle, for its rows `from`
/// to `to` (exclusive), both multiples of `tile`. `scatter` points to the first tile of these rows.
template <bool LaneSums>
void scatter_tiles(int from, int to, const double *y, const double *ry, double *scatter) {
  // With 16 registers a 4 x 4 tile would spill; half a tile does not.
  constexpr int columns = lanes == 8 ? tile : tile / 2;
  constexpr int part = columns * tile;  // elements of a tile computed at a time
  static_assert(part % lanes == 0);
  alignas(64) double separate[LaneSums ? 1 : part * sum_lanes];
  for (int ti = from; ti < to; ti += tile)
    for (int tj = 0; tj <= ti; tj += tile)
      for (int half = 0; half < tile;
           half += columns, scatter += part * (LaneSums ? sum_lanes : 1)) {
        double *const sums = LaneSums ? scatter : separate;
        for (int at = 0; at < sum_lanes; at += lanes) {
          Vector s[columns][tile];
#pragma GCC unroll 4
          for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
            for (int i = 0; i < tile; ++i)
              s[j][i] = LaneSums ? simd::load(sums + (j * tile + i) * sum_lanes + at) : Vector{};
          const double *left = ry + ti * block_rows, *right = y + (tj + half) * block_rows;
          for (int b = at; b < block_rows; b += sum_lanes) {
            Vector a[tile];
#pragma GCC unroll 4
            for (int i = 0; i < tile; ++i) {
              a[i] = simd::load(left + i * block_rows + b);
              simd::hold(a[i]);
            }
#pragma GCC unroll 4
            for (int j = 0; j < columns; ++j) {
              const Vector column = simd::load(right + j * block_rows + b);
#pragma GCC unroll 4
              for (int i = 0; i < tile; ++i) s[j][i] = madd(a[i], column, s[j][i]);
            }
          }
#pragma GCC unroll 4
          for (int j = 0; j < columns; ++j)
#pragma GCC unroll 4
            for (int i = 0; i < tile; ++i)
              simd::store(sums + (j * tile + i) * sum_lanes + at, s[j][i]);
        }
        if constexpr (!LaneSums)
          for (int e = 0; e < part; e += lanes)
            simd::store(scatter + e,
                        simd::load(scatter + e) + simd::sums(separate + e * sum_lanes));
      }
}

/// mean_sums[j] += sum_b r_b y_bj (d times sum_lanes numbers) and scatter += sum_b r_b y_b y_b'
/// over a block, in partial sums. y centred and padded; ry: scratch as large as y; r: block_rows
/// responsibilities.
inline void accumulate(int dimension, const double *y, const double *r, double *ry,
                       double *mean_sums, double *scatter) {
  Vector weight[block_vectors];
  for (int v = 0; v < block_vectors; ++v) weight[v] = simd::load(r + v * lanes);
  const int p = padded(dimension);
  for (int j = 0; j < p; ++j) {
    Vector sum[2][registers] = {};
#pragma GCC unroll 4
    for (int i = 0; i < registers; ++i)
      sum[0][i] = simd::load(mean_sums + j * sum_lanes + i * lanes);
#pragma GCC unroll 4
    for (int v = 0; v < block_vectors; v += 2 * registers)
#pragma GCC unroll 8
      for (int i = 0; i < 2 * registers; ++i) {
        const Vector a = weight[v + i] * simd::load(y + j * block_rows + (v + i) * lanes);
        simd::store(ry + j * block_rows + (v + i) * lanes, a);
        sum[i / registers][i % registers] += a;
      }
#pragma GCC unroll 4
    for (int i = 0; i < registers; ++i)
      simd::store(mean_sums + j * sum_lanes + i * lanes, sum[0][i] + sum[1][i]);
  }
  if (dimension <= lane_sums_limit)
    scatter_tiles<true>(0, p, y, ry, scatter);
  else
    scatter_tiles<false>(0, p, y, ry, scatter);
}

/// Adds up the partial sums of a scatter accumulator: out[i (i + 1) / 2 + j] += element (i, j), i
/// >= j.
inline void reduce_scatter(int dimension, const double *scatter, double *out) {
  double sums[tile * tile];
  for (int ti = 0; ti < dimension; ti += tile)
    for (int tj = 0; tj <= ti; tj += tile) {
      if (dimension <= lane_sums_limit)
        for (int e = 0; e < tile * tile; e += lanes, scatter += lanes * sum_lanes)
          simd::store(sums + e, simd::sums(scatter));
      else
        for (int e = 0; e < tile * tile; ++e) sums[e] = *scatter++;
      for (int i = ti; i < ti + tile && i < dimension; ++i)
        for (int j = tj; j < tj + tile && j <= i; ++j)
          out[std::size_t(i) * (i + 1) / 2 + j] += sums[(j - tj) * tile + i - ti];
    }
}

/// out[j] += the total of feature j's partial sums, j = 0 .. d-1.
inline void reduce_sums(int dimension, const double *sums, double *out) {
  for (int j = 0; j < dimension; ++j) out[j] += simd::sum(sums + std::size_t(j) * sum_lanes);
}

/// out[b] = constant - sum_j (s_j (x_bj - m_j))^2 / 2 over a block. With `Holes`, x may be NaN in
/// columns with holes[j]; such an element adds gain[j] to out[b] in place of its term.
template <bool Holes = false>
void diagonal_quadratic(int dimension, const double *x, const double *mean, const double *s,
                        double constant, double *out, const char *holes = nullptr,
                        const double *gain = nullptr) {
  constexpr int group = 4;
  for (int first = 0; first < block_rows; first += group * lanes) {
    Vector q[group] = {}, gains[group] = {};
    const double *at = x + first;
    for (int j = 0; j < dimension; ++j, at += block_rows) {
      const Vector m = simd::all(mean[j]), scale = simd::all(s[j]);
      if (Holes && holes[j]) {
        const Vector own = simd::all(gain[j]);
#pragma GCC unroll 4
        for (int v = 0; v < group; ++v) {
          const Vector y = simd::load(at + v * lanes) - m;
          const Vector z = (y == y ? y : Vector{}) * scale;
          q[v] = madd(z, z, q[v]);
          gains[v] += y == y ? Vector{} : own;
        }
        continue;
      }
#pragma GCC unroll 4
      for (int v = 0; v < group; ++v) {
        const Vector z = (simd::load(at + v * lanes) - m) * scale;
        q[v] = madd(z, z, q[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < group; ++v) {
      const Vector score = constant - 0.5 * q[v];
      simd::store(out + first + v * lanes, Holes ? score + gains[v] : score);
    }
  }
}

/// For one column: mean_sum += sum_b r_b y_b and square_sum += sum_b r_b y_b^2 over a block, in
/// partial sums. With `Holes`, a row whose x is NaN adds r_b to missing_sum instead. weight: r, in
/// registers.
template <bool Holes>
inline void accumulate_column(const Vector *weight, const double *x, double mean, double *mean_sum,
                              double *square_sum, double *missing_sum) {
  const Vector m = simd::all(mean);
  constexpr int chains = 2 * registers;
  Vector first[chains] = {}, second[chains] = {}, missing[chains] = {};
#pragma GCC unroll 4
  for (int i = 0; i < registers; ++i) {
    first[i] = simd::load(mean_sum + i * lanes);
    second[i] = simd::load(square_sum + i * lanes);
    if (Holes) missing[i] = simd::load(missing_sum + i * lanes);
  }
#pragma GCC unroll 8
  for (int v = 0; v < block_vectors; ++v) {
    Vector y = simd::load(x + v * lanes) - m;
    if (Holes) {
      missing[v % chains] += y == y ? Vector{} : weight[v];
      y = y == y ? y : Vector{};
    }
    const Vector a = weight[v] * y;
    first[v % chains] += a;
    second[v % chains] = madd(a, y, second[v % chains]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < registers; ++i) {
    simd::store(mean_sum + i * lanes, first[i] + first[registers + i]);
    simd::store(square_sum + i * lanes, second[i] + second[registers + i]);
    if (Holes) simd::store(missing_sum + i * lanes, missing[i] + missing[registers + i]);
  }
}

/// mean_sums[j] += sum_b r_b y_bj and square_sums[j] += sum_b r_b y_bj^2 over a block, in partial
/// sums. If `holes` is given, a row whose x_bj is NaN in a column with holes[j] adds r_b to
/// missing_sums[j] instead.
inline void diagonal_accumulate(int dimension, const double *x, const double *mean, const double *r,
                                double *mean_sums, double *square_sums, const char *holes = nullptr,
                                double *missing_sums = nullptr) {
  Vector weight[block_vectors];
  for (int v = 0; v < block_vectors; ++v) weight[v] = simd::load(r + v * lanes);
  for (int j = 0; j < dimension; ++j, x += block_rows) {
    const int at = j * sum_lanes;
    if (holes && holes[j])
      accumulate_column<true>(weight, x, mean[j], mean_sums + at, square_sums + at,
                              missing_sums + at);
    else
      accumulate_column<false>(weight, x, mean[j], mean_sums + at, square_sums + at, nullptr);
  }
}

}  // namespace bayes::normal_block
