// What all regressions say of their coefficients and of new rows.
#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "document/parameter.hpp"

namespace bayes {

/// A row of F_coefficients(model [, level]).
struct Coefficient {
  /// the term's name; valid during the call
  const std::string *term = nullptr;
  /// of the posterior, in units of the response for one unit of the term
  double mean = 0, sd = 0;
  /// the quantiles of the posterior that bound an interval of the level asked for
  double lower = 0, upper = 0;
};
using TakeCoefficient = std::function<void(const Coefficient &)>;

/// A coefficient, or another number of a regression, among the parameters of any model. `interval`:
/// bounds are wanted. `known_by`: how the posterior is known, if there is one.
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
