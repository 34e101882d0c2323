// Which topic of one draw, or of one model, is which of another.
#pragma once

#include <vector>

#include "base/assignment.hpp"
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
  /// terms and topics of the geometric means of their numbers of tokens, of those that leave every
  /// topic in its group.
  std::vector<int> names_of(const TopicCounts &counts, const ExchangeableGroups &groups,
                            Control &control) const;
  std::vector<int> names_of(const TermTopics &numbers, Control &control) const;

 private:
  template <class Numbers>
  std::vector<int> match(const Numbers &numbers, const ExchangeableGroups &groups,
                         Control &control) const;
  TermTopics roots_;
};

/// Topics that the prior does not tell apart. `alpha_fixed`: or else all alpha are as good as
/// equal, as they are learned.
ExchangeableGroups exchangeable_topics(const LdaPrior &prior, bool alpha_fixed);

/// Gives the topics those parameters of the prior of proportions under which the documents are most
/// probable. `histogram` is that of the chain's tokens.
void take_best_alphas(TopicChain &chain, Control &control);

}  // namespace bayes
