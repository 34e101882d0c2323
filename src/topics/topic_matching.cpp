#include "topics/topic_matching.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/assignment.hpp"
#include "base/simd.hpp"

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

std::vector<int> TopicReference::names_of(const TopicCounts &counts, Control &control) const {
  return match(counts, control);
}

std::vector<int> TopicReference::names_of(const TermTopics &numbers, Control &control) const {
  return match(numbers, control);
}

template <class Numbers>
std::vector<int> TopicReference::match(const Numbers &counts, Control &control) const {
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
    settled = settled && !taken[std::size_t(best[i])];
    taken[std::size_t(best[i])] = 1;
  }
  if (settled) return best;
  std::vector<double> overlap(k * k);
  for (std::size_t i = 0; i < k; ++i)
    std::copy_n(rows.data() + i * std::size_t(stride), k, overlap.data() + i * k);
  return best_assignment(overlap, topics);
}

}  // namespace bayes
