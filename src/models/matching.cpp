#include "models/matching.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"
#include "fit/component_overlap.hpp"
#include "models/label_profiles.hpp"

namespace bayes {
namespace {

ComponentOverlaps overlaps_of(const Model &before, const Model &after) {
  const auto one = before.label_profiles();
  if (!one) return before.overlaps(after);
  const auto other = after.label_profiles();
  return {one->weights, other->weights, profile_overlaps(*one, *other)};
}

}  // namespace

std::vector<MatchedComponents> match_components(const Model &before, const Model &after) {
  if (before.info.family != after.info.family)
    throw Error(
        Errc::wrong_family,
        message("the models are of families {} and {}", before.info.family, after.info.family),
        "Components of two models of one family can be compared.");
  const auto [weights, other_weights, overlaps] = overlaps_of(before, after);
  const std::vector<int> partner = best_matching(weights, other_weights, overlaps);
  const std::size_t k = weights.size(), other_k = other_weights.size();
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
