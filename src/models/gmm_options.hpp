// The options of the Gaussian mixture, read and checked.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/driver.hpp"
#include "models/gmm_state.hpp"

namespace bayes {

struct GmmOptions {
  std::string method = "vi";
  std::vector<std::string> covariance = {"full"};  // more than one for gmm_select only
  int max_iterations = 1000;
  double tolerance = 1e-6;
  int restarts = 20;
  std::string init = "kmeans";
  std::optional<Tensor> means;  // k x d, instead of a named init
  bool started = false;         // at a model: there is no init
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  GmmRowOptions rows;
  double covariance_floor = 1e-6;
  StochasticPlan plan;

  // The prior; what is not given is taken from the data (models/gmm_prior.hpp).
  bool independent = false;
  double alpha = 1;
  std::optional<Vector> m;
  std::optional<double> c, a;
  std::optional<Tensor> B, C;

  bool bayesian() const { return method == "map" || method == "vi" || method == "svi"; }

  /// All options in force as a document; what the data gave is added by the fit.
  Document document() const;
};

/// Reads and checks. `start` gives the defaults of method and covariance; with `select` several covariances may be named. Throws
/// Error(invalid_argument).
GmmOptions read_gmm_options(std::span<const int> ks, const Document &options, const GaussianMixture *start, bool update, bool select);

}  // namespace bayes
