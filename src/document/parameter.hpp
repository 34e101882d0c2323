// A parameter of a fitted model, as results list it.
#pragma once

#include <functional>
#include <limits>
#include <string>

namespace bayes {

/// One parameter. A number that does not exist is NaN.
struct Parameter {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  // The source of a standard deviation and an interval:
  //
  // - exact: the posterior itself
  // - linear response: a mean-field posterior, corrected
  // - mean field: a mean-field posterior, not corrected and therefore too narrow
  // - draws: draws from the posterior
  // - given partition: the posterior given one partition of the rows, without the uncertainty of
  //   the partition
  // - components overlap: none, as the rows do not tell the components apart
  //   (fit/component_need.hpp)
  // - normal approximation: the normal approximation to the posterior at its mode
  static constexpr const char *exact = "exact", *linear_response = "linear response",
                              *mean_field = "mean field", *draws = "draws",
                              *given_partition = "given partition",
                              *components_overlap = "components overlap",
                              *normal_approximation = "normal approximation";

  /// from 0; -1 if it belongs to no component, or to no element
  int component = 0, element = -1;
  /// the family of the element; nullptr if there is none
  const char *likelihood = nullptr;
  /// weight, mean, sd, probability, rate, initial, transition, coefficient, ...
  const char *name = "";
  /// the category, for a categorical element; for a transition the state that it leads to, from 1
  double category = none;
  /// the name of the category, if the model's columns do not contain it, of the term of a
  /// coefficient, or of a key of a table; valid during the call
  const std::string *label = nullptr;
  double value = none;
  /// the posterior standard deviation
  double deviation = none;
  /// the quantiles of the posterior that bound an interval of the requested level
  double lower = none, upper = none;
  /// one of the constants above; nullptr if the model has no posterior
  const char *known_by = nullptr;

  /// its index among the numbers of a component's point estimate; -1: none
  int number = -1;
  /// Reported as the square root of the stored parameter; E[sqrt x] is not sqrt(E[x]).
  bool root = false;
};
using TakeParameter = std::function<void(const Parameter &)>;

}  // namespace bayes
