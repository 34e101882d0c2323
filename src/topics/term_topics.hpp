// Numbers for every term and topic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/aligned.hpp"
#include "base/control.hpp"

namespace bayes {

/// Topics of a term lie side by side, padded to a multiple of this: whole vectors at every level.
inline constexpr int topic_lanes = 8;
inline int padded_topics(int topics) {
  return (topics + topic_lanes - 1) / topic_lanes * topic_lanes;
}

/// Appends zeros up to a size, with polls: the first touch of much memory takes a while.
inline void grow(Buffer &values, std::size_t size) {
  constexpr std::size_t step = 1 << 20;
  values.reserve(size);
  while (values.size() < size) {
    poll_here();
    values.resize(std::min(size, values.size() + step), 0.0);
  }
}

/// V x K numbers, those of a term side by side; the padding is 0.
class TermTopics {
 public:
  TermTopics() = default;
  TermTopics(std::int32_t terms, int topics)
      : terms_(terms),
        topics_(topics),
        stride_(padded_topics(topics)) {
    grow(values_, std::size_t(terms) * std::size_t(stride_));
  }
  std::int32_t terms() const { return terms_; }
  int topics() const { return topics_; }
  int stride() const { return stride_; }
  double *of(std::int32_t term) {
    return values_.data() + std::size_t(term) * std::size_t(stride_);
  }
  const double *of(std::int32_t term) const {
    return values_.data() + std::size_t(term) * std::size_t(stride_);
  }
  Buffer &values() { return values_; }
  const Buffer &values() const { return values_; }

 private:
  std::int32_t terms_ = 0;
  int topics_ = 0, stride_ = 0;
  Buffer values_;
};

}  // namespace bayes
