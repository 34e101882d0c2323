// Sums of products of factors.
#pragma once

#include <algorithm>

#include "topics/topic_lanes.hpp"
#include "topics/topic_side.hpp"

namespace bayes {

/// K x K products, padded.
struct Products {
  int stride = 0;
  Buffer values;

  explicit Products(int factors)
      : stride(padded_topics(factors)),
        values(std::size_t(stride) * std::size_t(stride), 0.0) {}
  const double *row(int k) const { return values.data() + std::size_t(k) * std::size_t(stride); }

  /// Adds x x'.
  void add(const double *x) {
    for (int k = 0; k < stride; ++k) {
      if (x[k] == 0) continue;
      double *const to = values.data() + std::size_t(k) * std::size_t(stride);
      each_vector(stride, [&](int at, int) {
        simd::store(to + at, simd::madd(x[k], simd::load(x + at), simd::load(to + at)));
      });
    }
  }
  void add(const Products &other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  }
  void clear() { std::fill(values.begin(), values.end(), 0.0); }
};

/// The sum of v v' over all keys, on all threads.
inline Products products_of(const TermTopics &keys, Control &control) {
  Products out(keys.topics());
  std::vector<Products> slots(std::size_t(most_slots(control)), out);
  each_chunk(
      keys.terms(), double(out.values.size()), control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        Products &here = slots[std::size_t(slot)];
        here.clear();
        WorkPoll poll;
        for (std::int32_t j = first; j < last; ++j) {
          here.add(keys.of(j));
          poll(here.values.size());
        }
      },
      [&](int slot) { out.add(slots[std::size_t(slot)]); });
  return out;
}

}  // namespace bayes
