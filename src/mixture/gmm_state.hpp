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
};

}  // namespace bayes
