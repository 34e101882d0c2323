// The options of the Gaussian mixture.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "families/normal/normal_options.hpp"
#include "fit/component_order.hpp"
#include "fit/fit_options.hpp"
#include "mixture/gmm.hpp"

namespace bayes {

struct GmmOptions : FitOptions {
  std::vector<std::string> covariance = {"full"};  // more than one for gmm_select only
  std::string init = "kmeans";
  std::optional<Tensor> means;  // k x d, instead of a named init
  double covariance_floor = 1e-6;
  ComponentOrder order;
  /// of method kmeans: distances are in units of the columns' standard deviations
  bool scale = false;

  // The prior; defaults come from the data (mixture/gmm_fit.cpp).
  bool independent = false;
  NormalPriorKeys prior;
  std::optional<Tensor> C;  // if independent

  /// All options in force as a document; the fit adds what depends on the data.
  Document document() const;
  /// The options of the prior only.
  Document prior_document() const;
};

/// Reads and checks the options. The fit inherits the covariance of `start`, and other options as
/// in FitOptions::inherit. With `select` several covariances may be named. Throws
/// Error(invalid_argument).
GmmOptions read_gmm_options(std::span<const int> ks, const Document &options,
                            const GaussianMixture *start, bool update, bool select);

}  // namespace bayes
