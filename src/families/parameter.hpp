// Parameters with what their posterior says of them: F_parameters of every model family.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "document/parameter.hpp"
#include "families/marginal.hpp"

namespace bayes {

/// Throws Error(invalid_argument) unless 0 < level < 1.
BAYES_API void require_level(double level);

/// Can a number between 0 and 1 with this mean have the deviation? Linear response may say one that
/// it cannot, where it is no approximation any more.
BAYES_API bool is_possible_deviation(double deviation, double mean);
/// The corrected deviation of a probability, if it is possible.
inline void correct_deviation(double &deviation, double corrected, double mean) {
  if (is_possible_deviation(corrected, mean)) deviation = corrected;
}

/// Hands out parameters with what their posterior says of them.
class BAYES_API ParameterTable {
 public:
  /// Without a level intervals are not computed. `under`: how what is handed out under q is known.
  /// Throws Error(invalid_argument) for a level that is not between 0 and 1.
  ParameterTable(std::optional<double> level, const TakeParameter &take,
                 const char *under = Parameter::exact);

  /// At a point, without a posterior.
  void at_point(const Parameter &parameter) const { take_(parameter); }
  /// Under q; `corrected`, if positive, is its standard deviation by linear response, of a root
  /// that of its square. One that a probability cannot have is left out: mean field.
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
  const char *under_;
};

}  // namespace bayes
