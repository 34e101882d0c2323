// The variational posterior of the topics: their factors for the local step, and their divergence
// from the prior.
#pragma once

#include <vector>

#include "base/control.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {

/// The Dirichlet posteriors of the topics, or their point estimates (em).
class TopicPosterior {
 public:
  TopicPosterior(const TopicTask &task, std::int32_t terms, int topics);

  TermParameters parameters(const TopicState &state) const {
    return {state.counts, state.scale, state.eta, added_};
  }
  /// Digamma of the sum of each topic's parameters, given the sums of the counts.
  Buffer digammas(const TopicState &state, const Buffer &count_totals) const;

  /// Computes the factors of all terms, and the sums that divergence() and learn_eta() need.
  void update_factors(const TopicState &state, const Buffer &count_totals, Control &control);
  /// KL(q || p) of all topics, for the last factors of all terms.
  double divergence(const TopicState &state, const Buffer &count_totals) const;
  /// The eta that maximises the bound, for the last factors of all terms.
  double learn_eta() const;

  TermFactors factors;

 private:
  std::vector<double> totals(const TopicState &state, const Buffer &count_totals) const;

  const PaddedMatrix *added_;
  const bool point_estimates_;
  Buffer added_totals_;
  std::vector<double> positive_added_;
  ExpectationSums sums_;
};

}  // namespace bayes
