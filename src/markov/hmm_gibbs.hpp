// Gibbs sampling of hidden Markov models: paths given parameters by forward filtering, backward
// sampling (Chib 1996), missing elements of multivariate normal steps given their states (data
// augmentation, Tanner and Wong 1987), and parameters from their conjugate posteriors given both.
// Paths are drawn with missing elements integrated out, so that path and elements are one draw from
// their joint distribution. Paths are redrawn in every sweep and not stored, so that memory does
// not grow with the sequences except for the reference path that identifies the states.
#pragma once

#include <functional>
#include <vector>

#include "base/assignment.hpp"
#include "base/random.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

// Asymmetric priors of a Markov chain, which distinguish states: which states remain exchangeable,
// and how states are matched to the prior's numbering.

/// The rules for the numbering of the states.
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

/// A draw of a Dirichlet distribution, or of one for each row; entries with alpha = 0 stay 0.
Vector draw_distribution(const Vector &alpha, Random &random);
Matrix draw_distributions(const Matrix &alpha, Random &random);

/// A draw of the parameters.
template <class P, class Q>
MarkovPoint<P> draw_parameters(const MarkovPosterior<Q> &q, Random &random) {
  MarkovPoint<P> out{{draw_distribution(q.initial, random), {}}, draw(q.emissions, random)};
  out.transition = draw_distributions(q.transition, random);
  return out;
}

/// Estimates from the draws: averages of conditional expectations given each path (Rao-Blackwell),
/// so that few draws suffice.
template <class P, class Q> struct SampledHmm {
  MarkovPoint<P> point;
  HmmDeviations deviations;
  /// some draws of the parameters, evenly spaced
  std::vector<MarkovPoint<P>> draws;
  /// log of the average likelihood over these draws
  double log_likelihood = 0;
  Vector visits;
  Matrix transitions;
  ChainRun chains;
};

/// `begin(chain)`: the chain's starting point. Draws are relabelled within the groups of `names` to
/// agree with a reference path; groups of one state need none. Throws Error(too_large) if the
/// reference path does not fit into memory. Compiled in hmm_gibbs.cpp, once for each family of
/// observations.
template <class P, class Q>
SampledHmm<P, Q> sample_hmm(const Sequences &sequences, const MarkovPosterior<Q> &prior,
                            bool whole_steps, const StateNumbering &names, const ChainPlan &plan,
                            std::uint64_t seed, Control &control,
                            const std::function<MarkovPoint<P>(int chain)> &begin);

}  // namespace bayes
