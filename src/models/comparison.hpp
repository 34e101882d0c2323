// The changes between two models, parameter by parameter.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "document/model.hpp"

namespace bayes {

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

/// Matches components (models/matching.hpp) and passes the parameters of every pair to `take`:
/// those of the first model in its order, then those that only the second has. Columns are matched
/// by name, categories by label, transitions by their matched states. Topics and factors have a
/// weight and the probabilities of their labels. Throws Error as match_components().
BAYES_API void compare_components(const Model &before, const Model &after,
                                  const std::function<void(const ComparedParameter &)> &take);

}  // namespace bayes
