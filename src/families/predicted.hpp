// The distribution of an element of a row to come, at a point or with its parameters integrated
// out, and mixtures of them.
#pragma once

#include <cmath>
#include <span>

#include "base/api.hpp"

namespace bayes {

/// A distribution: where its values lie, and its distribution function, which has the numbers a, b
/// and c at its disposal. Families define theirs, and the normal ones are here.
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

/// P(X <= n) for a distribution of whole numbers without a formula for it, by summation downwards
/// and upwards from the mode, or from n if that is smaller. log_mass(x) is log P(X = x); ratio(x)
/// is P(X = x + 1) / P(X = x). NaN for n above a million, for which the sum would take too long.
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

/// The smallest x with P(X <= x) of at least p, 0 < p < 1, if X is from one of these with
/// probabilities in proportion to `weights`; of whole numbers one of them. All are of one family;
/// NaN if it is none, or where double precision does not find the number. By bracketing; polls.
BAYES_API double quantile_of_mixture(std::span<const Predicted> parts,
                                     std::span<const double> weights, double p);

}  // namespace bayes
