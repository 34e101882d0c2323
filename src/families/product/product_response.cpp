#include "families/product/product_response.hpp"

#include <cmath>

namespace bayes {
namespace {

int quantities_of(const Column &column) {
  return int(column.parameters.size()) * column.numbers_per_name();
}

}  // namespace

Vector natural_parameters(const ProductPosterior &q, const ProductPosterior &about) {
  Matrix out(q.values.rows(), q.values.cols());
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.natural_parameters(q.values.col(k).data() + at.posterior,
                                                      about.values.col(k).data() + at.posterior,
                                                      out.col(k).data() + at.posterior);
                          });
  return out.reshaped();
}

ProductPosterior from_natural_parameters(const Vector &natural, const ProductPosterior &about) {
  ProductPosterior out = about;
  const double *const from = natural.data();
  detail::for_each_column(*about.columns, about.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            column.from_natural_parameters(
                                from + k * about.values.rows() + at.posterior,
                                about.values.col(k).data() + at.posterior,
                                out.values.col(k).data() + at.posterior);
                          });
  return out;
}

std::vector<PosteriorFactor> posterior_factors(const ProductPosterior &q) {
  std::vector<PosteriorFactor> out;
  detail::for_each_column(*q.columns, q.values.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            const int n = column.size().posterior, m = quantities_of(column);
                            const double *const own = q.values.col(k).data() + at.posterior;
                            PosteriorFactor factor{Matrix(n, n), Matrix(n, m), Vector(m)};
                            column.covariances(own, factor.covariance.data(),
                                               factor.with_quantities.data());
                            column.deviations(own, factor.deviation.data());
                            out.push_back(std::move(factor));
                          });
  return out;
}

Matrix named_deviations(const Columns &columns, const Vector &found) {
  Eigen::Index each = 0, next = 0;
  columns.for_each(
      [&](int, const Column &column, const ColumnOffsets &) { each += quantities_of(column); });
  Matrix out = Matrix::Zero(columns.size().point, found.size() / each);
  detail::for_each_column(columns, out.cols(),
                          [&](Eigen::Index k, int, const Column &column, const ColumnOffsets &at) {
                            for (int i = 0; i < quantities_of(column); ++i) {
                              const double deviation = found(next++);
                              if (std::isfinite(deviation)) out(at.point + i, k) = deviation;
                            }
                          });
  return out;
}

}  // namespace bayes
