// Padded rows in vector lanes.
#pragma once

#include <type_traits>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "counts/padded_table.hpp"

namespace bayes {

static_assert(row_lanes == simd::sum_lanes);

/// A sum of 8 partial sums, whatever the number of lanes of a register.
struct LaneSum {
  simd::Vector partial[simd::registers] = {};
  double total() const { return simd::sum(partial); }
};

/// Calls f(offset, register) for all vectors of a row.
template <class F> inline void each_vector(int stride, F f) {
  for (int k = 0; k < stride; k += simd::sum_lanes)
    for (int g = 0; g < simd::registers; ++g) f(k + g * simd::lanes, g);
}

/// Rows of at most this length are short: their results stay in registers, and the processor
/// fetches the next rows by itself. Longer rows are prefetched explicitly.
inline constexpr int short_row = 4 * simd::sum_lanes;

/// Prefetches a row unless it is short.
inline void prefetch_long_row(const double *row, int stride) {
  if (stride <= short_row) return;
  for (int k = 0; k < stride; k += int(cache_line / sizeof(double))) __builtin_prefetch(row + k);
}

/// Calls f(n), n a std::integral_constant, for short rows of n times 8 numbers, and f(0) for longer
/// rows.
template <class F> inline void with_short_rows(int stride, F f) {
  static_assert(short_row == 4 * simd::sum_lanes);
  switch (stride / simd::sum_lanes) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    default: return f(std::integral_constant<int, 0>());
  }
}

/// Converts between a vector of doubles and floats in memory.
inline simd::Vector load_floats(const float *at) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(at));
#else
  using Floats = float __attribute__((vector_size(simd::lanes * 4), aligned(4), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Floats *>(at), simd::Vector);
#endif
}
inline void store_floats(float *at, simd::Vector v) {
#if defined(__AVX512F__)
  _mm256_storeu_ps(at, _mm512_cvtpd_ps(v));
#else
  using Floats = float __attribute__((vector_size(simd::lanes * 4)));
  using Loose = float __attribute__((vector_size(simd::lanes * 4), aligned(4), may_alias));
  *reinterpret_cast<Loose *>(at) = __builtin_convertvector(v, Floats);
#endif
}

}  // namespace bayes
