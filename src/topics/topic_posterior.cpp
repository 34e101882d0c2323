#include "topics/topic_posterior.hpp"

#include <algorithm>

#include "base/special.hpp"
#include "counts/passes.hpp"
#include "topics/prior_learning.hpp"

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

}  // namespace bayes
