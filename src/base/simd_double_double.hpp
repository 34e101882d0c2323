// Double-doubles in the lanes of vectors.
#pragma once

#include "base/double_double.hpp"
#include "base/simd.hpp"

namespace bayes {

/// As of doubles.
inline simd::Vector product_error(simd::Vector a, simd::Vector b, simd::Vector p) {
#if defined(__FMA__)
  return simd::madd(a, b, -p);
#else
  return split_product_error(a, b, p);
#endif
}

/// Adds a b to the sum hi + lo, whose parts may overlap until it is renormalized: with an error of
/// about a unit in the last place of lo, however many products there are (Ogita, Rump and Oishi
/// 2005). `rest`: to be added to a, much smaller than it.
template <bool HasRest, class T> inline void add_product(T a, T rest, T b, T &hi, T &lo) {
  const T p = a * b;
  T e = product_error(a, b, p);
  if constexpr (HasRest) e = simd::madd(rest, b, e);
  const T s = hi + p;
  lo = lo + (sum_error(hi, p, s) + e);
  hi = s;
}

}  // namespace bayes
