// The inside of a fitted Dirichlet process mixture, for the files of this model only.
#pragma once

#include <optional>
#include <variant>

#include "families/normal/normal_wishart.hpp"
#include "families/product/product_components.hpp"
#include "mixture/dpmm.hpp"

namespace bayes {

/// Everything that depends on the family of the rows. `components` holds the clusters of all stored
/// draws, one draw after the other.
template <class Q> struct DpmmFitted {
  Q prior;                      // one component
  Q clusters;                   // of the estimated partition, given their rows
  std::vector<int> sizes;       // S: clusters in every stored draw
  std::vector<double> rest;     // S: weight of clusters without rows
  std::vector<double> weights;  // sum of sizes
  Q components;
  // [components][clusters]: the share of a component's rows that are in a cluster of the estimate
  std::vector<double> shares;
};

struct DirichletProcessMixture::State {
  std::variant<DpmmFitted<NormalWishart>, DpmmFitted<ProductPosterior>> fitted;
  std::vector<std::int64_t> counts;  // of the estimate's clusters
  double concentration = 1;          // its posterior mean
  DpmmEstimate estimate;
  /// method vi: standard deviations by linear response of the parameters (as in gmm_state.hpp and
  /// bmm_state.hpp) and of the K weights, for the first K of `components`. Both or neither.
  std::optional<Matrix> deviations;
  std::optional<Vector> weight_deviations;
};

}  // namespace bayes
