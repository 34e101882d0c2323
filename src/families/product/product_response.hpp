// Posteriors of products of columns for linear response (fit/linear_response.hpp).
#pragma once

#include <vector>

#include "families/posterior_factor.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// How many natural parameters there are.
inline double natural_size(const ProductPosterior &q) { return double(q.values.size()); }

/// Those of q, component by component, column by column; `about` has the origins of locations.
Vector natural_parameters(const ProductPosterior &q, const ProductPosterior &about);
/// Their inverse.
ProductPosterior from_natural_parameters(const Vector &natural, const ProductPosterior &about);
/// About q itself, a factor for every column of every component, in the same order. The quantities
/// are the named parameters.
std::vector<PosteriorFactor> posterior_factors(const ProductPosterior &q);

/// What linear response found for these quantities, point size x K; 0 for numbers of a point that
/// are not named, and where there is no standard deviation.
Matrix named_deviations(const Columns &columns, const Vector &found);

}  // namespace bayes
