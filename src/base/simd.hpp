// Vectors of doubles as wide as the registers of the instruction set that this copy of the library
// is built for.
//
// Every level that has fused multiply-add (all but plain x86-64) gives the same results to the last
// bit. Therefore sums over rows have the same number of partial sums at every level (`sum_lanes`),
// and multiplications and additions are fused exactly where the code says `madd`: contraction by
// the compiler, which depends on the width of vectors, is switched off (CMakeLists.txt).
//
// The library is built once for each x86-64 level and the loader picks one, so there is no dispatch
// here: the compiler's own vector type becomes SSE2, AVX2 or AVX-512 code (or NEON elsewhere) by
// the flags of the build.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/double_double.hpp"
#include "base/special.hpp"

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

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
/// The bits of doubles. Their arithmetic wraps, and computes something for a NaN too.
using Bits = std::uint64_t __attribute__((vector_size(lanes * 8)));
/// A Vector in memory, with only the alignment of a double.
using Loose = double __attribute__((vector_size(lanes * 8), aligned(8), may_alias));

inline Vector load(const double *at) { return *reinterpret_cast<const Loose *>(at); }
inline void store(double *at, Vector v) { *reinterpret_cast<Loose *>(at) = v; }
inline Vector all(double x) { return x - Vector{}; }
inline Vector max(Vector a, Vector b) { return a > b ? a : b; }
/// Keeps v in a register; GCC would otherwise load a value that is used twice a second time.
inline void hold([[maybe_unused]] Vector &v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#endif
}

/// a b + c, rounded once where the processor can (all levels but plain x86-64).
inline Vector madd(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f64(c, a, b);
#else
  return a * b + c;
#endif
}
inline Vector madd(double a, Vector b, Vector c) { return madd(all(a), b, c); }
inline double madd(double a, double b, double c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// The number of partial sums of a sum over rows: row b is added to partial sum b % sum_lanes. In
/// memory the partial sums are consecutive numbers; in registers they are an array of vectors,
/// where row b belongs to element [b / lanes % registers].
inline constexpr int sum_lanes = 8;
inline constexpr int registers = sum_lanes / lanes;

/// The sum of partial sums, always in the same order.
inline double sum(const double *partial) {
  double total = 0;
  for (int i = 0; i < sum_lanes; ++i) total += partial[i];
  return total;
}
inline double sum(const Vector (&partial)[registers]) {
  double in_memory[sum_lanes];
  for (int i = 0; i < registers; ++i) store(in_memory + i * lanes, partial[i]);
  return sum(in_memory);
}

namespace detail {
/// Lane i of the result is the sum of two lanes that are Step apart: of a if bit Step of i is 0, of
/// b if it is 1.
template <int Step, std::size_t... I>
inline Vector add_neighbours(Vector a, Vector b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, ((I & Step) ? int(I) - Step + lanes : int(I))...) +
         __builtin_shufflevector(a, b, ((I & Step) ? int(I) + lanes : int(I) + Step)...);
}
template <int Step> inline Vector sums(const double *at) {
  if constexpr (Step == 0)
    return load(at);
  else
    return add_neighbours<Step>(sums<Step / 2>(at), sums<Step / 2>(at + Step * sum_lanes),
                                std::make_index_sequence<lanes>{});
}
/// The sum of registers a, ..., a + N - 1 of each group.
template <int N> inline Vector registers_sum(const double *at) {
  if constexpr (N == 1)
    return sums<lanes / 2>(at);
  else
    return registers_sum<N / 2>(at) + registers_sum<N / 2>(at + N / 2 * lanes);
}
}  // namespace detail

/// Lane i of the result is the sum of the i-th of `lanes` consecutive groups of partial sums at
/// `at`; of a group p it is ((p0 + p1) + (p2 + p3)) + ((p4 + p5) + (p6 + p7)).
inline Vector sums(const double *at) { return detail::registers_sum<registers>(at); }

/// e^x within 3 ulp for x in [-708, 709]; 0 below (also for -inf), where a double would turn
/// subnormal. Precondition: x <= 709 and not NaN. Method: x = n ln 2 + r, |r| <= ln 2 / 2, Taylor
/// polynomial of degree 13 in r (its remainder is below 2^-57), and n into the exponent.
inline Vector exp(Vector x) {
  // 1.5 * 2^52: adding it rounds to an integer in the low bits
  const Vector shifter = all(6755399441055744.0);
  const Vector low = all(-708.0);
  const Vector clamped = max(x, low);
  const Vector shifted = madd(1.4426950408889634, clamped, shifter);
  const Vector n = shifted - shifter;
  // ln 2 in two parts; the first has enough trailing zeros for n times it to be exact.
  Vector r = madd(-6.93147180369123816490e-01, n, clamped);
  r = madd(-1.90821492927058770002e-10, n, r);
  // Estrin's scheme: the short dependency chain matters more than the extra multiplications.
  const Vector r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const auto linear = [&](double a, double b) { return madd(b, r, all(a)); };
  const Vector p01 = 1.0 + r, p23 = linear(0.5, 1.0 / 6);
  const Vector p45 = linear(1.0 / 24, 1.0 / 120), p67 = linear(1.0 / 720, 1.0 / 5040);
  const Vector p89 = linear(1.0 / 40320, 1.0 / 362880), pab = linear(1.0 / 3628800, 1.0 / 39916800);
  const Vector pcd = linear(1.0 / 479001600, 1.0 / 6227020800.0);
  const Vector low_half = madd(r4, madd(r2, p67, p45), madd(r2, p23, p01));
  const Vector high_half = madd(r4, pcd, madd(r2, pab, p89));
  const Vector p = madd(r8, high_half, low_half);
  const Bits exponent = (std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(shifter)) << 52;
  const Vector result = std::bit_cast<Vector>(std::bit_cast<Bits>(p) + exponent);
  return x < low ? Vector{} : result;
}

/// log x within 1 ulp for x that is positive, normal and finite; any number for others. Method: x =
/// 2^n m with m in [1/sqrt 2, sqrt 2], s = (m - 1) / (m + 1), log m = 2 atanh s as a series in s^2.
inline Vector log(Vector x) {
  const Bits bits = std::bit_cast<Bits>(x);
  // the bits of 1/sqrt 2: splits off the exponent
  const Bits n =
      std::bit_cast<Bits>(std::bit_cast<Integers>(bits - std::uint64_t(0x3fe6a09e667f3bcd)) >> 52);
  const Vector m = std::bit_cast<Vector>(bits - (n << 52));
  // Integer to double: |n| < 2^51, so adding 1.5 * 2^52 in the integer domain and subtracting it
  // again is exact.
  const Vector magic = all(6755399441055744.0);
  const Vector e = std::bit_cast<Vector>(n + std::bit_cast<Bits>(magic)) - magic;
  const Vector f = m - 1.0;
  const Vector s = f / (m + 1.0);
  const Vector s2 = s * s;
  // 2 atanh(s) = 2 s + s^3 (2/3 + 2/5 s^2 + ...); |s| <= 0.1716, so the term in s^23 is below
  // 2^-57.
  Vector series = all(2.0 / 21);
  series = madd(series, s2, all(2.0 / 19));
  series = madd(series, s2, all(2.0 / 17));
  series = madd(series, s2, all(2.0 / 15));
  series = madd(series, s2, all(2.0 / 13));
  series = madd(series, s2, all(2.0 / 11));
  series = madd(series, s2, all(2.0 / 9));
  series = madd(series, s2, all(2.0 / 7));
  series = madd(series, s2, all(2.0 / 5));
  series = madd(series, s2, all(2.0 / 3));
  // log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 series): the large part f is exact.
  const Vector half = 0.5 * f * f;
  const Vector tail = s * madd(s2, series, half);
  return madd(6.93147180369123816490e-01, e,
              f - (half - madd(1.90821492927058770002e-10, e, tail)));
}

}  // namespace bayes::simd

namespace bayes {

/// Lets formulas be written once for lanes and single numbers.
inline double lane_log(double x) { return std::log(x); }
inline simd::Vector lane_log(simd::Vector x) { return simd::log(x); }
/// Bounded by 1e300, infinity included: the range of lane_log.
inline double lane_bounded(double x) { return std::min(x, 1e300); }
inline simd::Vector lane_bounded(simd::Vector x) { return x < 1e300 ? x : simd::all(1e300); }
/// log(1 + x), 0 <= x <= 1e300, without loss of the digits of a small x: log(s) x / (s - 1) with
/// the rounded sum s of 1 and x.
template <class T> T lane_log1p(T x) {
  const T one = 1.0 + x, slack = one - 1.0;
  return slack == 0.0 ? x : lane_log(one) * (x / (slack == 0.0 ? one : slack));
}

}  // namespace bayes

// Double-double arithmetic on vectors.

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

// The gamma function's logarithm and its derivative, in vectors.
//
// Arguments are shifted by 10, where asymptotic series hold: log Gamma(x) = log Gamma(x + 10) -
// log x (x + 1) ... (x + 9), and the derivatives. The ten factors, two by two from both ends, are u
// (u + 8) (u + 14) (u + 18) (u + 20) with u = x (x + 9): a polynomial whose coefficients are
// positive, so nothing cancels, and there is one division.

namespace bayes::simd {

namespace detail {

struct Shifted {
  Vector y;          // x + 10
  Vector inverse;    // 1 / y
  Vector product;    // x (x + 1) ... (x + 9)
  Vector quotients;  // 1 / x + 1 / (x + 1) + ... + 1 / (x + 9)
};

inline Shifted shifted(Vector x) {
  const Vector u = x * (x + 9.0);
  Vector product = u + 60.0;
  product = madd(product, u, all(1308));
  product = madd(product, u, all(12176));
  product = madd(product, u, all(40320));
  product = product * u;
  Vector slope = madd(5.0, u, all(240));
  slope = madd(slope, u, all(3924));
  slope = madd(slope, u, all(24352));
  slope = madd(slope, u, all(40320));
  const Vector y = x + 10.0;
  const Vector both = 1.0 / (y * product);
  return {y, product * both, product, madd(2.0, x, all(9)) * slope * (y * both)};
}

/// digamma(y) - log y, y >= 10: the first neglected term is below 5e-17.
inline Vector digamma_series(Vector inverse) {
  const Vector z = inverse * inverse;
  Vector sum = all(-1.0 / 12);
  sum = madd(sum, z, all(691.0 / 32760));
  sum = madd(sum, z, all(-1.0 / 132));
  sum = madd(sum, z, all(1.0 / 240));
  sum = madd(sum, z, all(-1.0 / 252));
  sum = madd(sum, z, all(1.0 / 120));
  sum = madd(sum, z, all(-1.0 / 12));
  return madd(sum, z, -0.5 * inverse);
}

/// log Gamma(y) - (y - 1/2) log y + y - log(2 pi) / 2, y >= 10.
inline Vector gamma_series(Vector inverse) {
  const Vector z = inverse * inverse;
  Vector sum = all(1.0 / 156);
  sum = madd(sum, z, all(-691.0 / 360360));
  sum = madd(sum, z, all(1.0 / 1188));
  sum = madd(sum, z, all(-1.0 / 1680));
  sum = madd(sum, z, all(1.0 / 1260));
  sum = madd(sum, z, all(-1.0 / 360));
  sum = madd(sum, z, all(1.0 / 12));
  return sum * inverse;
}

}  // namespace detail

/// exp(digamma(x)), 1e-29 <= x <= 1e29; 0 where that is below 1e-307, x < 0.00142. Its relative
/// error is the absolute one of digamma(x).
inline Vector exp_digamma(Vector x) {
  const detail::Shifted s = detail::shifted(x);
  return s.y * exp(detail::digamma_series(s.inverse) - s.quotients);
}

/// digamma(x) and log Gamma(x), 1e-29 <= x <= 1e29: within 3e-15 and 2e-14 of the larger of 1 and
/// the result.
struct GammaPair {
  Vector digamma, log_gamma;
};
inline GammaPair digamma_and_log_gamma(Vector x) {
  const detail::Shifted s = detail::shifted(x);
  const Vector log_y = log(s.y);
  const Vector stirling = madd(s.y - 0.5, log_y, half_log_two_pi - s.y);
  return {(log_y + detail::digamma_series(s.inverse)) - s.quotients,
          (stirling + detail::gamma_series(s.inverse)) - log(s.product)};
}

}  // namespace bayes::simd
