#include "topics/topic_side.hpp"

#include "base/special.hpp"
#include "topics/prior_learning.hpp"

namespace bayes {

Buffer sums_of_terms(const TermTopics &values, Control &control) {
  const std::size_t stride = std::size_t(values.stride());
  std::vector<Buffer> slots(std::size_t(most_slots(control)), Buffer(stride));
  Buffer out(stride, 0.0);
  each_chunk(
      values.terms(), 2.0 * double(stride), control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        Buffer &sums = slots[std::size_t(slot)];
        std::fill(sums.begin(), sums.end(), 0.0);
        WorkPoll poll;
        for (std::int32_t w = first; w < last; ++w) {
          for (std::size_t k = 0; k < stride; ++k) sums[k] += values.of(w)[k];
          poll(stride);
        }
      },
      [&](int slot) {
        for (std::size_t k = 0; k < stride; ++k) out[k] += slots[std::size_t(slot)][k];
      });
  return out;
}

TopicSide::TopicSide(const TopicTask &task, std::int32_t terms, int topics)
    : factors(terms, topics),
      added_(task.added.terms() ? &task.added : nullptr),
      point_(task.options.method == "em"),
      added_totals_(std::size_t(padded_topics(topics)), 0.0) {
  if (!added_) return;
  WorkPoll poll;
  for (std::int32_t w = 0; w < terms; ++w) {
    poll(std::size_t(topics));
    for (int k = 0; k < topics; ++k) {
      const double a = added_->of(w)[k];
      added_totals_[std::size_t(k)] += a;
      if (a > 0) not_zero_.push_back(a);
    }
  }
}

std::vector<double> TopicSide::totals(const TopicState &state, const Buffer &count_totals) const {
  std::vector<double> out(std::size_t(state.counts.topics()));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = state.eta * factors.values().terms() + added_totals_[k] + count_totals[k];
  return out;
}

Buffer TopicSide::digammas(const TopicState &state, const Buffer &count_totals) const {
  Buffer out(count_totals.size(), 0.0);
  const std::vector<double> all = totals(state, count_totals);
  std::transform(all.begin(), all.end(), out.begin(), [](double x) { return digamma(x); });
  return out;
}

void TopicSide::factor(const TopicState &state, const Buffer &count_totals, Control &control) {
  const int topics = state.counts.topics();
  if (point_) {
    each_chunk(
        state.counts.terms(), 4.0 * topics, control,
        [&](std::int32_t first, std::int32_t last, int) {
          WorkPoll poll;
          for (std::int32_t w = first; w < last; ++w) {
            factors.take(w, state.counts);
            poll(4 * std::size_t(topics));
          }
        },
        [](int) {});
    return;
  }
  const Buffer of_totals = digammas(state, count_totals);
  const TopicParameters from = parameters(state);
  std::vector<TopicSums> slots(std::size_t(most_slots(control)));
  sums_ = {};
  each_chunk(
      state.counts.terms(), 60.0 * topics, control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        TopicSums &here = slots[std::size_t(slot)] = {};
        WorkPoll poll;
        for (std::int32_t w = first; w < last; ++w) {
          here.add(factors.expect(w, from, of_totals.data()));
          poll(20 * std::size_t(topics));
        }
      },
      [&](int slot) { sums_.add(slots[std::size_t(slot)]); });
}

double TopicSide::divergence(const TopicState &state, const Buffer &count_totals) const {
  if (point_) return 0;
  const double v = factors.values().terms(), k = factors.values().topics();
  double out = sums_.counted_logs - sums_.log_gamma;
  for (const double total : totals(state, count_totals)) out += log_gamma(total);
  out += (v * k - double(not_zero_.size())) * log_gamma(state.eta);
  WorkPoll poll;
  for (const double a : not_zero_) {
    out += log_gamma(state.eta + a);
    poll(20);
  }
  for (int i = 0; i < int(k); ++i) out -= log_gamma(v * state.eta + added_totals_[std::size_t(i)]);
  return out;
}

double TopicSide::learn_eta() const {
  return added_ ? learn_symmetric(*added_, sums_.logs)
                : learn_symmetric(factors.values().topics(), factors.values().terms(), sums_.logs);
}

}  // namespace bayes
