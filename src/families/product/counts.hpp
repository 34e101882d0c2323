// Common to families of counts: factorials, draws, and h(x) as a table.
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "base/special.hpp"

namespace bayes {

/// log x! for a whole number x >= 0, however large.
inline double log_factorial(double x) {
  static const std::vector<double> table = [] {
    std::vector<double> out(256);
    // partial products that a double holds exactly or nearly so
    double product = 1, before = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i > 0) product *= double(i);
      if (product > 1e200) {
        before += std::log(product / double(i));
        product = double(i);
      }
      out[i] = before + std::log(product);
    }
    return out;
  }();
  if (x < double(table.size())) return table[std::size_t(x)];
  // Stirling's series for log Gamma(x + 1).
  const double z = x + 1, y = 1 / z, y2 = y * y;
  return (z - 0.5) * std::log(z) - z + half_log_two_pi +
         y * (1.0 / 12 - y2 * (1.0 / 360 - y2 / 1260));
}

/// A table of h(x) for small counts, each computed once, as every pass over the rows needs it.
/// Copies share the table; threads may use it at the same time.
class CarrierTable {
 public:
  CarrierTable() : known_(std::make_shared<Table>()) {
    for (auto &each : *known_)
      each.store(std::numeric_limits<double>::quiet_NaN(), std::memory_order_relaxed);
  }
  /// h(x), computed by compute() the first time
  template <class Compute> double at(double x, Compute compute) const {
    if (!(x < double(size))) return compute();
    std::atomic<double> &known = (*known_)[std::size_t(x)];
    double out = known.load(std::memory_order_relaxed);
    if (out != out) known.store(out = compute(), std::memory_order_relaxed);
    return out;
  }

 private:
  static constexpr std::size_t size = 512;
  using Table = std::array<std::atomic<double>, size>;
  std::shared_ptr<Table> known_;
};

/// A binomial draw. n is halved repeatedly by drawing the median of n uniforms, an order statistic
/// with a beta distribution.
inline double binomial_variate(double n, double p, Random &random) {
  double successes = 0;
  while (n > 16) {
    const double middle = std::floor(n / 2) + 1, at = random.beta(middle, n + 1 - middle);
    if (at <= p) {
      successes += middle;
      n -= middle;
      p = (p - at) / (1 - at);
    } else {
      n = middle - 1;
      p /= at;
    }
  }
  for (double i = 0; i < n; ++i) successes += random.uniform() < p;
  return successes;
}

/// A Poisson draw. Large rates are reduced by exact steps: the waiting time for m events is gamma;
/// if it exceeds the rate, the number of earlier events is binomial (Ahrens and Dieter 1974).
inline double poisson_variate(double rate, Random &random) {
  double events = 0;
  while (rate > 16) {
    const double m = std::floor(rate * 7 / 8), wait = random.gamma(m);
    if (wait > rate) return events + binomial_variate(m - 1, rate / wait, random);
    events += m;
    rate -= wait;
  }
  double product = random.uniform();
  for (const double end = std::exp(-rate); product > end; product *= random.uniform()) ++events;
  return events;
}

}  // namespace bayes
