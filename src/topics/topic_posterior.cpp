#include "topics/topic_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "base/root.hpp"
#include "base/special.hpp"
#include "counts/passes.hpp"

namespace bayes {

TopicPosterior::TopicPosterior(const TopicTask &task, std::int32_t terms, int topics)
    : factors(terms, topics),
      added_(task.added.rows() ? &task.added : nullptr),
      point_estimates_(task.options.method == Method::em),
      added_totals_(std::size_t(padded_size(topics)), 0.0) {
  if (!added_) return;
  WorkPoll poll;
  for (std::int32_t w = 0; w < terms; ++w) {
    poll(std::size_t(topics));
    for (int k = 0; k < topics; ++k) {
      const double a = added_->row(w)[k];
      added_totals_[std::size_t(k)] += a;
      if (a > 0) positive_added_.push_back(a);
    }
  }
}

std::vector<double> TopicPosterior::totals(const TopicState &state,
                                           const Buffer &count_totals) const {
  std::vector<double> out(std::size_t(state.counts.columns()));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = state.eta * factors.values().rows() + added_totals_[k] + count_totals[k];
  return out;
}

Buffer TopicPosterior::digammas(const TopicState &state, const Buffer &count_totals) const {
  Buffer out(count_totals.size(), 0.0);
  const std::vector<double> all = totals(state, count_totals);
  std::transform(all.begin(), all.end(), out.begin(), [](double x) { return digamma(x); });
  return out;
}

void TopicPosterior::update_factors(const TopicState &state, const Buffer &count_totals,
                                    Control &control) {
  const int topics = state.counts.columns();
  if (point_estimates_) {
    each_row_chunk(
        state.counts.rows(), 4.0 * topics, control,
        [&](std::int32_t first, std::int32_t last, int) {
          WorkPoll poll;
          for (std::int32_t w = first; w < last; ++w) {
            factors.set_points(w, state.counts);
            poll(4 * std::size_t(topics));
          }
        },
        [](int) {});
    return;
  }
  const Buffer of_totals = digammas(state, count_totals);
  const TermParameters from = parameters(state);
  std::vector<ExpectationSums> slots(std::size_t(max_slots(control)));
  sums_ = {};
  each_row_chunk(
      state.counts.rows(), 60.0 * topics, control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        ExpectationSums &here = slots[std::size_t(slot)] = {};
        WorkPoll poll;
        for (std::int32_t w = first; w < last; ++w) {
          here.add(factors.expect(w, from, of_totals.data()));
          poll(20 * std::size_t(topics));
        }
      },
      [&](int slot) { sums_.add(slots[std::size_t(slot)]); });
}

double TopicPosterior::divergence(const TopicState &state, const Buffer &count_totals) const {
  if (point_estimates_) return 0;
  const double v = factors.values().rows(), k = factors.values().columns();
  double out = sums_.counted_logs - sums_.log_gamma;
  for (const double total : totals(state, count_totals)) out += log_gamma(total);
  out += (v * k - double(positive_added_.size())) * log_gamma(state.eta);
  WorkPoll poll;
  for (const double a : positive_added_) {
    out += log_gamma(state.eta + a);
    poll(20);
  }
  for (int i = 0; i < int(k); ++i) out -= log_gamma(v * state.eta + added_totals_[std::size_t(i)]);
  return out;
}

double TopicPosterior::learn_eta() const {
  return added_ ? learn_symmetric(*added_, sums_.logs)
                : learn_symmetric(factors.values().columns(), factors.values().rows(), sums_.logs);
}

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
