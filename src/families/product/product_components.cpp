#include "families/product/product_components.hpp"

#include "families/product/product_scorer.hpp"

namespace bayes {

void ProductStatistics::scale(double factor) {
  count *= factor;
  carrier *= factor;
  for (Eigen::Index k = 0; k < values.cols(); ++k)
    columns->for_each([&](int, const Column &column, const ColumnOffsets &at) {
      column.scale(factor, values.col(k).data() + at.statistics);
    });
}

ProductPosterior posterior(const ProductStatistics &statistics, const ProductPosterior &prior) {
  ProductPosterior out = prior;
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.posterior(statistics.values.col(k).data() + at.statistics,
                                             prior.values.col(k).data() + at.posterior,
                                             out.values.col(k).data() + at.posterior);
                          });
  return out;
}

ProductPosterior posterior(const ProductStatistics &statistics, const ProductPosterior &prior,
                           const ProductPosterior &) {
  return posterior(statistics, prior);
}

ProductPoint maximum_likelihood(const ProductStatistics &statistics, const ProductPoint &previous,
                                const ProductFloor &floor) {
  ProductPoint out = previous;
  const double least = dead_product_share * statistics.total();
  detail::for_each_column(
      *previous.columns, previous.values.cols(),
      [&](Eigen::Index k, int j, const Column &column, const ColumnOffsets &at) {
        column.maximum_likelihood(statistics.values.col(k).data() + at.statistics,
                                  previous.values.col(k).data() + at.point,
                                  {floor.minimum, floor.variance(j), least},
                                  out.values.col(k).data() + at.point);
      });
  return out;
}

std::vector<bool> at_floor(const ProductPoint &point, const ProductFloor &floor) {
  std::vector<bool> out(std::size_t(point.components()), false);
  detail::for_each_column(
      *point.columns, point.values.cols(),
      [&](Eigen::Index k, int j, const Column &column, const ColumnOffsets &at) {
        if (!floor.constant[std::size_t(j)] &&
            column.at_bound(point.values.col(k).data() + at.point,
                            {floor.minimum, floor.variance(j), 0}))
          out[std::size_t(k)] = true;
      });
  return out;
}

double rows_needed(const ProductPoint &point) {
  double needed = 0;
  point.columns->for_each([&](int, const Column &column, const ColumnOffsets &) {
    for (const char *const name : column.parameters)
      if (std::string_view(name) == "variance") needed = 3;
  });
  return needed;
}

ProductPoint maximum_posterior(const ProductStatistics &statistics, const ProductPosterior &prior) {
  ProductPoint out{prior.columns, Matrix(prior.columns->size().point, prior.values.cols())};
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.maximum_posterior(
                                statistics.values.col(k).data() + at.statistics,
                                prior.values.col(k).data() + at.posterior,
                                out.values.col(k).data() + at.point);
                          });
  return out;
}

double log_prior(const ProductPoint &point, const ProductPosterior &prior) {
  double total = 0;
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            total += column.log_prior(point.values.col(k).data() + at.point,
                                                      prior.values.col(k).data() + at.posterior);
                          });
  return total;
}

double divergence(const ProductPosterior &q, const ProductPosterior &prior) {
  double total = 0;
  detail::for_each_column(*prior.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            total += column.divergence(q.values.col(k).data() + at.posterior,
                                                       prior.values.col(k).data() + at.posterior);
                          });
  return total;
}

ProductPosterior natural_gradient_step(const ProductPosterior &q, const ProductPosterior &target,
                                       double rho) {
  ProductPosterior out = q;
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.natural_gradient_step(q.values.col(k).data() + at.posterior,
                                                         target.values.col(k).data() + at.posterior,
                                                         rho,
                                                         out.values.col(k).data() + at.posterior);
                          });
  return out;
}

ProductPoint point_estimate(const ProductPosterior &q) {
  ProductPoint out{q.columns, Matrix(q.columns->size().point, q.values.cols())};
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.point_estimate(q.values.col(k).data() + at.posterior,
                                                  out.values.col(k).data() + at.point);
                          });
  return out;
}

Vector log_marginal_likelihoods(const ProductStatistics &statistics,
                                const ProductPosterior &prior) {
  Vector out = statistics.carrier;
  detail::for_each_column(*prior.columns, prior.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            out(k) += column.log_marginal_likelihood(
                                statistics.values.col(k).data() + at.statistics,
                                prior.values.col(k).data() + at.posterior);
                          });
  return out;
}

double log_marginal_likelihood(const ProductStatistics &statistics, const ProductPosterior &prior) {
  return log_marginal_likelihoods(statistics, prior).sum();
}

ProductPoint draw(const ProductPosterior &q, Random &random) {
  ProductPoint out{q.columns, Matrix(q.columns->size().point, q.values.cols())};
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.draw(q.values.col(k).data() + at.posterior, random,
                                        out.values.col(k).data() + at.point);
                          });
  return out;
}

ProductPosterior pick(const ProductPosterior &q, const std::vector<int> &order) {
  return {q.columns, pick_columns(q.values, order)};
}

ProductPoint pick(const ProductPoint &point, const std::vector<int> &order) {
  return {point.columns, pick_columns(point.values, order)};
}

ProductPosterior replicate(const ProductPosterior &q, int k) {
  return pick(q, std::vector<int>(std::size_t(k), 0));
}

double working_numbers(const ProductPosterior &q, int threads) {
  const ColumnOffsets &each = q.columns->size();
  return 6.0 * each.posterior + 2.0 * each.forms +
         (1.0 + threads) * ProductScorer::sums_per_component(*q.columns);
}

void accumulate(ProductPoint &sum, const ProductPoint &term, double factor) {
  sum.values += factor * term.values;
}

ProductPosterior joined(const ProductPosterior &first, const ProductPosterior &second) {
  ProductPosterior out{second.columns,
                       Matrix(second.values.rows(), first.values.cols() + second.values.cols())};
  if (first.values.cols()) out.values.leftCols(first.values.cols()) = first.values;
  out.values.rightCols(second.values.cols()) = second.values;
  return out;
}

void sample(const ProductPoint &point, int component, Random &random, double *x) {
  point.columns->for_each([&](int j, const Column &column, const ColumnOffsets &at) {
    x[j] = column.value(column.sample(point.values.col(component).data() + at.point, random));
  });
}

}  // namespace bayes
