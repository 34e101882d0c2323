// The inside of a fitted Bernoulli mixture, for the files of this model only.
#pragma once

#include <optional>

#include "families/product/product.hpp"
#include "fit/learners.hpp"
#include "mixture/bmm.hpp"
#include "mixture/finite_draws.hpp"

namespace bayes {

struct BernoulliMixture::State {
  MixturePoint<ProductPoint> point;
  std::optional<MixturePosterior<ProductPosterior>> posterior;
  std::optional<FiniteDraws<ProductPosterior>> draws;
  Vector counts;       // K expected numbers of rows
  double weight = 0;   // of all rows
  double entropy = 0;  // of the responsibilities at the point estimate, summed over the rows

  const Columns &columns() const { return *point.components.columns; }
};

}  // namespace bayes
