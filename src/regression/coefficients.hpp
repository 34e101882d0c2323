// What all regressions say of their coefficients and of new rows.
#pragma once

#include <functional>
#include <string>

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

}  // namespace bayes
