// Initialization of products of columns: rows of a sample that are far from one another, or any
// rows.
#pragma once

#include <vector>

#include "data/rows.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// Draws rows of a sample.
class BAYES_API ProductStarts {
 public:
  /// `variance`: of every column, for families that need it. The sample is copied.
  ProductStarts(MemoryRows &sample, const Columns &columns, const Vector &variance);

  /// k distinct rows, in proportion to their weights.
  std::vector<Eigen::Index> anywhere(int k, Random &random) const;

  /// k distinct rows, the first in proportion to its weight, every other in proportion to weight x
  /// squared distance to the nearest one drawn before (Arthur and Vassilvitskii 2007).
  std::vector<Eigen::Index> spread(int k, Random &random, Control &control) const;

  /// These rows, as columns.
  Matrix rows(const std::vector<Eigen::Index> &which) const;

 private:
  double between(Eigen::Index a, Eigen::Index b) const;

  Matrix rows_, stabilised_;  // d x n
  std::vector<double> weight_;
  std::vector<bool> ordered_;
};

/// Components with one row each: the posterior given each column of `rows` alone.
BAYES_API ProductPosterior one_row_posteriors(const Matrix &rows, const ProductPosterior &prior);

}  // namespace bayes
