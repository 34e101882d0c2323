// The parameters of products of columns in results.
#pragma once

#include <vector>

#include "families/parameter.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// The parameters of column j of component k at the point, without summaries of a posterior; a
/// variance as its root, the standard deviation.
BAYES_API std::vector<Parameter> element_parameters(const ProductPoint &point, int k, int j);

/// The known parameters of column j, which are not estimated, such as the number of trials of a
/// binomial.
BAYES_API std::vector<Parameter> known_parameters(const ProductPoint &point, int k, int j);

/// Appends the marginal posteriors of the element_parameters().
BAYES_API void add_marginals(const ProductPosterior &q, int k, int j, std::vector<Marginal> &out);

}  // namespace bayes
