// Numbers for every term and topic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned.hpp"

namespace bayes {

/// Topics of a term lie side by side, padded to a multiple of this: whole vectors at every level.
inline constexpr int topic_lanes = 8;
inline int padded_topics(int topics) {
  return (topics + topic_lanes - 1) / topic_lanes * topic_lanes;
}

/// V x K numbers, those of a term side by side; the padding is 0.
class TermTopics {
 public:
  TermTopics() = default;
  TermTopics(std::int32_t terms, int topics)
      : terms_(terms),
        topics_(topics),
        stride_(padded_topics(topics)),
        values_(std::size_t(terms) * std::size_t(stride_), 0.0) {}
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
