// Which component of one model is which of another.
#pragma once

#include <vector>

#include "document/model.hpp"

namespace bayes {

/// A pair of components, from 0; -1: there is none, the other one is alone.
struct MatchedComponents {
  int before, after;
  /// Bhattacharyya coefficient of the two densities (fit/component_overlap.hpp), or distributions
  /// over labels (models/label_profiles.hpp); NaN if one is alone
  double overlap;
};

/// Pairs the components of two models of one family at their point estimates; mixtures and hidden
/// Markov models must have the same columns. Topics and factors are compared over the labels that
/// both models know. Components are paired so that the sum over pairs of root(weight x weight') x
/// overlap is largest: of all pairings that whose pairs have most of the two mixtures in common. A
/// pair has an overlap above 0; components without a partner are alone. In the order of the first
/// model, then those that only the second has. Throws Error: wrong_family for models of two
/// families, or of one without components; invalid_argument for different columns.
BAYES_API std::vector<MatchedComponents> match_components(const Model &before, const Model &after);

}  // namespace bayes
