#include "topics/topic_summaries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

/// Whether a document is more typical than another.
bool before(const TypicalDocuments::Entry &a, const TypicalDocuments::Entry &b) {
  if (a.lower_bound != b.lower_bound) return a.lower_bound > b.lower_bound;
  if (a.name->has_value() != b.name->has_value()) return a.name->has_value();
  return *a.name < *b.name;
}

}  // namespace

TopicCoherence::TopicCoherence(std::vector<std::vector<std::int32_t>> top) : top_(std::move(top)) {
  present_.resize(top_.size());
  for (std::size_t k = 0; k < top_.size(); ++k) {
    counts_.emplace_back(top_[k].size() * top_[k].size(), 0);
    for (std::size_t i = 0; i < top_[k].size(); ++i)
      places_[top_[k][i]].emplace_back(std::int32_t(k), std::int32_t(i));
  }
}

std::int64_t &TopicCoherence::together(int topic, std::size_t a, std::size_t b) {
  const auto k = std::size_t(topic);
  return counts_[k][std::min(a, b) * top_[k].size() + std::max(a, b)];
}

void TopicCoherence::add(const DocumentTerms &document) {
  ++documents_;
  for (const std::int32_t w : document.terms) {
    const auto found = places_.find(w);
    if (found == places_.end()) continue;
    for (const auto &[k, i] : found->second) {
      auto &present = present_[std::size_t(k)];
      if (present.empty()) touched_.push_back(k);
      present.push_back(i);
      for (const std::int32_t j : present) ++together(k, std::size_t(i), std::size_t(j));
    }
  }
  for (const std::int32_t k : touched_) present_[std::size_t(k)].clear();
  touched_.clear();
}

void TopicCoherence::add(const TopicCoherence &other) {
  if (other.top_ != top_)
    throw Error(Errc::internal, "coherences of different terms cannot be added");
  documents_ += other.documents_;
  for (std::size_t k = 0; k < counts_.size(); ++k)
    for (std::size_t i = 0; i < counts_[k].size(); ++i) counts_[k][i] += other.counts_[k][i];
}

std::optional<double> TopicCoherence::umass(int topic) const {
  const std::size_t n = top_[std::size_t(topic)].size();
  double sum = 0;
  bool any = false;
  for (std::size_t m = 1; m < n; ++m)
    for (std::size_t l = 0; l < m; ++l) {
      const std::int64_t upper = together(topic, l, l);
      if (upper == 0) continue;
      any = true;
      sum += std::log(double(together(topic, l, m) + 1) / double(upper));
    }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<double> TopicCoherence::npmi(int topic) const {
  const std::size_t n = top_[std::size_t(topic)].size();
  if (n < 2 || documents_ == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t m = 1; m < n; ++m)
    for (std::size_t l = 0; l < m; ++l) {
      const auto share = [&](std::size_t a, std::size_t b) {
        return double(together(topic, a, b)) / double(documents_);
      };
      const double both = share(l, m);
      if (both == 0)
        sum -= 1;
      else if (both == 1)
        sum += 1;  // the limit
      else
        sum += std::log(both / (share(l, l) * share(m, m))) / -std::log(both);
    }
  return sum / (double(n) * double(n - 1) / 2);
}

void TypicalDocuments::add(const Name &name, const LdaProportions &proportions) {
  const auto shared = std::make_shared<const Name>(name);
  for (std::size_t k = 0; k < heaps_.size(); ++k) {
    std::vector<Entry> &heap = heaps_[k];
    const double p = proportions.mean[k], deviation = proportions.deviation[k];
    const double lower_bound =
        p > 0 ? std::log(p) - 2 * deviation / p : -std::numeric_limits<double>::infinity();
    Entry entry{lower_bound, p, deviation, shared};
    if (heap.size() == top_) {
      if (!before(entry, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.pop_back();
    }
    heap.push_back(std::move(entry));
    std::push_heap(heap.begin(), heap.end(), before);
  }
}

std::vector<TypicalDocuments::Entry> TypicalDocuments::ranked(int topic) const {
  std::vector<Entry> out = heaps_[std::size_t(topic)];
  std::sort_heap(out.begin(), out.end(), before);
  return out;
}

double hellinger_distance(std::span<const double> p, std::span<const double> q) {
  if (p.size() != q.size())
    throw Error(Errc::array_shape,
                message("distributions have {} and {} elements", p.size(), q.size()));
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double difference = std::sqrt(p[k]) - std::sqrt(q[k]);
    sum += difference * difference;
  }
  return std::min(1.0, std::sqrt(sum / 2));
}

}  // namespace bayes
