#include "models/matching.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"
#include "fit/component_overlap.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "models/label_profiles.hpp"

namespace bayes {
namespace {

ComponentDensities densities_of(const Model &model) {
  if (const auto *const gmm = dynamic_cast<const GaussianMixture *>(&model))
    return gmm->densities();
  if (const auto *const bmm = dynamic_cast<const BernoulliMixture *>(&model))
    return bmm->densities();
  if (const auto *const dpmm = dynamic_cast<const DirichletProcessMixture *>(&model))
    return dpmm->densities();
  if (const auto *const hmm = dynamic_cast<const HiddenMarkovModel *>(&model))
    return hmm->densities();
  throw Error(
      Errc::wrong_family,
      message("a model of family {} has no components to match", model.info.family),
      "Components are those of gmm, bmm, dpmm and hmm, the topics of lda and the factors of "
      "nmf.");
}

/// K x K' overlaps of components, and which of the second is the partner of each of the first.
struct Pairing {
  std::size_t before, after;
  std::vector<double> overlaps;
  std::vector<int> partner;
};

Pairing pairing_of(const Model &before, const Model &after) {
  if (const auto one = label_profiles(before)) {
    const auto other = label_profiles(after);
    std::vector<double> overlaps = profile_overlaps(*one, *other);
    std::vector<int> partner = best_matching(one->weights, other->weights, overlaps);
    return {one->weights.size(), other->weights.size(), std::move(overlaps), std::move(partner)};
  }
  const ComponentDensities one = densities_of(before), other = densities_of(after);
  std::vector<double> overlaps = component_overlaps(one, other);
  std::vector<int> partner = best_matching(one.shares(), other.shares(), overlaps);
  return {std::size_t(one.size()), std::size_t(other.size()), std::move(overlaps),
          std::move(partner)};
}

}  // namespace

std::vector<MatchedComponents> match_components(const Model &before, const Model &after) {
  if (before.info.family != after.info.family)
    throw Error(
        Errc::wrong_family,
        message("the models are of families {} and {}", before.info.family, after.info.family),
        "Components of two models of one family can be compared.");
  const auto [k, other_k, overlaps, partner] = pairing_of(before, after);
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<MatchedComponents> out;
  std::vector<bool> taken(other_k, false);
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t j = std::size_t(partner[i]);
    const double overlap = j < other_k ? overlaps[i * other_k + j] : 0;
    if (overlap > 0) {
      taken[j] = true;
      out.push_back({int(i), int(j), overlap});
    } else {
      out.push_back({int(i), -1, none});
    }
  }
  for (std::size_t j = 0; j < other_k; ++j)
    if (!taken[j]) out.push_back({-1, int(j), none});
  return out;
}

}  // namespace bayes
