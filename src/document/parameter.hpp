// A number by which results describe a fitted model.
#pragma once

#include <functional>
#include <limits>
#include <string>

namespace bayes {

/// One number. NaN where there is none.
struct Parameter {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  // How a standard deviation and an interval are known: from the posterior itself; from a mean
  // field that is corrected, or is not and so too narrow; from draws of the posterior; from the
  // posterior given one partition of the rows, or given estimates of the variances of a regression,
  // whose own uncertainty it leaves out; from the normal distribution that approximates the
  // posterior at its mode.
  static constexpr const char *exact = "exact", *linear_response = "linear response",
                              *mean_field = "mean field", *draws = "draws",
                              *given_partition = "given partition",
                              *given_variances = "given variances",
                              *normal_approximation = "normal approximation";

  /// from 0; -1: it belongs to no component, to no element
  int component = 0, element = -1;
  /// the family of the element; nullptr if there is none
  const char *likelihood = nullptr;
  /// weight, mean, sd, probability, rate, initial, transition, coefficient, ...
  const char *name = "";
  /// of a categorical element; of a transition the state that it leads to, from 1
  double category = none;
  /// of the category, if it has a name that the model's columns do not know, of the term of a
  /// coefficient, or of a key of a table; valid during the call
  const std::string *label = nullptr;
  double value = none;
  /// the posterior standard deviation
  double deviation = none;
  /// the quantiles of the posterior that bound an interval of the level asked for
  double lower = none, upper = none;
  /// one of the above; nullptr if the model has no posterior
  const char *known_by = nullptr;

  /// its index among the numbers of a component's point; -1: none
  int number = -1;
  /// Reported as the square root of the stored parameter; E[sqrt x] is not sqrt(E[x]).
  bool root = false;
};
using TakeParameter = std::function<void(const Parameter &)>;

}  // namespace bayes
