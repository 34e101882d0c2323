// Which topic of one draw is which of another.
#pragma once

#include <vector>

#include "base/control.hpp"
#include "topics/topic_chain.hpp"

namespace bayes {

/// A draw to compare others with: of every term and topic the square root of n_kw.
class TopicReference {
 public:
  explicit TopicReference(const TopicCounts &counts);
  /// The reference's name of each topic of a draw: the permutation that maximises the sum over
  /// terms and topics of the geometric means of their numbers of tokens.
  std::vector<int> names_of(const TopicCounts &counts, Control &control) const;

 private:
  TermTopics roots_;
};

}  // namespace bayes
