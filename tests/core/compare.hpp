// Differences of numbers. NaN is infinitely far from everything: std::max would drop it, and a test
// that a largest difference is small would pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace support {

/// The larger of two differences; infinite if either is NaN.
inline double larger(double a, double b) {
  return a >= b ? a : b > a ? b : std::numeric_limits<double>::infinity();
}

/// The largest absolute value of a matrix; infinite if any is NaN. (Eigen's maxCoeff is undefined
/// for NaN.)
template <class Dense> double largest_of(const Dense &values) {
  double most = 0;
  for (decltype(values.rows()) i = 0; i < values.rows(); ++i)
    for (decltype(values.cols()) j = 0; j < values.cols(); ++j)
      most = larger(most, std::abs(values(i, j)));
  return most;
}

/// |a - b| relative to the larger of them, or to 1.
inline double distance(double a, double b) {
  if (a == b) return 0;
  return larger(0, std::abs(a - b) / std::max({1.0, std::abs(a), std::abs(b)}));
}

/// The largest difference of two vectors' elements relative to their largest finite number.
inline double distance(const std::vector<double> &a, const std::vector<double> &b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0, size = 1e-300;
  for (const auto *const v : {&a, &b})
    for (const double x : *v)
      if (std::isfinite(x)) size = std::max(size, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i)
    most = larger(most, a[i] == b[i] ? 0 : std::abs(a[i] - b[i]) / size);
  return most;
}

/// Kolmogorov and Smirnov's distance of a sample from the distribution with this cdf, by default
/// the uniform one on (0, 1), times the square root of the sample's size with Stephens' correction.
/// Infinite if the sample has NaN.
template <class Cdf> double scaled_gap(std::vector<double> sample, const Cdf &cdf) {
  std::sort(sample.begin(), sample.end());
  const double n = double(sample.size());
  double away = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]);
    away = larger(away, larger(p - double(i) / n, double(i + 1) / n - p));
  }
  return away * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
}
inline double scaled_gap(std::vector<double> sample) {
  return scaled_gap(std::move(sample), [](double u) { return u; });
}
/// A sample of the distribution has a larger gap with probability 1e-5.
constexpr double largest_gap = 2.4705;

}  // namespace support
