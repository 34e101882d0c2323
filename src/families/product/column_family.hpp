// The members that loops over rows need from a column family besides its interface (column.hpp),
// and the loops over blocks that families share. The loops are compiled for each family of the
// list.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <type_traits>

#include "base/simd.hpp"
#include "data/rows.hpp"
#include "families/product/column.hpp"

namespace bayes {

/// A count is at most 2^53: beyond that not every whole number is a double.
inline constexpr double exact_counts = 9007199254740992;
inline constexpr const char *count_requirement = "a whole number from 0 to 2^53";
inline bool allowed_count(double x) { return x >= 0 && x <= exact_counts && x == std::floor(x); }

/// Positive numbers of a stored model lie between 1 / this and this.
inline constexpr double largest_number = 1e300;
inline bool valid_number(double x) { return x >= 1 / largest_number && x <= largest_number; }

/// Posterior modes keep probabilities, and rates of counts, at least this far from values with
/// infinite logarithms.
inline constexpr double mode_margin = 1e-12;

/// A final class, whose members are called without virtual calls where its type is known. F{} has
/// default known parameters and no categories.
template <class F>
concept ColumnFamily = std::derived_from<F, Column> && std::is_final_v<F> &&
    std::is_default_constructible_v<F> &&
    requires(const F &family, const double *in, double *out, const double *const *columns,
             std::span<const F> families, double x) {
  { family.plain() } -> std::same_as<bool>;         // is element(x) = x?
  { F::has_carrier } -> std::convertible_to<bool>;  // is there an h(x)?
  // is the predictive density of 0 entirely in the constant?
  { F::zero_is_constant } -> std::convertible_to<bool>;

  // Blocks of rows. out[b] += h(x_b)
  family.add_carriers(in, out);
  // elements of a block of values
  family.elements(in, out);
  // out[b] += sum over columns of term(x_b)
  F::add_terms(families, columns, in, out);
  // terms, responsibilities: adds to partial sums
  F::add_sums(families, columns, in, in, out);

  // Collapsed clusters. posteriors -> forms and constants
  F::predictive_forms(families, in, out, out);
  // form(i): the i-th form, of one cluster or of a vector of them; x is not 0 if zero_is_constant
  {
    family.predictive_term([](int) { return 0.0; }, x)
    } -> std::same_as<double>;
  {
    family.predictive_term([](int) { return simd::Vector{}; }, x)
    } -> std::same_as<simd::Vector>;
};

/// The logarithm of a probability or rate that may have underflowed; finite, so that 0 times it is
/// 0.
inline double finite_log(double x) {
  return std::log(std::max(x, std::numeric_limits<double>::min()));
}

/// A posterior of this many rows or more, which weights can make, is heavy: the small change by a
/// row has to be computed as such, not as a difference.
inline constexpr double heavy_from = 1e5;

/// out[i] = log in[i], n numbers, positive, normal and finite.
inline void log_all(int n, const double *in, double *out) {
  int i = 0;
  for (; i + simd::lanes <= n; i += simd::lanes)
    simd::store(out + i, simd::log(simd::load(in + i)));
  for (; i < n; ++i) out[i] = simd::log(simd::all(in[i]))[0];
}

namespace column_block {

using simd::lanes;
using simd::madd;
using simd::registers;
using simd::sum_lanes;
using simd::Vector;

inline constexpr int vectors = block_rows / lanes;

/// out[b] += sum_c slope_c x_c[b] over a block.
inline void add_linear(int columns, const double *const *x, const double *slope, double *out) {
  constexpr int group = 8;
  for (int first = 0; first < block_rows; first += group * lanes) {
    Vector sum[group];
#pragma GCC unroll 8
    for (int v = 0; v < group; ++v) sum[v] = simd::load(out + first + v * lanes);
    for (int c = 0; c < columns; ++c) {
      const Vector s = simd::all(slope[c]);
      const double *const at = x[c] + first;
#pragma GCC unroll 8
      for (int v = 0; v < group; ++v) sum[v] = madd(s, simd::load(at + v * lanes), sum[v]);
    }
#pragma GCC unroll 8
    for (int v = 0; v < group; ++v) simd::store(out + first + v * lanes, sum[v]);
  }
}

/// sums[c] += sum_b r_b x_c[b] over a block, in partial sums.
inline void add_dots(int columns, const double *const *x, const double *r, double *sums) {
  constexpr int group = 4;
  int c = 0;
  for (; c + group <= columns; c += group) {
    for (int at = 0; at < sum_lanes; at += lanes) {
      Vector sum[group];
#pragma GCC unroll 4
      for (int i = 0; i < group; ++i) sum[i] = simd::load(sums + (c + i) * sum_lanes + at);
      for (int b = at; b < block_rows; b += sum_lanes) {
        const Vector weight = simd::load(r + b);
#pragma GCC unroll 4
        for (int i = 0; i < group; ++i) sum[i] = madd(weight, simd::load(x[c + i] + b), sum[i]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < group; ++i) simd::store(sums + (c + i) * sum_lanes + at, sum[i]);
    }
  }
  for (; c < columns; ++c)
    for (int at = 0; at < sum_lanes; at += lanes) {
      Vector even = simd::load(sums + c * sum_lanes + at), odd = {};
      for (int b = at; b < block_rows; b += 2 * sum_lanes) {
        even = madd(simd::load(r + b), simd::load(x[c] + b), even);
        odd = madd(simd::load(r + b + sum_lanes), simd::load(x[c] + b + sum_lanes), odd);
      }
      simd::store(sums + c * sum_lanes + at, even + odd);
    }
}

}  // namespace column_block
}  // namespace bayes
