// How much the densities of two mixtures' components have in common, from their parameters alone.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "document/model.hpp"
#include "document/row_columns.hpp"
#include "families/normal/normal_point.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// K components at a point estimate, and their columns.
struct ComponentDensities {
  /// K, not negative
  Vector weights;
  std::variant<NormalPoint, ProductPoint> components;
  /// empty if columns have no names
  RowColumns columns;

  int size() const { return int(weights.size()); }
  std::span<const double> shares() const { return {weights.data(), std::size_t(weights.size())}; }
};

/// The Bhattacharyya coefficients of all pairs of densities, entry i * K' + j for component i of
/// the first and j of the second: the integral of sqrt(f_i g_j), from 0 to 1, where 1 means equal
/// densities (Bhattacharyya 1943; for normals Kailath 1967). For independent columns it is the
/// product over columns. Columns are matched by name, categories by label; without names columns
/// are matched by position, without labels categories by number. Throws Error(invalid_argument)
/// unless both have the same columns, of the same families.
BAYES_API std::vector<double> component_overlaps(const ComponentDensities &before,
                                                 const ComponentDensities &after);

/// For every component of one mixture its partner in the other, from 0, in the pairing with the
/// largest sum of sqrt(weight x weight') x overlap. Weights are not negative. If the mixtures
/// differ in size, an index beyond the last component of the smaller one means that there is no
/// partner.
BAYES_API std::vector<int> best_matching(std::span<const double> weights,
                                         std::span<const double> other_weights,
                                         const std::vector<double> &overlaps);
inline std::vector<int> best_matching(const ComponentDensities &before,
                                      const ComponentDensities &after) {
  return best_matching(before.shares(), after.shares(), component_overlaps(before, after));
}

/// The same coefficients with the weights. Throws as component_overlaps().
inline ComponentOverlaps overlaps_of(const ComponentDensities &before,
                                     const ComponentDensities &after) {
  const auto shares = [](const ComponentDensities &of) {
    return std::vector<double>(of.shares().begin(), of.shares().end());
  };
  return {shares(before), shares(after), component_overlaps(before, after)};
}

}  // namespace bayes
