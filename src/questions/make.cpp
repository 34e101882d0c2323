#include "questions/make.hpp"

#include <numeric>

#include "questions/elliptical_part.hpp"
#include "questions/product_part.hpp"

namespace bayes {

std::vector<int> all_elements(int n) {
  std::vector<int> out(std::size_t(n), 0);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::unique_ptr<RowPart> row_part(std::vector<int> elements, const NormalPoint &point) {
  return std::make_unique<EllipticalPart>(std::move(elements), ellipses(point));
}

std::unique_ptr<RowPart> row_part(std::vector<int> elements, const NormalWishart &q, int sharing) {
  // Each element has its own unknown variance.
  if (!q.shape.dense && !q.shape.isotropic)
    return std::make_unique<ProductPart>(std::move(elements), normal_columns(q),
                                         Vector::Zero(q.dimension()));
  return std::make_unique<EllipticalPart>(std::move(elements), ellipses(q), sharing);
}

std::unique_ptr<RowPart> row_part(std::vector<int> elements, const ProductPosterior &q,
                                  const Vector &alphas) {
  return std::make_unique<ProductPart>(std::move(elements), q, alphas);
}

std::unique_ptr<RowPart> row_part(std::vector<int> elements, const ProductPoint &point,
                                  const Vector &counts, const Vector &alphas) {
  return std::make_unique<ProductPart>(std::move(elements), point, counts, alphas);
}

std::vector<FlatComponent> flat_components(const Vector &weights) {
  return flat_components(std::vector<double>(weights.data(), weights.data() + weights.size()), 1);
}

std::vector<FlatComponent> flat_components(const std::vector<double> &weights, int draws,
                                           double rows) {
  std::vector<FlatComponent> out;
  const int k = int(weights.size()) / draws;
  for (int i = 0; i < int(weights.size()); ++i)
    out.push_back({.weight = weights[std::size_t(i)] / draws,
                   .draw = i / k,
                   .number = i % k,
                   .group = i,
                   .mass = weights[std::size_t(i)] * rows});
  return out;
}

}  // namespace bayes
