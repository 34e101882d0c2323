// Parameters with summaries of their posteriors, for the SQL function bayes_parameters.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "document/model.hpp"
#include "families/marginal.hpp"

namespace bayes {

/// Throws Error(invalid_argument) unless 0 < level < 1.
BAYES_API void require_level(double level);

/// Can a random number between 0 and 1 with this mean have this standard deviation? Linear response
/// may give a larger one where the approximation breaks down.
BAYES_API bool is_possible_deviation(double deviation, double mean);
/// Replaces the standard deviation of a probability by the corrected one, if that is possible.
inline void correct_deviation(double &deviation, double corrected, double mean) {
  if (is_possible_deviation(corrected, mean)) deviation = corrected;
}

/// Completes parameters by summaries of their posteriors, and passes them to a callback.
class BAYES_API ParameterTable {
 public:
  /// Without a level no intervals are computed. `under`: the Parameter::known_by of parameters
  /// passed to under(), which have neither deviation nor interval if components overlap. Throws
  /// Error(invalid_argument) for a level that is not between 0 and 1.
  ParameterTable(std::optional<double> level, const TakeParameter &take,
                 std::string_view under = Parameter::exact);

  /// A parameter at a point, without a posterior.
  void at_point(const Parameter &parameter) const { take_(parameter); }
  /// A parameter with marginal posterior q. `corrected`, if positive, is its standard deviation by
  /// linear response (for kind root, that of the square). A correction that is impossible for a
  /// probability is ignored, and the parameter is reported as mean field.
  void under(Parameter parameter, Marginal q, double corrected = Parameter::none) const;
  /// A parameter with its conditional distribution in every draw, over which it is averaged, with
  /// these weights of the draws if there are any.
  void over(Parameter parameter, std::span<const Marginal> draws,
            std::span<const double> weights = {}) const;
  /// A parameter with its draws, in any order. `deviation`: a standard deviation that is more
  /// accurate than that of the draws, if there is one.
  void over(Parameter parameter, std::vector<double> draws,
            double deviation = Parameter::none) const;

 private:
  std::optional<double> level_;
  const TakeParameter &take_;
  std::string_view under_;
};

}  // namespace bayes
