// Roots and integrals of functions of one number, by Boost.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/api.hpp"

namespace bayes {

// The root of a function of one number.

/// A root of f between low and high, accurate to `bits` of the 53 bits, in at most 200 evaluations.
/// at_low and at_high are f(low) and f(high). Throws Error(numeric) if f is NaN somewhere, or has
/// the same sign at both ends. Polls.
BAYES_API double root_between(const std::function<double(double)> &f, double low, double high,
                              double at_low, double at_high, int bits);

// Quadrature by Gauss and Legendre.

/// A rule on [-1, 1]: the points that are not negative, from the middle outwards, and the weight of
/// each; the rule has the same points with the other sign.
struct GaussLegendre {
  std::span<const double> points, weights;

  /// The integral of f over a finite interval.
  template <class F> double integral(double from, double to, F f) const {
    const double middle = (from + to) * 0.5, half = (to - from) * 0.5;
    double out = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (points[i] == 0)
        out += f(middle) * weights[i];
      else
        out += (f(middle + half * points[i]) + f(middle - half * points[i])) * weights[i];
    return half * out;
  }
};

extern const BAYES_API GaussLegendre gauss_legendre_10, gauss_legendre_15;

}  // namespace bayes
