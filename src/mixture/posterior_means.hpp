// Posterior means of a component: the expected row, and for normals the covariance.
#pragma once

#include <limits>
#include <vector>

#include "families/normal/normal_wishart.hpp"
#include "families/product/product.hpp"

namespace bayes {

/// mean: d numbers, E[mu]; covariance: d x d, E[Lambda]^-1 = B / a.
inline void posterior_means(const NormalWishart &q, int component, std::vector<double> &mean,
                            std::vector<double> &covariance) {
  const Vector m = q.m.col(component);
  mean.assign(m.data(), m.data() + m.size());
  const Matrix full =
      dense_form(q.shape, q.B[std::size_t(q.shape.index(component))], q.dimension()) /
      q.a(q.shape.index(component));
  covariance.assign(full.data(), full.data() + full.size());
}

/// mean: d numbers, NaN for an element that is a category, infinite for one without mean.
inline void posterior_means(const ProductPosterior &q, int component, std::vector<double> &mean,
                            std::vector<double> &covariance) {
  mean.resize(std::size_t(q.dimension()));
  covariance.clear();
  q.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    mean[std::size_t(j)] = column.predictive_mean(q.column(component, j));
  });
}

}  // namespace bayes
