// Helpers for the tests of products of columns: priors, rows, densities from their definitions,
// statistics.
#pragma once

#include <numeric>

#include "families/product/column_families.hpp"
#include "families/product/product.hpp"
#include "families/product/product_prior.hpp"
#include "fit/driver.hpp"
#include "fit/learners.hpp"
#include "support.hpp"

namespace products {

using namespace bayes;
using support::distance;

inline const double hole = std::numeric_limits<double>::quiet_NaN();

/// Examples of the numbers that are known of a column: as many as it needs.
inline std::vector<double> known_numbers(std::span<const KnownParameter> parameters, bool other) {
  std::vector<double> out;
  for (const KnownParameter &each : parameters)
    out.push_back(each.low + (each.whole ? (other ? 4 : 14) : (other ? 1.3 : 4.5)));
  return out;
}

/// A column of every family of the list; of categorical ones one whose values are the codes, and
/// one whose values are not; of those with known parameters two.
inline std::vector<ColumnSpec> every_family() {
  std::vector<ColumnSpec> out;
  for_each_column_family([&]<class F>(const F &) {
    if (F::by_value)
      out.insert(out.end(), {{kind_of<F>, 3}, {kind_of<F>, 5, {-3, 1, 2, 7, 90}}});
    else if (F::known_parameters.empty())
      out.push_back({kind_of<F>});
    else
      for (const bool other : {false, true})
        out.push_back({kind_of<F>, 0, {}, known_numbers(F::known_parameters, other)});
  });
  return out;
}
/// Every family at two positions of a row, so that columns of one family do not follow one another.
inline const std::vector<ColumnSpec> mixed = [] {
  std::vector<ColumnSpec> out = every_family();
  for (std::size_t j = out.size(); j-- > 0;) out.push_back(out[j]);
  return out;
}();

inline SharedColumns columns_of(std::vector<ColumnSpec> specs) {
  return std::make_shared<const Columns>(std::move(specs));
}

/// A valid prior, nowhere 0 or 1, different in every column and component; informative in
/// proportion to `strength`.
inline ProductPosterior some_prior(std::vector<ColumnSpec> specs, int k = 1, double strength = 0) {
  ProductPosterior out{columns_of(std::move(specs)), {}};
  out.values.resize(out.columns->size().posterior, k);
  for (int c = 0; c < k; ++c)
    for_each_family(*out.columns, [&]<class F>(int j, const F &family, const ColumnOffsets &at) {
      double *q = out.values.col(c).data() + at.posterior;
      for (std::size_t key = 0; key < F::prior_keys.size(); ++key)
        for (int i = 0; i < family.numbers_per_name(); ++i)
          *q++ = F::prior_keys[key] == std::string_view("m")
                     ? 0.3 * j - c
                     : 1.3 + strength + 0.25 * (int(key) + i) + 0.1 * j + 0.2 * c;
    });
  return out;
}

/// n rows from a few draws of the prior, so that there are clusters; about every tenth value is
/// missing if `holes`.
inline Matrix some_rows(const ProductPosterior &prior, int n, std::uint64_t seed,
                        bool holes = false, int clusters = 3) {
  Random random(seed);
  const ProductPoint truth = draw(replicate(prior, clusters), random);
  Matrix x(n, prior.dimension());
  std::vector<double> row(std::size_t(prior.dimension()));
  for (int i = 0; i < n; ++i) {
    sample(truth, int(random.below(std::uint64_t(clusters))), random, row.data());
    for (int j = 0; j < prior.dimension(); ++j)
      x(i, j) = holes && random.uniform() < 0.1 ? hole : row[std::size_t(j)];
  }
  return x;
}

inline int code(const ColumnSpec &spec, double x) {
  return spec.values.empty()
             ? int(x)
             : int(std::find(spec.values.begin(), spec.values.end(), x) - spec.values.begin());
}

/// log density of an element at a point of its column.
template <class F> double log_density(const F &family, const double *point, double x) {
  std::vector<double> terms(std::size_t(family.term_size()));
  const double constant = family.point_terms(point, terms.data()), element = family.element(x);
  return constant + family.term(terms.data(), element) + family.log_carrier(element);
}

/// log density of one row at a point, element by element, missing ones left out.
inline double log_density(const ProductPoint &point, int k, const std::vector<double> &x) {
  double total = 0;
  for_each_family(*point.columns, [&](int j, const auto &family, const ColumnOffsets &) {
    const double v = x[std::size_t(j)];
    if (!std::isnan(v)) total += log_density(family, point.column(k, j), v);
  });
  return total;
}

/// Clusters of the rows: a single one, or those of `group`.
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
        counts[j * simd::sum_lanes + b % simd::sum_lanes] += in ? weight[b] : 0;
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
  double total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) total += log_density(point, 0, support::row(x, i));
  return total;
}

/// f(value, mass) for the allowed values of a column in increasing order: whole numbers with mass
/// 1, otherwise the points of a quadrature of smooth densities.
template <class F, class Function> void for_each_value(const F &family, Function f) {
  if (!family.allowed(0.5)) {
    for (double x = -100; x <= 40000; ++x)
      if (family.allowed(x)) f(x, 1.0);
    return;
  }
  // both half lines over x = +-exp(u)
  const double step = 0.01;
  for (double u = 40; u >= -40; u -= step)
    if (const double x = std::exp(u); family.allowed(-x)) f(-x, x * step);
  for (double u = -40; u <= 40; u += step)
    if (const double x = std::exp(u); family.allowed(x)) f(x, x * step);
}

// One column on its own.

/// f(family, spec) for a column of every family.
template <class Function> void for_each_family(Function f) {
  for (const ColumnSpec &spec : every_family())
    std::visit(
        [&](const auto &family) {
          BOOST_TEST_CONTEXT("family " << family.name) { f(family, spec); }
        },
        family_of(spec));
}

using Numbers = std::vector<double>;

template <class F> Numbers prior_of(const F &, const ColumnSpec &spec, double strength) {
  return to_vector(some_prior({spec}, 1, strength).values.col(0));
}
template <class F> Numbers drawn(const F &family, const Numbers &q, Random &random) {
  Numbers out(std::size_t(family.point_size()), 0.0);
  family.draw(q.data(), random, out.data());
  return out;
}
template <class F> Numbers samples(const F &family, const Numbers &point, int n, Random &random) {
  Numbers out;
  for (int i = 0; i < n; ++i) out.push_back(family.value(family.sample(point.data(), random)));
  return out;
}
template <class F> Numbers sums_of(const F &family, const Numbers &x) {
  Numbers out(std::size_t(family.statistics_size()), 0.0);
  for (const double v : x) family.add(family.element(v), out.data());
  return out;
}
template <class F> Numbers posterior_of(const F &family, const Numbers &s, const Numbers &prior) {
  Numbers out(prior.size());
  family.posterior(s.data(), prior.data(), out.data());
  return out;
}
template <class F> double likelihood(const F &family, const Numbers &point, const Numbers &x) {
  double total = 0;
  for (const double v : x) total += log_density(family, point.data(), v);
  return total;
}

inline ProductPosterior column(const ColumnSpec &spec, const Numbers &q) {
  return {columns_of({spec}), Eigen::Map<const Matrix>(q.data(), Eigen::Index(q.size()), 1)};
}

}  // namespace products
