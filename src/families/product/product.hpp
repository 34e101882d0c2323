// Rows of independent columns, each of a family of its own: K components of a product distribution,
// at a point or with a conjugate posterior.
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
    return values.col(component).data() + columns->place(j).point;
  }
};

class ProductClusters;  // families/product_clusters.hpp

/// K priors or posteriors.
struct ProductPosterior {
  /// the collapsed form, row by row
  using Clusters = ProductClusters;
  SharedColumns columns;
  Matrix values;  // posterior size x K

  int components() const { return int(values.cols()); }
  int dimension() const { return columns->count(); }
  const double *column(int component, int j) const {
    return values.col(component).data() + columns->place(j).posterior;
  }
  double *column(int component, int j) {
    return values.col(component).data() + columns->place(j).posterior;
  }
};

/// Sufficient statistics of K weighted groups of rows. Columns count the rows in which they are not
/// missing.
struct ProductStatistics {
  SharedColumns columns;
  Vector count;   // K: sum of weights
  Matrix values;  // statistics size x K
  Vector base;    // K: weighted sum of h(x), the part of the log density that no parameter changes

  int components() const { return int(count.size()); }
  int dimension() const { return columns->count(); }
  double total() const { return count.sum(); }

  /// Every weight multiplied by a number >= 0.
  void scale(double factor) {
    count *= factor;
    base *= factor;
    for (Eigen::Index k = 0; k < values.cols(); ++k)
      columns->for_each([&](int, const auto &family, const ColumnPlaces &at) {
        family.scale(factor, values.col(k).data() + at.statistics);
      });
  }
};

/// What keeps maximum likelihood regular (001): no probability below `minimum` or above 1 -
/// minimum, no rate below it, no variance below it times the column's over all rows.
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
inline ProductPosterior posterior(const ProductStatistics &statistics,
                                  const ProductPosterior &prior) {
  ProductPosterior out = prior;
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            family.posterior(statistics.values.col(k).data() + at.statistics,
                                             prior.values.col(k).data() + at.posterior,
                                             out.values.col(k).data() + at.posterior);
                          });
  return out;
}
inline ProductPosterior posterior(const ProductStatistics &statistics,
                                  const ProductPosterior &prior, const ProductPosterior &) {
  return posterior(statistics, prior);
}

/// A component with less than this share of all weight has died: it keeps its parameters, with
/// weight 0.
inline constexpr double dead_product_share = 1e-12;

/// The maximiser of the expected log-likelihood under the floor.
inline ProductPoint maximum_likelihood(const ProductStatistics &statistics,
                                       const ProductPoint &previous, const ProductFloor &floor) {
  ProductPoint out = previous;
  const double least = dead_product_share * statistics.total();
  detail::for_each_column(*previous.columns, previous.values.cols(),
                          [&](Eigen::Index k, int j, const auto &family, const ColumnPlaces &at) {
                            family.maximum_likelihood(
                                statistics.values.col(k).data() + at.statistics,
                                previous.values.col(k).data() + at.point,
                                {floor.minimum, floor.variance(j), least},
                                out.values.col(k).data() + at.point);
                          });
  return out;
}

/// The mode of the parameters given the statistics (of precisions, not variances). The prior must
/// have one: a, b, category_alpha, shape >= 1.
inline ProductPoint maximum_posterior(const ProductStatistics &statistics,
                                      const ProductPosterior &prior) {
  ProductPoint out{prior.columns, Matrix(prior.columns->size().point, prior.values.cols())};
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            family.maximum_posterior(
                                statistics.values.col(k).data() + at.statistics,
                                prior.values.col(k).data() + at.posterior,
                                out.values.col(k).data() + at.point);
                          });
  return out;
}

/// log p(parameters) at a point, summed over the components.
inline double log_prior(const ProductPoint &point, const ProductPosterior &prior) {
  double total = 0;
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            total += family.log_prior(point.values.col(k).data() + at.point,
                                                      prior.values.col(k).data() + at.posterior);
                          });
  return total;
}

/// KL(q || prior) summed over the components.
inline double divergence(const ProductPosterior &q, const ProductPosterior &prior) {
  double total = 0;
  detail::for_each_column(*prior.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            total += family.divergence(q.values.col(k).data() + at.posterior,
                                                       prior.values.col(k).data() + at.posterior);
                          });
  return total;
}

/// q moved by a step of size rho in [0, 1] towards `target` in natural parameters (002 L8).
inline ProductPosterior blend(const ProductPosterior &q, const ProductPosterior &target,
                              double rho) {
  ProductPosterior out = q;
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            family.blend(q.values.col(k).data() + at.posterior,
                                         target.values.col(k).data() + at.posterior, rho,
                                         out.values.col(k).data() + at.posterior);
                          });
  return out;
}

/// Posterior means (of a normal column the mean, and the inverse of the mean precision).
inline ProductPoint point_estimate(const ProductPosterior &q) {
  ProductPoint out{q.columns, Matrix(q.columns->size().point, q.values.cols())};
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            family.point_estimate(q.values.col(k).data() + at.posterior,
                                                  out.values.col(k).data() + at.point);
                          });
  return out;
}

/// log p(rows of every group): exact for hard groups with weights 1.
inline Vector log_marginal_likelihoods(const ProductStatistics &statistics,
                                       const ProductPosterior &prior) {
  Vector out = statistics.base;
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            out(k) += family.log_marginal_likelihood(
                                statistics.values.col(k).data() + at.statistics,
                                prior.values.col(k).data() + at.posterior);
                          });
  return out;
}
inline double log_marginal_likelihood(const ProductStatistics &statistics,
                                      const ProductPosterior &prior) {
  return log_marginal_likelihoods(statistics, prior).sum();
}

/// Parameters of all components, drawn from their posterior.
inline ProductPoint draw(const ProductPosterior &q, Random &random) {
  ProductPoint out{q.columns, Matrix(q.columns->size().point, q.values.cols())};
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const auto &family, const ColumnPlaces &at) {
                            family.draw(q.values.col(k).data() + at.posterior, random,
                                        out.values.col(k).data() + at.point);
                          });
  return out;
}

namespace detail {
inline Matrix pick_columns(const Matrix &from, const std::vector<int> &order) {
  Matrix out(from.rows(), Eigen::Index(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) out.col(Eigen::Index(i)) = from.col(order[i]);
  return out;
}
}  // namespace detail

/// The components in this order: a subset, a permutation, or repetitions.
inline ProductPosterior pick(const ProductPosterior &q, const std::vector<int> &order) {
  return {q.columns, detail::pick_columns(q.values, order)};
}
inline ProductPoint pick(const ProductPoint &point, const std::vector<int> &order) {
  return {point.columns, detail::pick_columns(point.values, order)};
}

/// k copies of the first component.
inline ProductPosterior replicate(const ProductPosterior &q, int k) {
  return pick(q, std::vector<int>(std::size_t(k), 0));
}

/// Components have a collapsed form.
inline bool has_clusters(const ProductPosterior &) { return true; }

/// Numbers that a component takes.
inline double parameters_of(const ProductPosterior &q) { return double(q.values.rows()); }

/// Numbers that a sampler or a learner holds for a component on so many threads; sums are held lane
/// by lane.
inline double working_numbers(const ProductPosterior &q, int threads) {
  const ColumnPlaces &each = q.columns->size();
  return 6.0 * each.posterior + 2.0 * each.forms +
         (1.0 + threads) * (double(each.sums) * simd::lanes + q.columns->count());
}

inline ProductPosterior untied(const ProductPosterior &q) { return q; }

/// sum += factor x term, number by number: for averages over draws.
inline void accumulate(ProductPoint &sum, const ProductPoint &term, double factor) {
  sum.values += factor * term.values;
}

/// The components of both.
inline ProductPosterior joined(const ProductPosterior &first, const ProductPosterior &second) {
  ProductPosterior out{second.columns,
                       Matrix(second.values.rows(), first.values.cols() + second.values.cols())};
  if (first.values.cols()) out.values.leftCols(first.values.cols()) = first.values;
  out.values.rightCols(second.values.cols()) = second.values;
  return out;
}

/// A random row at a component's point: writes d numbers.
inline void sample(const ProductPoint &point, int component, Random &random, double *x) {
  point.columns->for_each([&](int j, const auto &family, const ColumnPlaces &at) {
    x[j] = family.value(family.sample(point.values.col(component).data() + at.point, random));
  });
}

}  // namespace bayes

#include "families/product/product_clusters.hpp"
#include "families/product/product_scorer.hpp"
