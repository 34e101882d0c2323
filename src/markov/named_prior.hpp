// Priors of a Markov chain that tell states apart: which states they leave exchangeable, and which
// state has which name.
#pragma once

#include <vector>

#include "base/assignment.hpp"
#include "base/random.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

/// What gives states their names.
struct StateNames {
  /// states that may be exchanged when draws are relabelled, or states sorted
  ExchangeableGroups groups;
  /// If the prior of the chain, and nothing else, tells states apart: its groups. Then paths and
  /// emissions know no names, and may be given any. Else empty.
  ExchangeableGroups of_prior = {};
};

namespace markov {

ExchangeableGroups exchangeable_states(const MarkovWeights &prior);

/// The order of the states in which such (expected) counts are most probable under the prior, with
/// the chain's parameters integrated out: among all orders of few states, else the end of
/// improvements by exchanges of two.
std::vector<int> best_names(const MarkovCounts &counts, const MarkovWeights &prior,
                            const ExchangeableGroups &of_prior);

/// A Metropolis step on the names of the states, given a path and with the chain's parameters
/// integrated out: returns the new order. Without it a sampler would keep the names that it began
/// with for as long as states do not mix.
std::vector<int> draw_names(const MarkovCounts &counts, const MarkovWeights &prior,
                            const ExchangeableGroups &of_prior, Random &random);

/// Is it 0, 1, 2, ...?
bool is_identity(const std::vector<int> &order);

}  // namespace markov
}  // namespace bayes
