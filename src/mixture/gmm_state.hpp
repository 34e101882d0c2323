// The inside of a fitted Gaussian mixture, for the files of this model only.
#pragma once

#include <optional>

#include "families/normal/normal_independent.hpp"
#include "families/normal/normal_wishart.hpp"
#include "fit/learners.hpp"
#include "mixture/finite_draws.hpp"
#include "mixture/finite_totals.hpp"
#include "mixture/gmm.hpp"

namespace bayes {

/// The posterior, if any: of the linked (conjugate normal-Wishart) prior, of the independent one
/// (full covariance only), or draws.
struct GmmFitted {
  MixturePoint<NormalPoint> point;
  std::optional<MixturePosterior<NormalWishart>> linked;
  std::optional<MixturePosterior<NormalIndependent>> independent;
  std::optional<FiniteDraws<NormalWishart>> draws;  // untied where components share a scale

  const CovarianceShape &shape() const { return point.components.shape; }
};

struct GaussianMixture::State : FiniteTotals {
  GmmFitted fitted;
  /// standard deviations by linear response: 2 d x K, of the means, then of the variances of the
  /// elements, 0 where none exists; K, of the weights. Both or neither.
  std::optional<Matrix> deviations;
  std::optional<Vector> weight_deviations;
};

}  // namespace bayes
