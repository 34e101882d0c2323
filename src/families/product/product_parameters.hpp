// The parameters of products of columns, as results show them.
#pragma once

#include <vector>

#include "families/parameter.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// Those of column j of component k at the point, without what a posterior says of them; a
/// variance as its root.
BAYES_API std::vector<Parameter> element_parameters(const ProductPoint &point, int k, int j);

/// Those that are known of column j and not estimated, such as the number of trials of a binomial.
BAYES_API std::vector<Parameter> known_parameters(const ProductPoint &point, int k, int j);

/// Adds the distributions of the former.
BAYES_API void add_marginals(const ProductPosterior &q, int k, int j, std::vector<Marginal> &out);

}  // namespace bayes
