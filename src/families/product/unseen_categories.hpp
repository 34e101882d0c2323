// How probable a category is that no row of the fit had.
//
// The categories of a column have Dirichlet parameters: what the prior gives each, a, and the
// component's rows that have it. One more category would have a alone, so given the component its
// probability is
//
//   a / (a + sum of the component's Dirichlet parameters)
//
// which is a / (n + (V + 1) a) for n rows and V categories under a symmetric prior. At a point
// estimate n is the expected number of the component's rows. Categories that are known keep their
// probabilities: they are not rescaled.
//
// Log densities of rows have this factor in each component, so that a model pays for what it does
// not know. What compares components has not: there such an element is missing.
#pragma once

#include <vector>

#include "document/model.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// d: what the prior gives each category of a column; 0 for columns without categories.
BAYES_API Vector category_alphas(const ProductPosterior &prior);
/// The same of a model that stores no prior, from its options; 1 if they do not say.
BAYES_API Vector category_alphas(const Columns &columns, const ModelInfo &info);

class BAYES_API UnseenCategories {
 public:
  UnseenCategories(const ProductPosterior &q, const Vector &alphas);
  /// `counts`: K expected numbers of rows
  UnseenCategories(const ProductPoint &point, const Vector &counts, const Vector &alphas);

  /// Adds to the log densities of K components what the elements of row x add that are unseen
  /// categories (base/unseen.hpp).
  void add(const double *x, double *out) const;
  /// The same of one column, which has categories.
  void add(int column, double *out) const;

 private:
  /// `sum(k, j)`: of component k's Dirichlet parameters
  template <class Sum>
  void fill(const Columns &columns, int components, const Vector &alphas, Sum sum);
  /// the columns that have categories, and for each K logarithms
  std::vector<int> columns_;
  Matrix logs_;
};

}  // namespace bayes
