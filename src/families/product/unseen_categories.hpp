// The probability of a category that does not occur in the rows of the fit.
//
// The Dirichlet parameter of a category is a, the prior's, plus the number of the component's rows
// with this category. A category without rows would have just a, so given the component its
// probability is
//
//   a / (a + sum of the component's Dirichlet parameters)
//
// which is a / (n + (V + 1) a) for n rows and V categories under a symmetric prior. At a point
// estimate n is the expected number of the component's rows. Known categories keep their
// probabilities, which are not rescaled.
//
// Log densities of rows include this factor in each component, so that unseen categories lower the
// score of a model. Comparisons of components, such as membership probabilities, treat such an
// element as missing instead.
#pragma once

#include <vector>

#include "document/model.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// d numbers: the prior's parameter per category of each column (the mean over its categories); 0
/// for columns without categories.
BAYES_API Vector category_alphas(const ProductPosterior &prior);
/// The same for a model that does not store its prior, from its options; 1 if they contain none.
BAYES_API Vector category_alphas(const Columns &columns, const ModelInfo &info);

class BAYES_API UnseenCategories {
 public:
  UnseenCategories(const ProductPosterior &q, const Vector &alphas);
  /// `counts`: K expected numbers of rows
  UnseenCategories(const ProductPoint &point, const Vector &counts, const Vector &alphas);

  /// Adds the log probabilities of the unseen categories in row x to the log densities of K
  /// components (base/unseen.hpp).
  void add(const double *x, double *out) const;
  /// The same for an unseen category in one column, which must have categories.
  void add(int column, double *out) const;
  /// of such a category in component k
  double log_probability(int column, int k) const { return logs_(k, place_of(column)); }

 private:
  /// the place of a column in columns_
  Eigen::Index place_of(int column) const;
  /// `sum(k, j)`: the sum of component k's Dirichlet parameters for column j
  template <class Sum>
  void fill(const Columns &columns, int components, const Vector &alphas, Sum sum);
  /// the columns with categories, and for each of them K log probabilities
  std::vector<int> columns_;
  Matrix logs_;
};

}  // namespace bayes
