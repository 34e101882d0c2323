// Sums over the states of a step, which lie in the lanes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/simd.hpp"

namespace bayes {

using Lanes = simd::Vector;

/// The sum over the lanes, in every lane.
template <int Step = simd::lanes / 2> Lanes in_every_lane(Lanes v) {
  if constexpr (Step == 0)
    return v;
  else
    return in_every_lane<Step / 2>(v + [&]<std::size_t... I>(std::index_sequence<I...>) {
      return __builtin_shufflevector(v, v, int((I + Step) % simd::lanes)...);
    }(std::make_index_sequence<simd::lanes>{}));
}

/// State j is added to partial sum j % sum_lanes. There are as many partial sums for every
/// instruction set (simd.hpp); padding states are 0 and change nothing.
struct StateSums {
  Lanes partial[simd::registers] = {};
  /// Adds SIMD vector number `vector` of a step.
  void add(int vector, Lanes v) { partial[vector % simd::registers] += v; }
  /// The sum, in every lane.
  Lanes everywhere() const {
    Lanes half[simd::registers];
    std::copy_n(partial, simd::registers, half);
    for (int n = simd::registers / 2; n > 0; n /= 2)
      for (int i = 0; i < n; ++i) half[i] += half[i + n];
    return in_every_lane(half[0]);
  }
};

/// The sum of a step's variables, in every lane.
inline Lanes step_sum(int padded, const double *at) {
  StateSums sum;
  for (int j = 0; j < padded; j += simd::lanes) sum.add(j / simd::lanes, simd::load(at + j));
  return sum.everywhere();
}

}  // namespace bayes
