// How improbable small densities are: the distribution of log p(X) of a row X that has the density
// p, for the elements of a row under one component.
//
// Where it has no closed form it has bounds: by Markov's inequality
//
//   P(log p(X) <= l)  <=  exp(s l) E[p(X)^-s]  =  exp((1 - q) l) times the integral of p^q,
//
// q = 1 - s, for any q between 0 and 1. The integral of p^q is a product over elements that are
// independent of each other, so each element has its logarithm for some fixed q, they add up, and
// the smallest of the bounds holds.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "families/predicted.hpp"

namespace bayes {

/// Logarithms of the integrals (sums) of p^q for q = 0.75, 0.75^2, ...; infinite where the integral
/// is, or is not known.
using PowerLogs = std::array<double, 24>;

/// An upper bound of P(log p(X) <= log_density), from 0 to 1.
double tail_bound(const PowerLogs &of, double log_density);

/// A normal distribution, or a Student t, in some dimensions.
struct EllipticalDensity {
  double elements;
  /// 0: normal
  double degrees;
  /// the log density at the location
  double centre;
};
/// The density of one number of Support::real.
EllipticalDensity elliptical_density(const Predicted &of);
/// P(log p(X) <= log_density)
double density_tail(const EllipticalDensity &of, double log_density);
PowerLogs power_logs(const EllipticalDensity &of);

/// For a category with these log probabilities.
PowerLogs power_logs(std::span<const double> log_probabilities);
/// For a number that is positive or whole, by the trapezoid rule, which is exact to some digits
/// more than a bound needs. `log_density`: of a value. Polls.
PowerLogs power_logs(const Predicted &of, const std::function<double(double)> &log_density);

}  // namespace bayes
