// The numbers by which results describe a fitted model: F_parameters of every model family.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "families/marginal.hpp"

namespace bayes {

/// One number. NaN where there is none.
struct Parameter {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  /// from 0; element -1: it belongs to no element
  int component = 0, element = -1;
  /// the family of the element; nullptr if there is none
  const char *likelihood = nullptr;
  /// weight, mean, sd, probability, rate, initial, transition
  const char *name = "";
  /// of a categorical element; of a transition the state that it leads to, from 1
  double category = none;
  /// of the category, if it has a name that the model's columns do not know; valid during the call
  const std::string *label = nullptr;
  double value = none;
  /// the posterior standard deviation
  double deviation = none;
  /// the quantiles of the posterior that bound an interval of the level asked for
  double lower = none, upper = none;

  /// its place among the numbers of a component's point; -1: nobody asks for it
  int number = -1;
  /// It is the root of what the point has: its mean is not the root of that one's.
  bool root = false;
};
using TakeParameter = std::function<void(const Parameter &)>;

/// Throws Error(invalid_argument) unless 0 < level < 1.
BAYES_API void require_level(double level);

/// Hands out parameters with what their posterior says of them.
class BAYES_API ParameterTable {
 public:
  /// Without a level intervals are not computed. Throws Error(invalid_argument) for one that is not
  /// between 0 and 1.
  ParameterTable(std::optional<double> level, const TakeParameter &take);

  /// At a point, without a posterior.
  void at_point(const Parameter &parameter) const { take_(parameter); }
  /// Under q; `corrected`, if positive, is its standard deviation by linear response, of a root
  /// that of its square.
  void under(Parameter parameter, Marginal q, double corrected = Parameter::none) const;
  /// Under the average of what draws say of it.
  void over(Parameter parameter, std::span<const Marginal> draws) const;
  /// Under draws of the parameter itself, in any order; `deviation` if it is known better than by
  /// them.
  void over(Parameter parameter, std::vector<double> draws,
            double deviation = Parameter::none) const;

 private:
  std::optional<double> level_;
  const TakeParameter &take_;
};

}  // namespace bayes
