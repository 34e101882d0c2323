// Numbers of twice the precision of a double: unevaluated sums of two doubles, the second at most
// half a unit in the last place of the first (Dekker 1971; Hida, Li and Bailey 2001). About 106
// bits, in the range of a double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace bayes {

/// product_error() without a fused multiply-add: the halves of a number have 26 bits, so that their
/// products are exact (Veltkamp).
template <class T> inline T split_product_error(T a, T b, T p) {
  const T split = 134217729.0 - T{};
  const T ca = split * a, cb = split * b;
  const T a1 = ca - (ca - a), b1 = cb - (cb - b), a2 = a - a1, b2 = b - b1;
  return ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
}

/// a b = p + product_error(a, b, p) exactly, for p = a b rounded, unless that over- or underflows.
inline double product_error(double a, double b, double p) {
#if defined(__FMA__)
  return __builtin_fma(a, b, -p);
#else
  return split_product_error(a, b, p);
#endif
}

/// a + b = s + sum_error(a, b, s) exactly, for s = a + b rounded.
template <class T> inline T sum_error(T a, T b, T s) {
  const T z = s - a;
  return (a - (s - z)) + (b - z);
}

struct DoubleDouble {
  double hi = 0, lo = 0;

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double x) : hi(x) {}
  constexpr DoubleDouble(double hi, double lo) : hi(hi), lo(lo) {}
  explicit operator double() const { return hi; }

  /// a + b, exactly.
  static DoubleDouble sum(double a, double b) {
    const double s = a + b;
    return {s, sum_error(a, b, s)};
  }
  /// a b, exactly unless that over- or underflows.
  static DoubleDouble product(double a, double b) {
    const double p = a * b;
    return {p, product_error(a, b, p)};
  }
  /// hi + lo as a DoubleDouble; lo must be much smaller than hi.
  static DoubleDouble of(double hi, double lo) {
    const double s = hi + lo;
    return {s, lo - (s - hi)};
  }
  DoubleDouble operator-() const { return {-hi, -lo}; }
  bool operator==(const DoubleDouble &) const = default;

  /// x rounded to 24 bits.
  static double rounded_to_24_bits(double x) {
    constexpr int dropped = 29;
    constexpr std::uint64_t unit = std::uint64_t(1) << dropped;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t half = unit / 2 - 1 + (bits >> dropped & 1);  // ties to even
    return std::bit_cast<double>((bits + half) & ~(unit - 1));
  }
  /// hi + lo rounded to 77 bits, which drops the digits that depend on the order of summation. If
  /// lo is rounded up to half a unit in the last place of hi, hi may change.
  DoubleDouble rounded() const { return of(hi, rounded_to_24_bits(lo)); }
};

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const double s = a.hi + b.hi, t = a.lo + b.lo;
  const DoubleDouble first = DoubleDouble::of(s, sum_error(a.hi, b.hi, s) + t);
  return DoubleDouble::of(first.hi, first.lo + sum_error(a.lo, b.lo, t));
}
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
inline DoubleDouble &operator+=(DoubleDouble &a, DoubleDouble b) { return a = a + b; }
inline DoubleDouble &operator-=(DoubleDouble &a, DoubleDouble b) { return a = a - b; }
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const double p = a.hi * b.hi;
  return DoubleDouble::of(p, product_error(a.hi, b.hi, p) + (a.hi * b.lo + a.lo * b.hi));
}
inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.hi / b.hi;
  const DoubleDouble rest = a - b * DoubleDouble(first);
  const double second = rest.hi / b.hi;
  const DoubleDouble last = rest - b * DoubleDouble(second);
  return DoubleDouble::of(first, second) + DoubleDouble(last.hi / b.hi);
}
/// x >= 0
inline DoubleDouble sqrt(DoubleDouble x) {
  if (!(x.hi > 0)) return {};
  const double root = std::sqrt(x.hi);
  const DoubleDouble rest = x - DoubleDouble(root) * DoubleDouble(root);
  return DoubleDouble::of(root, rest.hi / (2 * root));
}
/// x 2^exponent, exactly.
inline DoubleDouble scaled(DoubleDouble x, int exponent) {
  return {std::ldexp(x.hi, exponent), std::ldexp(x.lo, exponent)};
}

/// Replaces two parts that may overlap by the DoubleDouble of the same sum.
template <class T> inline void renormalize(T &hi, T &lo) {
  const T s = hi + lo;
  lo = lo - (s - hi);
  hi = s;
}

}  // namespace bayes
