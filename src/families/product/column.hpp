// The interface of the observation family of a single column, and the loops over blocks that such
// families share.
//
// A row of columns, each with its own family, has a product distribution (product.hpp): whatever
// works for products works for a new column family. Such a family is one small file and an entry in
// the list of column_families.hpp; conjugate_column.hpp provides most of what is required here.
//
// Everything is written as an exponential family, eta . t(x) - A + h(x) (002 L7, L8), divided by
// what it depends on: log density of x = constant + term(x) + h(x). The constant and the numbers of
// the term belong to one column of one component, the log carrier h to the row alone. In block
// scoring, where rows lie in the lanes, the constants of all columns are added up once. In
// collapsed clusters, where clusters lie in the lanes, the constant is the log predictive density
// of x = 0 if possible, so that zeros cost nothing.
//
// A column of a component is represented by a few numbers: a point (parameters), a posterior or
// prior, statistics. Families say how many, and what they mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <string>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "data/rows.hpp"
#include "families/predicted.hpp"
#include "families/product/columns.hpp"

namespace bayes {

/// What stands in a column of counts: beyond 2^53 doubles are no counts any more.
inline constexpr double exact_counts = 9007199254740992;
inline constexpr const char *count_requirement = "a whole number from 0 to 2^53";
inline bool allowed_count(double x) { return x >= 0 && x <= exact_counts && x == std::floor(x); }

/// Positive numbers of a stored model lie between 1 / this and this.
inline constexpr double largest_number = 1e300;
inline bool valid_number(double x) { return x >= 1 / largest_number && x <= largest_number; }

/// Probabilities, and rates of counts, of posterior modes are at least this far from values with
/// infinite logarithms.
inline constexpr double least_mode = 1e-12;

template <class F>
concept ColumnFamily = requires(const F &family, const double *in, double *out,
                                const double *const *columns, std::span<const F> families, double x,
                                Random &random, const ColumnBounds &bounds, Marginal *marginals) {
  { F::name } -> std::convertible_to<const char *>;  // as in option likelihood
  // is the (finite) x an allowed value? 0 is, in every family
  { family.allowed(x) } -> std::same_as<bool>;
  { family.requirement() } -> std::convertible_to<std::string>;  // what a value must be: "0 or 1"
  // x as the members below take it: a category's code, else x itself
  { family.element(x) } -> std::same_as<double>;
  { family.value(x) } -> std::same_as<double>;      // its inverse
  { family.plain() } -> std::same_as<bool>;         // is element(x) = x?
  { F::has_carrier } -> std::convertible_to<bool>;  // is there an h(x)?
  { F::log_carrier(x) } -> std::same_as<double>;    // h(x), of an element
  // is the predictive density of 0 entirely in the constant?
  { F::zero_is_constant } -> std::convertible_to<bool>;
  // do distances between values mean anything? Not those of names, nor of zeros and ones
  { F::ordered } -> std::convertible_to<bool>;
  // does a parameter's name stand for one number per value (as in categorical columns)?
  { F::by_value } -> std::convertible_to<bool>;
  // are the named parameters probabilities of values: of each value if by_value, else of 1?
  { F::probabilities } -> std::convertible_to<bool>;
  // does the default prior, or stabilised(), need the variance of all rows?
  { F::needs_variance } -> std::convertible_to<bool>;
  // element, variance of the column -> variance-stabilising transform: values of one component
  // differ by about 1
  { family.stabilised(x, x) } -> std::same_as<double>;

  // Numbers per column; a family's columns are contiguous, also in terms, sums (each
  // `simd::sum_lanes` wide) and forms. The parameters of a point and of a posterior have names; a
  // name stands for one number, or for one per category. Numbers of a prior must be positive,
  // except that of a key called m, a location.
  { std::size(F::parameters) } -> std::convertible_to<std::size_t>;
  { std::size(F::prior_keys) } -> std::convertible_to<std::size_t>;
  { family.numbers_of_name() } -> std::same_as<int>;
  { family.point_size() } -> std::same_as<int>;
  { family.posterior_size() } -> std::same_as<int>;
  { family.statistics_size() } -> std::same_as<int>;
  { family.term_size() } -> std::same_as<int>;
  { family.sum_size() } -> std::same_as<int>;
  { family.form_size() } -> std::same_as<int>;

  // Points.
  // statistics, previous point -> point
  family.maximum_likelihood(in, in, bounds, out);
  // does a bound hold a density that would grow without limit beyond it?
  { family.at_bound(in, bounds) } -> std::same_as<bool>;
  // statistics, prior with a mode -> point
  family.maximum_posterior(in, in, out);
  // mean and variance of the column, k^(-2/D) for k components and D columns of the family
  family.default_prior(x, x, x, out);
  // does the posterior have a mode under this prior, whatever the statistics?
  { family.has_mode(in) } -> std::same_as<bool>;
  { F::mode_requirement } -> std::convertible_to<const char *>;  // when it has
  { family.log_prior(in, in) } -> std::same_as<double>;          // point, prior
  // E[x] at a point; NaN if x is not a quantity (here and below)
  { family.mean(in) } -> std::same_as<double>;
  { family.variance(in) } -> std::same_as<double>;
  // may an element have this mean?
  { family.allowed_mean(x) } -> std::same_as<bool>;
  // mean, variance of the column over all rows: gives a point this mean; no effect if x is not a
  // quantity
  family.set_mean(x, x, out);
  { family.sample(in, random) } -> std::same_as<double>;  // an element at a point
  // the logarithm of the Bhattacharyya coefficient of two points: of the sum, or integral, over x
  // of the root of the product of their densities
  { family.log_overlap(in, in) } -> std::same_as<double>;
  // computes the numbers of a point that follow from the named ones
  family.complete(out);
  { family.valid_point(in) } -> std::same_as<bool>;  // of points after complete()
  { family.free_parameters() } -> std::same_as<int>;

  // Posteriors.
  // statistics, prior -> posterior
  family.posterior(in, in, out);
  { family.divergence(in, in) } -> std::same_as<double>;  // KL(q || prior)
  // q, target, step size -> q after a natural-gradient step
  family.natural_gradient_step(in, in, x, out);
  // posterior -> point: posterior means of the named parameters if they exist
  family.point_estimate(in, out);
  // mean of a value, parameters integrated out under a posterior; infinite if it does not exist
  { family.predictive_mean(in) } -> std::same_as<double>;
  { family.predictive_variance(in) } -> std::same_as<double>;
  // the distribution of an element: at a point, and with parameters integrated out
  { family.predicted(in) } -> std::same_as<Predicted>;
  { family.predictive(in) } -> std::same_as<Predicted>;
  // statistics, prior; without the sum of h(x)
  { family.log_marginal_likelihood(in, in) } -> std::same_as<double>;
  // posterior -> random point
  family.draw(in, random, out);
  // posterior -> standard deviations of the named parameters
  family.deviations(in, out);
  // posterior -> the distribution of each of them; of a variance that of its root, by which results
  // show it
  family.marginals(in, marginals);
  // The posterior as an exponential family, its density proportional to exp(eta . phi) with as many
  // numbers eta as it has, to which rows add theirs.
  // posterior, another one of the column as the origin of locations -> eta, and back
  family.natural_parameters(in, in, out);
  family.from_natural_parameters(in, in, out);
  // posterior, which is the origin itself -> Cov[phi], and Cov[phi, g] for each named parameter g,
  // one after the other; of one without a variance anything
  family.covariances(in, out, out);
  { family.valid_posterior(in) } -> std::same_as<bool>;

  // Statistics.
  family.scale(x, out);   // multiplies all weights by x
  family.add(x, out);     // adds a row
  family.add(x, x, out);  // adds a row of this weight; without the bound of its rounding error
  family.merge(in, out);  // adds the rows of other statistics
  // point, statistics; without the sum of h(x)
  { family.log_likelihood(in, in) } -> std::same_as<double>;
  // removes a row; needs the prior; false if precision was lost
  { family.remove(x, in, out) } -> std::same_as<bool>;

  // Blocks of rows. point -> terms; returns the constant
  { family.point_terms(in, out) } -> std::same_as<double>;
  // posterior -> terms of E[log density]
  { family.expected_terms(in, out) } -> std::same_as<double>;
  { family.term(in, x) } -> std::same_as<double>;  // of one element
  // out[b] += sum over columns of term(x_b)
  F::add_terms(families, columns, in, out);
  // terms, responsibilities: adds to partial sums
  F::add_sums(families, columns, in, in, out);
  // weight of the rows, their sums, terms -> statistics
  family.statistics(x, in, in, out);

  // Collapsed clusters. posteriors -> forms and constants
  F::predictive_forms(families, in, out, out);
  // form(i): the i-th form, of one cluster or of a vector of them; x is not 0 if zero_is_constant
  {
    F::predictive_term([](int) { return 0.0; }, x)
    } -> std::same_as<double>;
  {
    F::predictive_term([](int) { return simd::Vector{}; }, x)
    } -> std::same_as<simd::Vector>;
};

/// The logarithm of a probability or rate that may have underflowed; finite, so that 0 times it is
/// 0.
inline double finite_log(double x) {
  return std::log(std::max(x, std::numeric_limits<double>::min()));
}

/// Lets formulas be written once for lanes and single numbers.
inline double lane_log(double x) { return std::log(x); }
inline simd::Vector lane_log(simd::Vector x) { return simd::log(x); }
/// At most 1e300, infinity included: what lane_log takes.
inline double lane_bounded(double x) { return std::min(x, 1e300); }
inline simd::Vector lane_bounded(simd::Vector x) { return x < 1e300 ? x : simd::all(1e300); }

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
