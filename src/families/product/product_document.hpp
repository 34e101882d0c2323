// The columns and components of product models as members of a model's document, and back, with
// every number checked.
#pragma once

#include "document/members.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// Writes member columns, the likelihood of every column. If there are categorical columns, also
/// writes members categories, the number of categories of each, and category_values, the
/// categories, one column after the other.
BAYES_API void write_columns(Document &document, const Columns &columns);

BAYES_API SharedColumns read_product_columns(const MemberReader &in, int d);

/// A member for every family, with the keys of its prior.
BAYES_API void write_posterior(Document &document, const ProductPosterior &q);
BAYES_API ProductPosterior read_posterior(const MemberReader &in, const SharedColumns &columns,
                                          int k);

/// A member for every family, with its parameters.
BAYES_API void write_point(Document &document, const ProductPoint &point);
BAYES_API ProductPoint read_point(const MemberReader &in, const SharedColumns &columns, int k);

}  // namespace bayes
