// The options of the Dirichlet process mixture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "families/normal/normal_options.hpp"
#include "families/product/product_options.hpp"
#include "fit/component_order.hpp"
#include "fit/fit_options.hpp"
#include "mixture/dpmm.hpp"
#include "partition/partition_prior.hpp"

namespace bayes {

/// FitOptions, with the options of samplers and of variational inference.
struct DpmmOptions : FitOptions {
  DpmmOptions() {
    method = Method::collapsed;
    missing = "marginalize";
    restarts = 10;
  }

  // one for all elements of a row, or one for each
  std::vector<ColumnSpec> likelihood = {likelihood_of(normal_family)};
  // products of independent columns instead of the multivariate normal
  bool products = false;
  std::string covariance = "full";  // of the multivariate normal
  Document categories;              // null, or as given
  ProductPriorKeys prior;           // of products
  NormalPriorKeys normal_prior;     // of the multivariate normal
  double concentration = 1;         // if it is not learned
  std::optional<GammaPrior> learned = GammaPrior{2, 4};
  ComponentOrder order;

  // Samplers.
  bool one_start = false;  // init = one: every chain begins with one cluster
  std::string estimate = "vi";
  double level = 0.95;

  // Variational inference.
  int truncation = 30;
  // of the start model: its clusters, and the elements of its rows
  int start_clusters = 0, start_dimension = 0;

  PartitionLoss loss() const;

  /// All options in force except the prior, which the fit adds.
  Document document() const;
};

/// Reads and checks options, after those inherited from a start model. Throws
/// Error(invalid_argument).
DpmmOptions read_dpmm_options(const Document &options,
                              const DirichletProcessMixture *start = nullptr);

}  // namespace bayes
