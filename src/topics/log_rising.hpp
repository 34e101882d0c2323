// log Gamma(a + n) / Gamma(a), the log of a (a + 1) ... (a + n - 1): what n tokens add to the
// density of all under a Dirichlet prior.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/special.hpp"

namespace bayes {

inline double log_rising(double a, double n) { return log_gamma(a + n) - log_gamma(a); }

/// For n = 1, 2, ... in turn.
class LogRising {
 public:
  explicit LogRising(double a) : a_(a) {}
  double operator()(std::int64_t n) {
    if (n - n_ > 16) {
      sum_ = log_rising(a_, double(n));
      n_ = n;
    }
    while (n_ < n) sum_ += std::log(a_ + double(n_++));
    return sum_;
  }

 private:
  double a_, sum_ = 0;
  std::int64_t n_ = 0;
};

/// For n up to a limit, again and again.
class LogRisingTable {
 public:
  LogRisingTable(double a, std::int64_t most) : values_(std::size_t(most) + 1, 0.0) {
    LogRising next(a);
    for (std::int64_t n = 1; n <= most; ++n) values_[std::size_t(n)] = next(n);
  }
  double operator()(std::int64_t n) const { return values_[std::size_t(n)]; }

 private:
  std::vector<double> values_;
};

}  // namespace bayes
