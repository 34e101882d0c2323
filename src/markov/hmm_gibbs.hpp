// Gibbs sampling of hidden Markov models: paths given parameters by forward filtering, backward
// sampling (Chib 1996), missing elements of multivariate normal steps given their states (data
// augmentation, Tanner and Wong 1987), and parameters from their conjugate posteriors given both.
// Paths are drawn with missing elements integrated out, so that path and elements are one draw from
// their joint distribution. Paths are redrawn in every sweep and not stored, so that memory does
// not grow with the sequences except for the reference path that identifies the states.
#pragma once

#include <functional>

#include "markov/hmm_state.hpp"
#include "markov/named_prior.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

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
