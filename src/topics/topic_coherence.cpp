#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "topics/lda_evaluation.hpp"

namespace bayes {

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
    throw Error(Errc::internal, "coherences of different terms were to be added");
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

}  // namespace bayes
