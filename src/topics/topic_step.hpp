// Drawing the topic of one token, for both samplers: sums over topics in vector lanes.
//
// A topic has the weight f_k g_k: f depends on the document and the topic, g on the term. First
// only the sum of all weights is computed; this suffices for tokens that keep their topic, which
// are most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "counts/padded_table.hpp"

namespace bayes::topic_step {

static_assert(row_lanes == simd::sum_lanes);

/// g_k = n_kw, the number of tokens of the term in each topic.
struct Counted {
  const std::int32_t *n;
  double operator[](int k) const { return double(n[k]); }
  simd::Vector at(int k) const {
#if defined(__AVX512F__)
    return _mm512_mask_cvtepi32_pd(simd::Vector{}, 0xff,
                                   _mm256_loadu_si256(reinterpret_cast<const __m256i *>(n + k)));
#else
    using Whole = std::int32_t __attribute__((vector_size(simd::lanes * 4), aligned(4), may_alias));
    return __builtin_convertvector(*reinterpret_cast<const Whole *>(n + k), simd::Vector);
#endif
  }
};
/// g_k = n_kw + added_kw, with the pseudo-counts of the prior.
struct Seeded {
  const std::int32_t *n;
  const double *added;
  double operator[](int k) const { return double(n[k]) + added[k]; }
  simd::Vector at(int k) const { return Counted{n}.at(k) + simd::load(added + k); }
};
/// g_k as drawn.
struct Drawn {
  const double *g;
  double operator[](int k) const { return g[k]; }
  simd::Vector at(int k) const { return simd::load(g + k); }
};

/// The sum of 8 numbers in the same order at every instruction set level.
inline double sum_of_lanes(const double *s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
inline double total(const simd::Vector (&sums)[simd::registers]) {
  alignas(cache_line) double s[simd::sum_lanes];
  for (int r = 0; r < simd::registers; ++r) simd::store(s + r * simd::lanes, sums[r]);
  return sum_of_lanes(s);
}

/// Prefetches the numbers of a term that will be needed soon; of many topics only the first ones,
/// since more would evict data that is in use.
template <class T> void prefetch(const T *row, int stride) {
  constexpr int each = int(cache_line / sizeof(T));
  for (int k = 0; k < std::min(stride, 16 * each); k += each) __builtin_prefetch(row + k);
}

/// The sum of f_k g_k.
template <class Row>
[[gnu::always_inline]] inline double dot(const double *f, Row row, int stride) {
  using namespace simd;
  simd::Vector a[registers] = {}, b[registers] = {};
  int k = 0;
  for (; k + sum_lanes < stride; k += 2 * sum_lanes)
    for (int r = 0; r < registers; ++r) {
      const int i = k + r * lanes;
      a[r] = madd(load(f + i), row.at(i), a[r]);
      b[r] = madd(load(f + i + sum_lanes), row.at(i + sum_lanes), b[r]);
    }
  for (int r = 0; r < registers; ++r) {
    if (k < stride) a[r] = madd(load(f + k + r * lanes), row.at(k + r * lanes), a[r]);
    a[r] += b[r];
  }
  return total(a);
}

inline double sum(const double *f, int stride) {
  using namespace simd;
  simd::Vector a[registers] = {};
  for (int k = 0; k < stride; k += sum_lanes)
    for (int r = 0; r < registers; ++r) a[r] += load(f + k + r * lanes);
  return total(a);
}

alignas(cache_line) inline constexpr double first_places[simd::sum_lanes] = {0, 1, 2, 3,
                                                                             4, 5, 6, 7};

/// Inverse-CDF search: the topic other than `old` whose cumulative weight f_k (g_k + eta) first
/// exceeds t. Topics are accumulated lane by lane. `running`: workspace of `stride` numbers.
/// Returns -1 if all weights are 0.
template <class Row>
int search(const double *f, Row row, double eta, int stride, int old, double t, double *running) {
  using namespace simd;
  simd::Vector sums[registers] = {}, place[registers];
  for (int r = 0; r < registers; ++r) place[r] = load(first_places + r * lanes);
  const simd::Vector excluded = all(double(old)), more = all(eta);
  for (int k = 0; k < stride; k += sum_lanes)
    for (int r = 0; r < registers; ++r) {
      const int i = k + r * lanes;
      const simd::Vector weight = load(f + i) * (row.at(i) + more);
      sums[r] += place[r] == excluded ? simd::Vector{} : weight;
      store(running + i, sums[r]);
      place[r] += double(sum_lanes);
    }
  const double *const last = running + stride - sum_lanes;
  int lane = 0;
  while (lane < sum_lanes - 1 && t >= last[lane]) t -= last[lane++];
  // After rounding, t may be at the end of the last lane.
  while (lane > 0 && !(last[lane] > 0)) t = last[--lane];
  if (!(last[lane] > 0)) {
    while (lane < sum_lanes && !(last[lane] > 0)) ++lane;
    if (lane == sum_lanes) return -1;
    t = 0;
  }
  if (!(t < last[lane])) {
    // the last topic with a positive weight
    int block = stride / sum_lanes - 1;
    while (block > 0 && running[(block - 1) * sum_lanes + lane] == last[lane]) --block;
    return block * sum_lanes + lane;
  }
  const int blocks = stride / sum_lanes;
  if (blocks <= 16) {
    // Branches of a binary search cannot be predicted; comparing all blocks needs none.
    int before = 0;
    for (int b = 0; b + 1 < blocks; ++b) before += running[b * sum_lanes + lane] <= t;
    return before * sum_lanes + lane;
  }
  int low = 0, high = blocks - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (running[middle * sum_lanes + lane] > t)
      high = middle;
    else
      low = middle + 1;
  }
  return low * sum_lanes + lane;
}

/// The topics of a document and the number of its tokens in each.
struct DocumentTopics {
  explicit DocumentTopics(int topics)
      : factor(std::size_t(padded_size(topics)), 0.0),
        running(factor.size(), 0.0),
        count(factor.size(), 0),
        place(factor.size(), 0),
        list(factor.size(), 0) {}

  void add(int k) {
    if (count[std::size_t(k)]++ > 0) return;
    place[std::size_t(k)] = size;
    list[std::size_t(size++)] = k;
  }
  void remove(int k) {
    if (--count[std::size_t(k)] > 0) return;
    const std::int32_t last = list[std::size_t(--size)];
    list[std::size_t(place[std::size_t(k)])] = last;
    place[std::size_t(last)] = place[std::size_t(k)];
  }

  /// f, padded with 0; workspace of search()
  Buffer factor, running;
  /// n_dk; the index of the topic in `list`, if n_dk > 0
  std::vector<std::int32_t> count, place;
  /// the first `size` entries are the topics with n_dk > 0
  std::vector<std::int32_t> list;
  int size = 0;
};

}  // namespace bayes::topic_step
