// Sums in two doubles, of 106 bits: what was added can be taken away again, and the order of the
// terms is nothing to any digit of a double. (Dekker 1971; Knuth, TAOCP 2, 4.2.2.)
#pragma once

#include <cmath>

namespace bayes {

/// high + low, |low| at most half a unit in the last place of high.
struct ExactSum {
  double high = 0, low = 0;

  double value() const { return high; }
  bool operator==(const ExactSum &) const = default;

  /// a + b, exactly if it fits.
  static ExactSum of(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
  }
  /// a b, exactly unless it underflows.
  static ExactSum product(double a, double b) {
    const double high = a * b;
    return {high, std::fma(a, b, -high)};
  }

  ExactSum operator+(const ExactSum &x) const {
    const ExactSum highs = of(high, x.high), lows = of(low, x.low),
                   first = of(highs.high, highs.low + lows.high);
    return of(first.high, first.low + lows.low);
  }
  ExactSum operator-() const { return {-high, -low}; }
  ExactSum operator-(const ExactSum &x) const { return *this + -x; }
  ExactSum operator*(const ExactSum &x) const {
    const ExactSum whole = product(high, x.high);
    return of(whole.high, whole.low + (high * x.low + low * x.high));
  }
  ExactSum operator/(const ExactSum &x) const {
    const double first = high / x.high;
    const ExactSum rest = *this - x * ExactSum{first};
    const double second = rest.high / x.high;
    const ExactSum last = rest - x * ExactSum{second};
    return of(first, second) + ExactSum{last.high / x.high};
  }
  ExactSum &operator+=(const ExactSum &x) { return *this = *this + x; }
  ExactSum &operator-=(const ExactSum &x) { return *this = *this - x; }

  /// The same to 77 bits: what differs in another order of terms is gone.
  ExactSum rounded() const { return {high, double(float(low))}; }
};

}  // namespace bayes
