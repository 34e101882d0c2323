// Posteriors of products of columns for linear response (fit/linear_response.hpp).
#pragma once

#include <vector>

#include "families/posterior_factor.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// The number of natural parameters.
inline double natural_size(const ProductPosterior &q) { return double(q.values.size()); }

/// The natural parameters of q, component by component, column by column; `about` has the origins
/// of locations.
Vector natural_parameters(const ProductPosterior &q, const ProductPosterior &about);
/// The inverse of natural_parameters().
ProductPosterior from_natural_parameters(const Vector &natural, const ProductPosterior &about);
/// A factor for every column of every component, in the same order, with q itself as the origin.
/// The quantities are the named parameters.
std::vector<PosteriorFactor> posterior_factors(const ProductPosterior &q);

/// The standard deviations `found` by linear response for these quantities, as point size x K; 0
/// for numbers of a point that are not named parameters, and where none exists.
Matrix named_deviations(const Columns &columns, const Vector &found);

}  // namespace bayes
