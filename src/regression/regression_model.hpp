// What all regressions answer about their coefficients.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/api.hpp"
#include "document/model.hpp"
#include "families/marginal.hpp"
#include "regression/terms.hpp"

namespace bayes {

// The coefficients of regressions in results, for all regression models.

/// A row of bayes_coefficients(model [, level]).
struct Coefficient {
  /// The coefficient's name: that of the term, after that of the class if each has coefficients of
  /// its own ("car: age"); or of two levels, whose cut it is ("low|high"). Valid during the call.
  const std::string *term = nullptr;
  /// of the posterior, in units of the response for one unit of the term
  double mean = 0, sd = 0;
  /// the bounds of the equal-tailed credible interval of the requested level
  double lower = 0, upper = 0;
  /// the name of the class, and that of the term alone; null unless each has its own
  const std::string *of_class = nullptr, *own_term = nullptr;

  /// Sets all but the mean from draws.
  void spread(const DrawSummary &found) {
    sd = found.deviation;
    lower = found.lower;
    upper = found.upper;
  }
  /// The same of a normal distribution, whose interval reaches so many deviations from the mean.
  void spread(double deviation, double reach) {
    sd = deviation;
    lower = mean - reach * sd;
    upper = mean + reach * sd;
  }
};
using TakeCoefficient = std::function<void(const Coefficient &)>;

/// A coefficient, or the noise variance, as a parameter of a model. `interval`: include the bounds.
/// `known_by`: the source of the posterior standard deviation, used if there is one.
inline Parameter parameter_of(const Coefficient &coefficient, const char *name, bool interval,
                              std::string_view known_by) {
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

// The root R of a covariance R'R: lower triangular, packed row by row, as models store it.

/// |R z|^2, R of as many rows as z has numbers
inline double packed_square(std::span<const double> root, std::span<const double> z) {
  double out = 0;
  const double *row = root.data();
  for (std::size_t i = 0; i < z.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += row[j] * z[j];
    out += sum * sum;
    row += i + 1;
  }
  return out;
}

/// Adds R'normals to `out`: with standard normal numbers, a draw from Normal(0, R'R).
inline void add_packed_draw(std::span<const double> root, std::span<const double> normals,
                            std::span<double> out) {
  const double *row = root.data();
  for (std::size_t i = 0; i < normals.size(); ++i, row += i)
    for (std::size_t j = 0; j <= i; ++j) out[j] += row[j] * normals[i];
}

/// The sum of squares of column j of R, which has `rows` rows.
inline double packed_column_square(std::span<const double> root, std::size_t rows, std::size_t j) {
  double out = 0;
  for (std::size_t i = j; i < rows; ++i) {
    const double x = root[i * (i + 1) / 2 + j];
    out += x * x;
  }
  return out;
}

class BAYES_API RegressionModel : public Model {
 public:
  virtual const RegressionTerms &terms() const = 0;
  /// The posterior of every coefficient, in units of the columns and in the order of the terms: sd
  /// and bounds are NaN for a point estimate, all numbers for a term that was left out. Throws
  /// Error(invalid_argument) for a level that is not between 0 and 1.
  virtual void coefficients(double level, const TakeCoefficient &take) const = 0;
  /// Are responses yes or no?
  virtual bool binary() const { return false; }
  /// Are they labels?
  virtual bool labelled() const { return false; }
  /// How many coefficients a term has, and what precedes its name for number `k` of them: "" or
  /// "car: ".
  virtual int predictors() const { return 1; }
  virtual std::string prefix(int) const { return {}; }
  /// What would precede the names of the coefficients of the first class, which are 0.
  virtual std::optional<std::string> reference_prefix() const { return std::nullopt; }
  /// Are coefficients changes of a logarithm, that of the mean or of the odds?
  virtual bool multiplies() const { return false; }
  /// The posterior of a linear combination of coefficients, on the scale of the linear predictor
  /// (log odds for logreg), as a coefficient without a term. `weights`: one for each term, of
  /// several predictors those of one after the other. All numbers are NaN if a term with nonzero
  /// weight was left out; sd and bounds are NaN for a point estimate. Throws
  /// Error(invalid_argument) as coefficients().
  virtual Coefficient contrast(std::span<const double> weights, double level) const = 0;
};

}  // namespace bayes
