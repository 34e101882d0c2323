// The options of the Dirichlet process mixture.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "families/normal/normal_options.hpp"
#include "families/product/product_options.hpp"
#include "mcmc/chain_plan.hpp"
#include "mixture/dpmm.hpp"
#include "partition/gamma_prior.hpp"

namespace bayes {

struct DpmmOptions {
  Method method = Method::collapsed;
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
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string missing = "marginalize";
  RowOptions rows;

  // Samplers.
  ChainPlan chains;
  bool one_start = false;  // init = one: every chain begins with one cluster
  std::string estimate = "vi";
  double level = 0.95;

  // Variational inference.
  int truncation = 30, restarts = 10, max_iterations = 10000;
  double tolerance = 1e-4;
  /// as in FitOptions
  std::optional<bool> linear_response;

  bool sampled() const { return method != Method::vi; }
  PartitionLoss loss() const;

  /// All options in force except the prior, which the fit adds.
  Document document() const;
};

/// Reads and checks. Throws Error(invalid_argument).
DpmmOptions read_dpmm_options(const Document &options);

}  // namespace bayes
