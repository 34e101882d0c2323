// The root of a function of one number.
#pragma once

#include <functional>

#include "base/api.hpp"

namespace bayes {

/// A root of f between low and high, accurate to `bits` of the 53 bits, in at most 200 evaluations.
/// at_low and at_high are f(low) and f(high). Throws Error(numeric) if f is NaN somewhere, or has
/// the same sign at both ends. Polls.
BAYES_API double root_between(const std::function<double(double)> &f, double low, double high,
                              double at_low, double at_high, int bits);

}  // namespace bayes
