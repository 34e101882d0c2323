// What the tests of products of columns share: priors, rows, densities from their definitions,
// statistics.
#pragma once

#include <numeric>

#include "families/product/product.hpp"
#include "fit/driver.hpp"
#include "fit/learners.hpp"
#include "support.hpp"

namespace products {

using namespace bayes;
using support::distance;

inline const double nan = std::numeric_limits<double>::quiet_NaN();
inline const std::vector<ColumnSpec> mixed = {
    {kind_of<Poisson>},          {kind_of<Bernoulli>},
    {kind_of<UnivariateNormal>}, {kind_of<Categorical>, 3},
    {kind_of<Bernoulli>},        {kind_of<Categorical>, 5, {-3, 1, 2, 7, 90}},
    {kind_of<Poisson>},          {kind_of<UnivariateNormal>},
    {kind_of<Exponential>}};

inline SharedColumns columns_of(std::vector<ColumnSpec> specs) {
  return std::make_shared<const Columns>(std::move(specs));
}

/// A prior that is nowhere 0 or 1, different in every column.
inline ProductPosterior some_prior(std::vector<ColumnSpec> specs, int k = 1) {
  ProductPosterior out{columns_of(std::move(specs)), {}};
  out.values.resize(out.columns->size().posterior, k);
  for (int j = 0; j < out.dimension(); ++j)
    for (int c = 0; c < k; ++c) {
      double *const q = out.column(c, j);
      const ColumnSpec &spec = out.columns->specs()[std::size_t(j)];
      if (spec.kind == kind_of<UnivariateNormal>)
        q[0] = 0.3 * j - c, q[1] = 0.4 + 0.1 * j, q[2] = 2.5 + 0.3 * j, q[3] = 1.5 + 0.2 * c;
      else
        for (int i = 0; i < (spec.kind == kind_of<Categorical> ? spec.categories : 2); ++i)
          q[i] = 1.3 + 0.25 * i + 0.1 * j + 0.2 * c;
    }
  return out;
}

/// n rows from a few draws of the prior, so that there are clusters; every tenth element or so is
/// missing if there are to be holes.
inline Matrix some_rows(const ProductPosterior &prior, int n, std::uint64_t seed,
                        bool holes = false, int clusters = 3) {
  Random random(seed);
  const ProductPoint truth = draw(replicate(prior, clusters), random);
  Matrix x(n, prior.dimension());
  std::vector<double> row(std::size_t(prior.dimension()));
  for (int i = 0; i < n; ++i) {
    sample(truth, int(random.below(std::uint64_t(clusters))), random, row.data());
    for (int j = 0; j < prior.dimension(); ++j)
      x(i, j) = holes && random.uniform() < 0.1 ? nan : row[std::size_t(j)];
  }
  return x;
}

inline int code(const ColumnSpec &spec, double x) {
  return spec.values.empty()
             ? int(x)
             : int(std::find(spec.values.begin(), spec.values.end(), x) - spec.values.begin());
}

/// log density of one row at a point, straight from the definitions, in long double.
inline long double slow_log_density(const ProductPoint &point, int k,
                                    const std::vector<double> &x) {
  long double total = 0;
  for (int j = 0; j < point.dimension(); ++j) {
    const double *const p = point.column(k, j), v = x[std::size_t(j)];
    if (std::isnan(v)) continue;
    switch (point.columns->specs()[std::size_t(j)].kind) {
      case kind_of<Bernoulli>: total += std::log((long double)(v == 1 ? p[0] : 1 - p[0])); break;
      case kind_of<Categorical>:
        total += std::log((long double)p[code(point.columns->specs()[std::size_t(j)], v)]);
        break;
      case kind_of<Poisson>:
        total += v * std::log((long double)p[0]) - p[0] - std::lgamma((long double)v + 1);
        break;
      case kind_of<Exponential>:
        total += std::log((long double)p[0]) - (long double)p[0] * v;
        break;
      case kind_of<UnivariateNormal>:
        total -= 0.5L * (std::log(2 * 3.14159265358979323846264L * p[1]) +
                         (v - p[0]) * (long double)(v - p[0]) / p[1]);
        break;
    }
  }
  return total;
}

/// The clusters that the rows make, all in one, or as `group` says.
inline ProductClusters clusters_of(const ProductPosterior &prior, const Matrix &x,
                                   const std::vector<int> &group = {}) {
  ProductClusters out(prior);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const int g = group.empty() ? 0 : group[std::size_t(i)];
    while (out.size() <= g) out.open();
    out.add(g, support::row(x, i).data());
  }
  return out;
}

/// Statistics by the local step, every row in its group.
struct ByGroup {
  static constexpr bool scored = true;
  const std::vector<int> *group = nullptr;
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const {
    for (int b = 0; b < block.padded; ++b)
      for (int j = 0; j < k; ++j) {
        const bool in = b < block.rows && (*group)[std::size_t(block.first + b)] == j;
        logits[j * block_rows + b] = in ? weight[b] : 0;
        counts[j * simd::lanes + b % simd::lanes] += in ? weight[b] : 0;
      }
  }
};
inline ProductStatistics statistics_of(const ProductPosterior &prior, const Matrix &x,
                                       const std::vector<int> &group, int k,
                                       const Vector &weights = {}) {
  auto rows = support::rows_of(x, weights);
  Control control;
  return local_step<ByGroup>(rows, control, make_scorer(replicate(prior, k)),
                             std::vector<double>(std::size_t(k), 0.0), ByGroup{&group})
      .statistics;
}
inline ProductStatistics statistics_of(const ProductPosterior &prior, const Matrix &x) {
  return statistics_of(prior, x, std::vector<int>(std::size_t(x.rows()), 0), 1);
}

inline double log_likelihood(const ProductPoint &point, const Matrix &x) {
  long double total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    total += slow_log_density(point, 0, support::row(x, i));
  return double(total);
}

/// Calls f with every row that columns of zeros and ones, categories and counts up to `most` can
/// make.
template <class F> void for_each_row(const std::vector<ColumnSpec> &specs, int most, F f) {
  std::vector<double> x(specs.size(), 0);
  const auto end = [&](std::size_t j) {
    return specs[j].kind == kind_of<Bernoulli> ? 2
           : specs[j].kind == kind_of<Poisson> ? most + 1
                                               : specs[j].categories;
  };
  for (;;) {
    f(x);
    std::size_t j = 0;
    while (j < x.size() && ++x[j] == end(j)) x[j++] = 0;
    if (j == x.size()) return;
  }
}

}  // namespace products
