// Matches the components of two models.
#pragma once

#include <vector>

#include "document/model.hpp"

namespace bayes {

/// A pair of components, from 0; -1 if the other one has no partner.
struct MatchedComponents {
  int before, after;
  /// Bhattacharyya coefficient of the two densities (fit/component_overlap.hpp), or distributions
  /// over labels (models/label_profiles.hpp); NaN if there is no partner
  double overlap;
};

/// Pairs the components of two models of one family at their point estimates; mixtures and hidden
/// Markov models must have the same columns. Topics and factors are compared over the labels that
/// both models have. The pairing maximises the sum over pairs of sqrt(weight x weight') x overlap,
/// the part that the two mixtures have in common. Pairs have an overlap above 0; other components
/// have no partner. Pairs are in the order of the first model, followed by components that only the
/// second has. Throws Error: wrong_family for models of two families, or of one without components;
/// invalid_argument for different columns.
BAYES_API std::vector<MatchedComponents> match_components(const Model &before, const Model &after);

}  // namespace bayes
