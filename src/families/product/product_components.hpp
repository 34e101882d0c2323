// Rows of independent columns, each with its own family: K components of a product distribution, at
// a point or with a conjugate posterior, with the functions that learners and samplers need.
//
// Everything is a loop over columns (column.hpp); the functions have the same meaning as for
// normals in normal_point.hpp and normal_wishart.hpp. A NaN in a row is a missing value, which is
// integrated out.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/linalg.hpp"
#include "families/product/columns.hpp"

namespace bayes {

using SharedColumns = std::shared_ptr<const Columns>;

/// Parameters of K components: a column of `values` for each.
struct ProductPoint {
  SharedColumns columns;
  Matrix values;  // point size x K

  int components() const { return int(values.cols()); }
  int dimension() const { return columns->count(); }
  const double *column(int component, int j) const {
    return values.col(component).data() + columns->offsets(j).point;
  }
};

class ProductClusters;  // product_clusters.hpp

/// K priors or posteriors.
struct ProductPosterior {
  /// the collapsed form, row by row
  using Clusters = ProductClusters;
  SharedColumns columns;
  Matrix values;  // posterior size x K

  int components() const { return int(values.cols()); }
  int dimension() const { return columns->count(); }
  const double *column(int component, int j) const {
    return values.col(component).data() + columns->offsets(j).posterior;
  }
  double *column(int component, int j) {
    return values.col(component).data() + columns->offsets(j).posterior;
  }
};

inline void exchange(StateNumbers &numbers, ProductPoint &point) { numbers.dense(point.values); }
inline void exchange(StateNumbers &numbers, ProductPosterior &q) { numbers.dense(q.values); }

/// Sufficient statistics of K weighted groups of rows. A column's statistics cover the rows in
/// which it is not missing.
struct ProductStatistics {
  SharedColumns columns;
  Vector count;    // K: sum of weights
  Matrix values;   // statistics size x K
  Vector carrier;  // K: weighted sum of h(x), which does not depend on parameters

  int components() const { return int(count.size()); }
  int dimension() const { return columns->count(); }
  double total() const { return count.sum(); }

  /// Multiplies every weight by a factor >= 0.
  void scale(double factor);
};

/// The bounds of every column (ColumnBounds), which keep maximum likelihood regular (001).
struct ProductFloor {
  double minimum = 1e-6;
  // d, of the columns over all rows; 1 for constant columns and those without a variance
  Vector variance;
  /// d: the column has one value only
  std::vector<bool> constant;
};

namespace detail {

/// f(component, column's index, column, offsets) for all components and columns; polls.
template <class Function>
void for_each_column(const Columns &columns, Eigen::Index components, Function f) {
  for (Eigen::Index k = 0; k < components; ++k) {
    poll_here();
    columns.for_each(
        [&](int j, const Column &column, const ColumnOffsets &at) { f(k, j, column, at); });
  }
}

}  // namespace detail

/// The posterior given the statistics: exact for hard assignments, q of variational inference for
/// soft ones.
BAYES_API ProductPosterior posterior(const ProductStatistics &statistics,
                                     const ProductPosterior &prior);
BAYES_API ProductPosterior posterior(const ProductStatistics &statistics,
                                     const ProductPosterior &prior, const ProductPosterior &);

/// A component with less than this share of the total weight is dropped: it gets weight 0 and
/// retains its parameters.
inline constexpr double dead_product_share = 1e-12;

/// The maximiser of the expected log-likelihood under the floor.
BAYES_API ProductPoint maximum_likelihood(const ProductStatistics &statistics,
                                          const ProductPoint &previous, const ProductFloor &floor);

/// For every component: is a column held at the floor, beyond which the likelihood would be higher?
/// Constant columns are at the floor in every component, and are ignored.
BAYES_API std::vector<bool> at_floor(const ProductPoint &point, const ProductFloor &floor);

/// The smallest number of rows with which the variances of a component are meaningful; 0 without
/// columns that have a variance as parameter.
BAYES_API double rows_needed(const ProductPoint &point);

/// The mode of the parameters given the statistics (of precisions, not variances). The prior must
/// have one, see Column::has_mode.
BAYES_API ProductPoint maximum_posterior(const ProductStatistics &statistics,
                                         const ProductPosterior &prior);

/// log p(parameters) at a point, summed over the components.
BAYES_API double log_prior(const ProductPoint &point, const ProductPosterior &prior);

/// KL(q || prior) summed over the components.
BAYES_API double divergence(const ProductPosterior &q, const ProductPosterior &prior);

/// A natural-gradient step of size rho in [0, 1] from q towards `target` (002 L8).
BAYES_API ProductPosterior natural_gradient_step(const ProductPosterior &q,
                                                 const ProductPosterior &target, double rho);

/// Posterior means (of a normal column the mean, and the inverse of the mean precision).
BAYES_API ProductPoint point_estimate(const ProductPosterior &q);

/// log p(rows of every group), exact for hard assignments with weights 1.
BAYES_API Vector log_marginal_likelihoods(const ProductStatistics &statistics,
                                          const ProductPosterior &prior);
BAYES_API double log_marginal_likelihood(const ProductStatistics &statistics,
                                         const ProductPosterior &prior);

/// Parameters of all components, drawn from their posterior.
BAYES_API ProductPoint draw(const ProductPosterior &q, Random &random);

/// The components in this order: a subset, a permutation, or repetitions.
BAYES_API ProductPosterior pick(const ProductPosterior &q, const std::vector<int> &order);
BAYES_API ProductPoint pick(const ProductPoint &point, const std::vector<int> &order);

/// k copies of the first component.
BAYES_API ProductPosterior replicate(const ProductPosterior &q, int k);

/// Components always have a collapsed form.
inline bool has_clusters(const ProductPosterior &) { return true; }

/// The numbers that represent a component.
inline double parameters_of(const ProductPosterior &q) { return double(q.values.rows()); }

/// The numbers that a sampler or learner holds per component; sums have one number per lane.
BAYES_API double working_numbers(const ProductPosterior &q, int threads);

inline ProductPosterior untied(const ProductPosterior &q) { return q; }

/// sum += factor x term, elementwise, for averages over draws.
BAYES_API void accumulate(ProductPoint &sum, const ProductPoint &term, double factor);

/// The components of both.
BAYES_API ProductPosterior joined(const ProductPosterior &first, const ProductPosterior &second);

/// A random row at a component's point: writes d numbers.
BAYES_API void sample(const ProductPoint &point, int component, Random &random, double *x);

}  // namespace bayes
