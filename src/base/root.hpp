// The root of a function of one number.
#pragma once

#include <functional>

#include "base/api.hpp"

namespace bayes {

/// Where f changes its sign between low and high, at which it is at_low and at_high: to `bits` of
/// 53, in at most 200 evaluations. Error(numeric) if f is NaN somewhere or has one sign at both
/// ends. Polls.
BAYES_API double root_between(const std::function<double(double)> &f, double low, double high,
                              double at_low, double at_high, int bits);

}  // namespace bayes
