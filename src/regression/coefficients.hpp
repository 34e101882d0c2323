// The coefficients of regressions in results, for all regression models.
#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "document/model.hpp"

namespace bayes {

/// A row of bayes_coefficients(model [, level]).
struct Coefficient {
  /// the term's name; valid during the call
  const std::string *term = nullptr;
  /// of the posterior, in units of the response for one unit of the term
  double mean = 0, sd = 0;
  /// the bounds of the equal-tailed credible interval of the requested level
  double lower = 0, upper = 0;
};
using TakeCoefficient = std::function<void(const Coefficient &)>;

/// A coefficient, or the noise variance, as a parameter of a model. `interval`: include the bounds.
/// `known_by`: the source of the posterior standard deviation, used if there is one.
inline Parameter parameter_of(const Coefficient &coefficient, const char *name, bool interval,
                              const char *known_by) {
  Parameter out;
  out.component = -1;
  out.name = name;
  out.label = coefficient.term;
  out.value = coefficient.mean;
  out.deviation = coefficient.sd;
  if (interval) {
    out.lower = coefficient.lower;
    out.upper = coefficient.upper;
  }
  if (!std::isnan(coefficient.sd)) out.known_by = known_by;
  return out;
}

}  // namespace bayes
