// The inside of a fitted Bernoulli mixture, for the files of this model only.
#pragma once

#include <optional>

#include "families/product/product.hpp"
#include "fit/learners.hpp"
#include "mixture/bmm.hpp"
#include "mixture/finite_draws.hpp"
#include "mixture/finite_totals.hpp"

namespace bayes {

struct BernoulliMixture::State : FiniteTotals {
  MixturePoint<ProductPoint> point;
  std::optional<MixturePosterior<ProductPosterior>> posterior;
  std::optional<FiniteDraws<ProductPosterior>> draws;
  /// point size x K: standard deviations of the parameters by linear response; 0 where there is
  /// none
  std::optional<Matrix> deviations;
  /// K: those of the weights; models stored by the first version lack them
  std::optional<Vector> weight_deviations;

  const Columns &columns() const { return *point.components.columns; }
};

}  // namespace bayes
