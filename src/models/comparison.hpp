// The comparison of two models: which components match, and the changes of their parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/model.hpp"

namespace bayes {

// Matches the components of two models.

/// A pair of components, from 0; -1 if the other one has no partner.
struct MatchedComponents {
  int before, after;
  /// Bhattacharyya coefficient of the two densities (fit/component_overlap.hpp), or distributions
  /// over labels (models/comparison.hpp); NaN if there is no partner
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

// Overlaps of two models whose components are distributions over labels.

/// For each label of `before` its index in `after`, -1 if `after` does not have it.
std::vector<std::int32_t> places_of_labels(const LabelProfiles &before, const LabelProfiles &after);

/// Bhattacharyya coefficients, entry i * K' + j for component i of `before` and j of `after`: the
/// sum over labels of the square root of the product of both probabilities. A label that only one
/// model has contributes nothing.
std::vector<double> profile_overlaps(const LabelProfiles &before, const LabelProfiles &after);

/// A parameter of a component of one model and the same parameter of its partner in the other. A
/// value that does not exist is NaN, such as those of the missing partner of an unmatched
/// component.
struct ComparedParameter {
  /// from 0; -1: none
  int before, after;
  /// index of the element, from 0, in the first model, or in the second if only that has it; -1:
  /// none
  int element;
  /// as in bayes_parameters; column is empty if there is none
  std::string column, parameter;
  std::optional<std::string> label;
  double value_before, value_after;
  /// standard deviation of the difference, if the posteriors are independent: sqrt(sd^2 + sd'^2)
  double deviation;
  /// Hellinger distance of the two components' densities: sqrt(1 - overlap), from 0 to 1
  double distance;

  double difference() const { return value_after - value_before; }
};

/// Matches components (models/comparison.hpp) and passes the parameters of every pair to `take`:
/// those of the first model in its order, then those that only the second has. Columns are matched
/// by name, categories by label, transitions by their matched states. Topics and factors have a
/// weight and the probabilities of their labels. Throws Error as match_components().
BAYES_API void compare_components(const Model &before, const Model &after,
                                  const std::function<void(const ComparedParameter &)> &take);

}  // namespace bayes
