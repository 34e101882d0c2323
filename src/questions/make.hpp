// How models make their flat mixtures: the distributions of elements under components that are
// known at a point, or by a posterior under which their parameters are integrated out.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "families/normal/normal_independent.hpp"
#include "families/normal/normal_wishart.hpp"
#include "families/product/product_components.hpp"
#include "questions/row_distribution.hpp"

namespace bayes {

/// 0 ... n - 1
std::vector<int> all_elements(int n);

/// Normal elements, at a point.
std::unique_ptr<RowPart> row_part(std::vector<int> elements, const NormalPoint &point);
/// Normal elements with their parameters integrated out. `sharing`: the number of consecutive
/// components that share one unknown covariance.
std::unique_ptr<RowPart> row_part(std::vector<int> elements, const NormalWishart &q,
                                  int sharing = 1);
/// Columns of product families with their parameters integrated out. `alphas`: category_alphas of
/// the model.
std::unique_ptr<RowPart> row_part(std::vector<int> elements, const ProductPosterior &q,
                                  const Vector &alphas);
/// The same at a point. `counts`: the expected numbers of rows of the components.
std::unique_ptr<RowPart> row_part(std::vector<int> elements, const ProductPoint &point,
                                  const Vector &counts, const Vector &alphas);

/// The components of one mixture, with these weights.
std::vector<FlatComponent> flat_components(const Vector &weights);
/// The same K components in every draw, with these weights in each ([draw][component]). `rows`: the
/// number of rows that all weights of a draw stand for (FlatComponent::mass).
std::vector<FlatComponent> flat_components(const std::vector<double> &weights, int draws,
                                           double rows = std::numeric_limits<double>::infinity());

}  // namespace bayes
