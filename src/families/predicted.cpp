#include "families/predicted.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/incomplete.hpp"
#include "base/root.hpp"

namespace bayes {
namespace {

constexpr double not_found = std::numeric_limits<double>::quiet_NaN();
/// enough doublings to cross the whole range of a double
constexpr int max_doublings = 2200;
/// doublings after which the search checks whether the quantile is a double at all, which it need
/// not be under a Student t of next to no degrees of freedom
constexpr int few_doublings = 60;

/// P(X <= x) - p for the mixture.
class Excess {
 public:
  Excess(std::span<const Predicted> parts, std::span<const double> weights, double p)
      : parts_(parts),
        weights_(weights),
        p_(p) {
    for (const double w : weights) total_ += w;
  }
  double operator()(double x) const {
    poll_here();
    double sum = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (weights_[i] > 0) sum += weights_[i] * parts_[i].probability_below(x);
    return sum / total_ - p_;
  }

 private:
  std::span<const Predicted> parts_;
  std::span<const double> weights_;
  double p_, total_ = 0;
};

/// Bisection between whole numbers `low`, where the excess is negative, and `high`, where it is
/// not.
double integer_quantile(const Excess &excess, double low, double high) {
  while (high - low > 1) {
    const double middle = low + std::floor((high - low) / 2);
    if (!(middle > low && middle < high)) break;  // doubles are more than 1 apart here
    (excess(middle) < 0 ? low : high) = middle;
  }
  return high;
}

}  // namespace

double Predicted::probability_below(double x) const {
  switch (support) {
    case Support::none: break;
    case Support::real: return below(*this, x);
    case Support::positive: return x <= 0 ? 0 : below(*this, x);
    case Support::whole: return x < 0 ? 0 : below(*this, std::floor(x));
  }
  return not_found;
}

Predicted Predicted::normal(double location, double scale) {
  return {Support::real,
          [](const Predicted &of, double x) { return normal_below((x - of.a) / of.b); }, location,
          scale};
}

Predicted Predicted::student(double location, double scale, double degrees) {
  return {Support::real,
          [](const Predicted &of, double x) { return student_below(of.c, (x - of.a) / of.b); },
          location, scale, degrees};
}

double quantile_of_mixture(std::span<const Predicted> parts, std::span<const double> weights,
                           double p) {
  using Support = Predicted::Support;
  if (parts.empty() || parts[0].support == Support::none) return not_found;
  const Support support = parts[0].support;
  const Excess excess(parts, weights, p);
  constexpr double largest = std::numeric_limits<double>::max();
  double low = 0, high = 1, width = 1;
  if (support == Support::real) {
    low = std::numeric_limits<double>::infinity();
    high = -low;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!(weights[i] > 0)) continue;
      low = std::min(low, parts[i].a - parts[i].b);
      high = std::max(high, parts[i].a + parts[i].b);
    }
    width = high - low;
    for (int n = 0; excess(low) >= 0; ++n, width *= 2, low -= width)
      if (n == max_doublings || !std::isfinite(low) ||
          (n == few_doublings && excess(-largest) >= 0))
        return not_found;
    width = high - low;
  } else if (support == Support::whole) {
    low = -1;
  }
  for (int n = 0; !(excess(high) >= 0); ++n, width *= 2, high += width) {
    if (n == max_doublings || !std::isfinite(high)) return not_found;
    if (n == few_doublings && support != Support::whole && !(excess(largest) >= 0))
      return not_found;
    low = high;
  }
  if (support == Support::whole) return integer_quantile(excess, low, high);
  if (low == 0) {
    // The scale is unknown: halve from above, until the bounds differ by a factor of 2.
    while (high > 0 && excess(high / 2) >= 0) high /= 2;
    low = high / 2;
  }
  const double at_low = excess(low), at_high = excess(high);
  if (!(at_low < 0)) return low;
  if (!(at_high > 0)) return high;
  return root_between(excess, low, high, at_low, at_high, 48);
}

}  // namespace bayes
