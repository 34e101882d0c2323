// What moved between two models.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "document/model.hpp"

namespace bayes {

/// A parameter of a component of one model beside the same one of its partner in the other. NaN
/// where there is none, as on the side of a component that stands alone.
struct ComparedParameter {
  /// from 0; -1: none
  int before, after;
  /// of the first model, or if only the second has it of that, from 0; -1: of no element
  int element;
  /// as in F_parameters; an empty column is none
  std::string column, parameter;
  std::optional<std::string> label;
  double value_before, value_after;
  /// of the difference of the two, if their posteriors are independent: root(sd^2 + sd'^2)
  double deviation;
  /// Hellinger's, of the two components' densities: root(1 - overlap), from 0 to 1
  double distance;

  double difference() const { return value_after - value_before; }
};

/// Matches components (models/matching.hpp) and hands out the parameters of every pair: those of
/// the first model in its order, then those that only the second has. Columns are matched by name,
/// categories by label, transitions by the states that were matched. Topics and factors have a
/// weight and the probabilities of their labels. Throws Error as match_components().
BAYES_API void compare_components(const Model &before, const Model &after,
                                  const std::function<void(const ComparedParameter &)> &take);

}  // namespace bayes
