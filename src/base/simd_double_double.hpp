// Double-double arithmetic on vectors.
#pragma once

#include "base/double_double.hpp"
#include "base/simd.hpp"

namespace bayes {

/// The same as for doubles.
inline simd::Vector product_error(simd::Vector a, simd::Vector b, simd::Vector p) {
#if defined(__FMA__)
  return simd::madd(a, b, -p);
#else
  return split_product_error(a, b, p);
#endif
}

/// Adds (a + rest) b to the sum hi + lo, whose parts may overlap until it is renormalized. `rest`
/// is much smaller than a. The error is about a unit in the last place of lo, however many products
/// are added (Ogita, Rump and Oishi 2005).
template <bool HasRest, class T> inline void add_product(T a, T rest, T b, T &hi, T &lo) {
  const T p = a * b;
  T e = product_error(a, b, p);
  if constexpr (HasRest) e = simd::madd(rest, b, e);
  const T s = hi + p;
  lo = lo + (sum_error(hi, p, s) + e);
  hi = s;
}

/// A sum of products that starts from `offset`, at least 4 times the sum of the magnitudes of the
/// products: so large that the magnitude of `high` hardly changes, and the part of a product that
/// is added to it is known exactly. The remainder is added to `low`. The sum is high - offset,
/// which is exact, plus low, with an error of some 2^-104 of the offset for each product. This is
/// Rump's extraction (Rump, Ogita and Oishi 2008), where fused multiply-adds do half of the work.
struct OffsetSum {
  simd::Vector high, low;

  OffsetSum() = default;
  explicit OffsetSum(simd::Vector offset) : high(offset), low{} {}

  /// Adds (a + rest) b; `rest` is much smaller than a.
  template <bool HasRest> void add_product(simd::Vector a, simd::Vector rest, simd::Vector b) {
#if defined(__FMA__)
    const simd::Vector next = simd::madd(a, b, high);
    simd::Vector left = simd::madd(a, b, high - next);
#else
    const simd::Vector p = a * b, next = high + p;
    simd::Vector left = ((high - next) + p) + product_error(a, b, p);
#endif
    if constexpr (HasRest) left = simd::madd(rest, b, left);
    low = low + left;
    high = next;
  }
};

}  // namespace bayes
