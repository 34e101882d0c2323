// The predictive distribution of an element of a new row, at a point or with the parameters
// integrated out, and mixtures of such distributions.
#pragma once

#include <cmath>
#include <span>

#include "base/api.hpp"

namespace bayes {

/// A distribution: its support, and its distribution function, with up to three parameters a, b and
/// c. Column families define theirs; normal and Student t are defined here.
struct BAYES_API Predicted {
  enum class Support : char {
    none,      ///< not a quantity: a category
    real,      ///< location a, scale b
    positive,  ///< numbers above 0
    whole      ///< whole numbers from 0
  };
  Support support = Support::none;
  /// P(X <= x); x is in the support
  double (*below)(const Predicted &of, double x) = nullptr;
  double a = 0, b = 0, c = 0;

  /// P(X <= x), for any x
  double probability_below(double x) const;

  /// location + scale z, z standard normal; location + scale t, t Student
  static Predicted normal(double location, double scale);
  static Predicted student(double location, double scale, double degrees);
};

/// P(X <= n) for a distribution on whole numbers whose distribution function has no closed form, by
/// summation downwards and upwards from the mode, or from n if that is smaller. log_mass(x) is log
/// P(X = x); ratio(x) is P(X = x + 1) / P(X = x). NaN for n above a million, for which the sum
/// would take too long.
template <class LogMass, class Ratio>
double sum_of_masses(double n, double mode, LogMass log_mass, Ratio ratio) {
  if (!(n <= 1e6)) return std::nan("");
  const double start = std::fmin(n, mode);
  double total = 1, mass = 1;  // relative to that of `start`
  for (double x = start; x > 0 && mass > 1e-17 * total; --x) total += mass /= ratio(x - 1);
  mass = 1;
  for (double x = start; x < n && mass > 1e-17 * total; ++x) total += mass *= ratio(x);
  return std::fmin(1, std::exp(log_mass(start)) * total);
}

/// The p-quantile, 0 < p < 1, of the mixture of the parts with probabilities in proportion to
/// `weights`: the smallest x with P(X <= x) >= p, a whole number for distributions on whole
/// numbers. All parts are of one family. NaN for Support::none, and if double precision does not
/// suffice to find it. By bracketing; polls.
BAYES_API double quantile_of_mixture(std::span<const Predicted> parts,
                                     std::span<const double> weights, double p);

}  // namespace bayes
