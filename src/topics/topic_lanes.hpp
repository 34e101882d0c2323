// Rows of numbers of all topics, in vector lanes.
#pragma once

#include "base/simd.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

static_assert(topic_lanes == simd::sum_lanes);

/// Sums with 8 partial sums, whatever the lanes.
struct LaneSum {
  simd::Vector partial[simd::registers] = {};
  double total() const { return simd::sum(partial); }
};

/// f(offset, register) for all vectors of a row.
template <class F> inline void each_vector(int stride, F f) {
  for (int k = 0; k < stride; k += simd::sum_lanes)
    for (int g = 0; g < simd::registers; ++g) f(k + g * simd::lanes, g);
}

/// Numbers that are stored as floats.
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
