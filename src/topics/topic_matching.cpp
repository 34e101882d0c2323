#include "topics/topic_matching.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/simd.hpp"
#include "topics/log_rising.hpp"

namespace bayes {

TopicReference::TopicReference(const TopicCounts &counts)
    : roots_(counts.terms(), counts.topics()) {
  WorkPoll poll;
  for (std::int32_t w = 0; w < counts.terms(); ++w) {
    for (int k = 0; k < counts.topics(); ++k) roots_.of(w)[k] = std::sqrt(double(counts.of(w)[k]));
    poll(4 * std::size_t(counts.topics()));
  }
}

TopicReference::TopicReference(TermTopics numbers) : roots_(std::move(numbers)) {
  WorkPoll poll;
  for (std::int32_t w = 0; w < roots_.terms(); ++w) {
    for (int k = 0; k < roots_.topics(); ++k) roots_.of(w)[k] = std::sqrt(roots_.of(w)[k]);
    poll(4 * std::size_t(roots_.topics()));
  }
}

std::vector<int> TopicReference::names_of(const TopicCounts &counts,
                                          const ExchangeableGroups &groups,
                                          Control &control) const {
  return match(counts, groups, control);
}

std::vector<int> TopicReference::names_of(const TermTopics &numbers, Control &control) const {
  return match(numbers, ExchangeableGroups(std::size_t(numbers.topics()), 0), control);
}

template <class Numbers>
std::vector<int> TopicReference::match(const Numbers &counts, const ExchangeableGroups &groups,
                                       Control &control) const {
  const int topics = counts.topics(), stride = counts.stride();
  const auto k = std::size_t(topics);
  Buffer rows(k * std::size_t(stride), 0.0);
  const PollScope scope(control);
  WorkPoll poll;
  for (std::int32_t w = 0; w < counts.terms(); ++w) {
    poll(k);
    const double *const root = roots_.of(w);
    for (int i = 0; i < topics; ++i) {
      if (counts.of(w)[i] == 0) continue;
      poll(k);
      const double own = std::sqrt(double(counts.of(w)[i]));
      double *const to = rows.data() + std::size_t(i) * std::size_t(stride);
      for (int j = 0; j < stride; j += simd::lanes)
        simd::store(to + j, simd::madd(own, simd::load(root + j), simd::load(to + j)));
    }
  }
  // If every topic has another best match, that is the answer.
  std::vector<int> best(k);
  std::vector<char> taken(k, 0);
  bool settled = true;
  for (std::size_t i = 0; i < k; ++i) {
    const double *const row = rows.data() + i * std::size_t(stride);
    best[i] = int(std::max_element(row, row + topics) - row);
    settled = settled && !taken[std::size_t(best[i])] && groups[std::size_t(best[i])] == groups[i];
    taken[std::size_t(best[i])] = 1;
  }
  if (settled) return best;
  std::vector<double> overlap(k * k);
  for (std::size_t i = 0; i < k; ++i)
    std::copy_n(rows.data() + i * std::size_t(stride), k, overlap.data() + i * k);
  return best_assignment(overlap, topics, groups);
}

ExchangeableGroups exchangeable_topics(const LdaPrior &prior, bool alpha_fixed) {
  const int k = int(prior.alpha.size());
  std::vector<std::int32_t> seeds;
  WorkPoll poll;
  for (std::int32_t w = 0; w < prior.added.terms(); ++w) {
    poll(std::size_t(k));
    const double *const row = prior.added.of(w);
    if (std::any_of(row, row + k, [](double x) { return x > 0; })) seeds.push_back(w);
  }
  return exchangeable_groups(k, [&](int i, int j) {
    if (alpha_fixed && prior.alpha[std::size_t(i)] != prior.alpha[std::size_t(j)]) return false;
    return std::all_of(seeds.begin(), seeds.end(), [&](std::int32_t w) {
      return prior.added.of(w)[i] == prior.added.of(w)[j];
    });
  });
}

void take_best_alphas(TopicChain &chain, Control &control) {
  const auto k = std::size_t(chain.topics());
  // What a document says of alpha_k is what it has of topic k: the topics do not depend on each
  // other.
  std::vector<double> worth(k * k, 0.0);
  const PollScope scope(control);
  WorkPoll poll;
  chain.histogram.each([&](int topic, std::int32_t n, std::int64_t documents) {
    poll(40 * k);
    for (std::size_t j = 0; j < k; ++j)
      worth[std::size_t(topic) * k + j] += double(documents) * log_rising(chain.prior.alpha[j], n);
  });
  const std::vector<int> names = best_assignment(worth, int(k));
  for (std::uint16_t &z : chain.assigned) z = std::uint16_t(names[z]);
  std::vector<std::int32_t> row(k);
  std::vector<std::int64_t> totals(k);
  for (std::int32_t w = 0; w < chain.terms(); ++w) {
    poll(2 * k);
    std::int32_t *const counts = chain.counts.of(w);
    for (std::size_t i = 0; i < k; ++i) row[std::size_t(names[i])] = counts[i];
    std::copy(row.begin(), row.end(), counts);
  }
  for (std::size_t i = 0; i < k; ++i) totals[std::size_t(names[i])] = chain.totals[i];
  chain.totals = std::move(totals);
}

}  // namespace bayes
