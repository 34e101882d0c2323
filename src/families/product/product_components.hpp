// Rows of independent columns, each of a family of its own: K components of a product distribution,
// at a point or with a conjugate posterior, and what learners and samplers ask of them.
//
// Everything is a loop over columns (column.hpp); what is said of normals in normal_point.hpp and
// normal_wishart.hpp holds here. A NaN in a row is a missing element, of which the likelihood says
// nothing: it is integrated out.
#pragma once

#include <memory>
#include <utility>

#include "base/control.hpp"
#include "base/linalg.hpp"
#include "families/product/column_families.hpp"

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

/// Sufficient statistics of K weighted groups of rows. Columns count the rows in which they are not
/// missing.
struct ProductStatistics {
  SharedColumns columns;
  Vector count;    // K: sum of weights
  Matrix values;   // statistics size x K
  Vector carrier;  // K: weighted sum of h(x), the part of the log density that no parameter changes

  int components() const { return int(count.size()); }
  int dimension() const { return columns->count(); }
  double total() const { return count.sum(); }

  /// Every weight multiplied by a number >= 0.
  void scale(double factor);
};

/// What keeps maximum likelihood regular (001): the bounds of every column (ColumnBounds).
struct ProductFloor {
  double minimum = 1e-6;
  // d, of the columns over all rows; 1 for constant ones and where it means nothing
  Vector variance;
};

namespace detail {

/// f(component, column, family, place) for all components and columns, with polls.
template <class Function>
void for_each_column(const Columns &columns, Eigen::Index components, Function f) {
  for (Eigen::Index k = 0; k < components; ++k) {
    poll_here();
    columns.for_each(
        [&](int j, const auto &family, const ColumnPlaces &at) { f(k, j, family, at); });
  }
}

}  // namespace detail

/// The posterior after the statistics, exact for hard groups, and q of variational inference for
/// soft ones.
BAYES_API ProductPosterior posterior(const ProductStatistics &statistics,
                                     const ProductPosterior &prior);
BAYES_API ProductPosterior posterior(const ProductStatistics &statistics,
                                     const ProductPosterior &prior, const ProductPosterior &);

/// A component with less than this share of all weight has died: it keeps its parameters, with
/// weight 0.
inline constexpr double dead_product_share = 1e-12;

/// The maximiser of the expected log-likelihood under the floor.
BAYES_API ProductPoint maximum_likelihood(const ProductStatistics &statistics,
                                          const ProductPoint &previous, const ProductFloor &floor);

/// The mode of the parameters given the statistics (of precisions, not variances). The prior must
/// have one, as has_mode of the columns' families says.
BAYES_API ProductPoint maximum_posterior(const ProductStatistics &statistics,
                                         const ProductPosterior &prior);

/// log p(parameters) at a point, summed over the components.
BAYES_API double log_prior(const ProductPoint &point, const ProductPosterior &prior);

/// KL(q || prior) summed over the components.
BAYES_API double divergence(const ProductPosterior &q, const ProductPosterior &prior);

/// q moved by a step of size rho in [0, 1] towards `target` in natural parameters (002 L8).
BAYES_API ProductPosterior blend(const ProductPosterior &q, const ProductPosterior &target,
                                 double rho);

/// Posterior means (of a normal column the mean, and the inverse of the mean precision).
BAYES_API ProductPoint point_estimate(const ProductPosterior &q);

/// log p(rows of every group): exact for hard groups with weights 1.
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

/// Components have a collapsed form.
inline bool has_clusters(const ProductPosterior &) { return true; }

/// Numbers that a component takes.
inline double parameters_of(const ProductPosterior &q) { return double(q.values.rows()); }

/// Numbers that a sampler or a learner holds for a component on so many threads; sums are held lane
/// by lane.
BAYES_API double working_numbers(const ProductPosterior &q, int threads);

inline ProductPosterior untied(const ProductPosterior &q) { return q; }

/// sum += factor x term, number by number: for averages over draws.
BAYES_API void accumulate(ProductPoint &sum, const ProductPoint &term, double factor);

/// The components of both.
BAYES_API ProductPosterior joined(const ProductPosterior &first, const ProductPosterior &second);

/// A random row at a component's point: writes d numbers.
BAYES_API void sample(const ProductPoint &point, int component, Random &random, double *x);

}  // namespace bayes
