// Which topic of one draw, or of one model, is which of another.
#pragma once

#include <vector>

#include "base/control.hpp"
#include "topics/topic_chain.hpp"

namespace bayes {

/// A draw to compare others with, or expected numbers: of every term and topic the square root of
/// n_kw.
class TopicReference {
 public:
  explicit TopicReference(const TopicCounts &counts);
  explicit TopicReference(TermTopics numbers);
  /// The reference's name of each topic of a draw: the permutation that maximises the sum over
  /// terms and topics of the geometric means of their numbers of tokens.
  std::vector<int> names_of(const TopicCounts &counts, Control &control) const;
  std::vector<int> names_of(const TermTopics &numbers, Control &control) const;

 private:
  template <class Numbers> std::vector<int> match(const Numbers &numbers, Control &control) const;
  TermTopics roots_;
};

}  // namespace bayes
