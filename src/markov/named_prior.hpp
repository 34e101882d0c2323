// Asymmetric priors of a Markov chain, which distinguish states: which states remain exchangeable,
// and how states are matched to the prior's numbering.
#pragma once

#include <vector>

#include "base/assignment.hpp"
#include "base/random.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

/// What determines the numbering of the states.
struct StateNumbering {
  /// groups of states that may be exchanged when draws are relabelled or states sorted
  ExchangeableGroups groups;
  /// If the prior of the chain, and nothing else, distinguishes states: its groups of exchangeable
  /// states. Then the states of a path and their emissions may be permuted to match the prior. Else
  /// empty.
  ExchangeableGroups of_prior = {};
};

namespace markov {

ExchangeableGroups exchangeable_states(const MarkovWeights &prior);

/// The order of the states in which such (expected) counts are most probable under the prior, with
/// the chain's parameters integrated out: the best of all orders of up to 6 states, else a local
/// optimum of pairwise exchanges.
std::vector<int> best_state_order(const MarkovCounts &counts, const MarkovWeights &prior,
                                  const ExchangeableGroups &of_prior);

/// A Metropolis update of the order of the states, given the counts of a path and with the chain's
/// parameters integrated out: returns the new order. Without it a sampler would keep its initial
/// numbering, because other updates hardly ever exchange states.
std::vector<int> draw_state_order(const MarkovCounts &counts, const MarkovWeights &prior,
                                  const ExchangeableGroups &of_prior, Random &random);

/// Is the order 0, 1, 2, ...?
bool is_identity(const std::vector<int> &order);

}  // namespace markov
}  // namespace bayes
