#include "topics/prior_learning.hpp"

#include <algorithm>
#include <cmath>

#include "base/root.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

/// The root of a decreasing slope, found on a logarithmic scale, or the nearest limit.
template <class Slope> double root_of(Slope slope) {
  const double low = std::log(min_concentration), high = std::log(max_concentration);
  const auto at = [&](double x) { return slope(std::exp(x)); };
  const double at_low = at(low), at_high = at(high);
  if (!(at_low > 0)) return min_concentration;
  if (!(at_high < 0)) return max_concentration;
  return std::exp(root_between(at, low, high, at_low, at_high, 40));
}

double expected_log_prior(const std::vector<double> &alpha, double groups,
                          std::span<const double> logs) {
  double sum = 0, of_entries = 0, linear = 0;
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    sum += alpha[k];
    of_entries += log_gamma(alpha[k]);
    linear += alpha[k] * logs[k];
  }
  return groups * (log_gamma(sum) - of_entries) + linear;
}

}  // namespace

double learn_symmetric(double groups, double size, double logs) {
  if (size < 2) return 1;  // a distribution over one entry is constant
  return root_of([&](double a) { return groups * size * (digamma(size * a) - digamma(a)) + logs; });
}

double learn_symmetric(const PaddedMatrix &added, double logs) {
  const double size = added.rows();
  std::vector<double> totals(std::size_t(added.columns()), 0.0), positive;
  for (std::int32_t w = 0; w < added.rows(); ++w)
    for (int k = 0; k < added.columns(); ++k)
      if (const double a = added.row(w)[k]; a > 0) {
        totals[std::size_t(k)] += a;
        positive.push_back(a);
      }
  const double zeros = size * added.columns() - double(positive.size());
  return root_of([&](double a) {
    double slope = logs - zeros * digamma(a);
    for (const double total : totals) slope += size * digamma(size * a + total);
    for (const double each : positive) slope -= digamma(a + each);
    return slope;
  });
}

void learn_asymmetric(std::vector<double> &alpha, double groups, std::span<const double> logs) {
  const std::size_t k = alpha.size();
  if (k < 2) {
    alpha.assign(k, 1.0);
    return;
  }
  std::vector<double> gradient(k), curvature(k), next(k);
  double value = expected_log_prior(alpha, groups, logs);
  for (int iteration = 0; iteration < 30; ++iteration) {
    // Newton step; the Hessian is a diagonal matrix plus a constant (Minka 2000).
    double sum = 0, weighted = 0, inverse = 0;
    for (const double a : alpha) sum += a;
    const double of_sum = digamma(sum);
    for (std::size_t i = 0; i < k; ++i) {
      gradient[i] = groups * (of_sum - digamma(alpha[i])) + logs[i];
      curvature[i] = -groups * trigamma(alpha[i]);
      weighted += gradient[i] / curvature[i];
      inverse += 1 / curvature[i];
    }
    const double common = weighted / (1 / (groups * trigamma(sum)) + inverse);
    bool moved = false;
    double largest = 0;
    for (double step = 1; step > 1e-4 && !moved; step /= 2) {
      largest = 0;
      for (std::size_t i = 0; i < k; ++i) {
        // at most by a factor of 8, beyond which the quadratic approximation is poor
        next[i] = std::clamp(alpha[i] - step * (gradient[i] - common) / curvature[i],
                             std::max(alpha[i] / 8, min_concentration),
                             std::min(alpha[i] * 8, max_concentration));
        largest = std::max(largest, std::abs(next[i] / alpha[i] - 1));
      }
      const double next_value = expected_log_prior(next, groups, logs);
      moved = next_value >= value;
      if (moved) {
        value = next_value;
        alpha = next;
      }
    }
    if (!moved || largest < 1e-8) return;
  }
}

}  // namespace bayes
