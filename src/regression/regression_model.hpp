// What all regressions answer about their coefficients.
#pragma once

#include <span>

#include "base/api.hpp"
#include "document/model.hpp"
#include "regression/coefficients.hpp"
#include "regression/terms.hpp"

namespace bayes {

class BAYES_API RegressionModel : public Model {
 public:
  virtual const RegressionTerms &terms() const = 0;
  /// The posterior of every coefficient, in units of the columns and in the order of the terms: sd
  /// and bounds are NaN for a point estimate, all numbers for a term that was left out. Throws
  /// Error(invalid_argument) for a level that is not between 0 and 1.
  virtual void coefficients(double level, const TakeCoefficient &take) const = 0;
  /// The posterior of a linear combination of coefficients, on the scale of the linear predictor
  /// (log odds for logreg), as a coefficient without a term. `weights`: one for each term. All
  /// numbers are NaN if a term with nonzero weight was left out; sd and bounds are NaN for a point
  /// estimate. Throws Error(invalid_argument) as coefficients().
  virtual Coefficient contrast(std::span<const double> weights, double level) const = 0;
};

}  // namespace bayes
