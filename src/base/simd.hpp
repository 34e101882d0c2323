// Vectors of doubles as wide as the registers of the instruction set that this copy of the library
// is built for.
//
// The library is built once for each x86-64 level and the loader picks one, so there is no dispatch
// here: the compiler's own vector type becomes SSE2, AVX2 or AVX-512 code (or NEON elsewhere) by
// the flags of the build.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace bayes::simd {

#if defined(__AVX512F__)
inline constexpr int lanes = 8;
#elif defined(__AVX__)
inline constexpr int lanes = 4;
#else
inline constexpr int lanes = 2;
#endif

using Vector = double __attribute__((vector_size(lanes * 8)));
using Integers = std::int64_t __attribute__((vector_size(lanes * 8)));
/// The same, aligned only as a double is.
using Loose = double __attribute__((vector_size(lanes * 8), aligned(8), may_alias));

inline Vector load(const double *at) { return *reinterpret_cast<const Loose *>(at); }
inline void store(double *at, Vector v) { *reinterpret_cast<Loose *>(at) = v; }
inline Vector all(double x) { return x - Vector{}; }
inline Vector max(Vector a, Vector b) { return a > b ? a : b; }

/// The sum over the lanes, always in the same order.
inline double sum(Vector v) {
  double total = 0;
  for (int i = 0; i < lanes; ++i) total += v[i];
  return total;
}

namespace detail {
/// Lane i of the result: two neighbours (in steps of Step) of a where bit Step of i is 0, of b
/// where it is 1, added up.
template <int Step, std::size_t... I>
inline Vector add_neighbours(Vector a, Vector b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, ((I & Step) ? int(I) - Step + lanes : int(I))...) +
         __builtin_shufflevector(a, b, ((I & Step) ? int(I) + lanes : int(I) + Step)...);
}
template <int Step> inline Vector sums(const double *at) {
  if constexpr (Step == 0)
    return load(at);
  else
    return add_neighbours<Step>(sums<Step / 2>(at), sums<Step / 2>(at + Step * lanes),
                                std::make_index_sequence<lanes>{});
}
}  // namespace detail

/// Lane i of the result is the sum over the lanes of the i-th of `lanes` consecutive vectors at
/// `at`.
inline Vector sums(const double *at) { return detail::sums<lanes / 2>(at); }

/// e^x within 3 ulp for x in [-708, 709]; 0 below (also for -inf), where a double would turn
/// subnormal; x <= 709 and not NaN is the caller's promise. Method: x = n ln 2 + r, |r| <= ln 2 /
/// 2, Taylor polynomial of degree 13 in r (its remainder is below 2^-57), and n into the exponent.
inline Vector exp(Vector x) {
  // 1.5 * 2^52: adding it rounds to an integer in the low bits
  const Vector shifter = all(6755399441055744.0);
  const Vector low = all(-708.0);
  const Vector clamped = max(x, low);
  const Vector shifted = clamped * 1.4426950408889634 + shifter;
  const Vector n = shifted - shifter;
  // ln 2 in two parts; the first has enough trailing zeros for n times it to be exact.
  Vector r = clamped - n * 6.93147180369123816490e-01;
  r = r - n * 1.90821492927058770002e-10;
  // Estrin's scheme: the short dependency chain matters more than the extra multiplications.
  const Vector r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const Vector p01 = 1.0 + r, p23 = 0.5 + r * (1.0 / 6);
  const Vector p45 = 1.0 / 24 + r * (1.0 / 120), p67 = 1.0 / 720 + r * (1.0 / 5040);
  const Vector p89 = 1.0 / 40320 + r * (1.0 / 362880), pab = 1.0 / 3628800 + r * (1.0 / 39916800);
  const Vector pcd = 1.0 / 479001600 + r * (1.0 / 6227020800.0);
  const Vector low_half = (p01 + r2 * p23) + r4 * (p45 + r2 * p67);
  const Vector high_half = (p89 + r2 * pab) + r4 * pcd;
  const Vector p = low_half + r8 * high_half;
  const Integers exponent = (std::bit_cast<Integers>(shifted) - std::bit_cast<Integers>(shifter))
                            << 52;
  const Vector result = std::bit_cast<Vector>(std::bit_cast<Integers>(p) + exponent);
  return x < low ? Vector{} : result;
}

/// log x within 1 ulp for normal x > 0; that x is positive, normal and finite is the caller's
/// promise. Method: x = 2^n m with m in [1/sqrt 2, sqrt 2], s = (m - 1) / (m + 1), log m = 2 atanh
/// s as a series in s^2.
inline Vector log(Vector x) {
  const Integers bits = std::bit_cast<Integers>(x);
  // the bits of 1/sqrt 2: splits off the exponent
  const Integers offset = bits - std::int64_t(0x3fe6a09e667f3bcd);
  const Integers n = offset >> 52;
  const Vector m = std::bit_cast<Vector>(bits - (n << 52));
  // Integer to double: |n| < 2^51, so adding 1.5 * 2^52 in the integer domain and subtracting it
  // again is exact.
  const Vector magic = all(6755399441055744.0);
  const Vector e = std::bit_cast<Vector>(n + std::bit_cast<Integers>(magic)) - magic;
  const Vector f = m - 1.0;
  const Vector s = f / (m + 1.0);
  const Vector s2 = s * s;
  // 2 atanh(s) = 2 s + s^3 (2/3 + 2/5 s^2 + ...); |s| <= 0.1716, so the term in s^23 is below
  // 2^-57.
  Vector series = all(2.0 / 21);
  series = series * s2 + 2.0 / 19;
  series = series * s2 + 2.0 / 17;
  series = series * s2 + 2.0 / 15;
  series = series * s2 + 2.0 / 13;
  series = series * s2 + 2.0 / 11;
  series = series * s2 + 2.0 / 9;
  series = series * s2 + 2.0 / 7;
  series = series * s2 + 2.0 / 5;
  series = series * s2 + 2.0 / 3;
  // log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 series): the large part f is exact.
  const Vector half = 0.5 * f * f;
  const Vector tail = s * (half + s2 * series);
  return e * 6.93147180369123816490e-01 + (f - (half - (tail + e * 1.90821492927058770002e-10)));
}

}  // namespace bayes::simd
