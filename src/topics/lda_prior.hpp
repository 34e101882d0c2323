// The prior of a topic model, its parameters given or as they are learned.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "topics/term_topics.hpp"

namespace bayes {

struct LdaPrior {
  /// K, of a document's proportions
  std::vector<double> alpha;
  /// of a topic's terms
  double eta = 0;
  /// what seeded topics, or the posterior of the model that is updated, add to eta; empty: nothing
  TermTopics added;
};

/// Gamma hyperpriors of what is learned of the prior: alpha_k (or the alpha of all topics) and eta.
inline constexpr double lda_hyper_shape = 1, lda_hyper_rate = 1;

/// What of the prior a chain draws.
struct DrawnPrior {
  bool alpha = false, symmetric = false, eta = false;
  /// log of its density
  double log_density(const LdaPrior &prior) const;
};

/// What samplers leave of the topics.
struct SampledTopics {
  LdaPrior prior;
  /// Posterior mean of the expected number of tokens n_kw of every term and topic, topics matched
  /// between draws and chains as far as the prior does not tell them apart.
  TermTopics counts;
  /// Posterior mean of p(term | topic).
  TermTopics probabilities;
  /// Some draws of n_kw, whose topics are those of `counts`; chain after chain.
  std::vector<TermTopics> draws;
  /// of every stored draw; `added` is empty, as it is that of `prior`
  std::vector<LdaPrior> draw_priors;
};

}  // namespace bayes
