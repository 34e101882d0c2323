// Posteriors of hidden Markov models for linear response (fit/linear_response.hpp).
#pragma once

#include <vector>

#include "families/posterior_factor.hpp"
#include "fit/linear_response.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

// For the chain: its entries that are not structural zeros, first of the initial distribution, then
// of each row of the transition matrix.
namespace markov {
Vector natural_parameters(const MarkovWeights &q);
/// `natural` may have further entries after those of the chain.
MarkovWeights from_natural_parameters(const Vector &natural, const MarkovWeights &about);
std::vector<PosteriorFactor> posterior_factors(const MarkovWeights &q);
/// Splits the standard deviations found by linear response into those of the chain, which are
/// returned, and `rest`.
MarkovWeights deviations(const Vector &found, const MarkovWeights &q, Vector &rest);
}  // namespace markov

template <class Q>
Vector natural_parameters(const MarkovPosterior<Q> &q, const MarkovPosterior<Q> &about) {
  const Vector chain = markov::natural_parameters(q),
               emissions = natural_parameters(q.emissions, about.emissions);
  Vector out(chain.size() + emissions.size());
  out << chain, emissions;
  return out;
}
template <class Q>
MarkovPosterior<Q> from_natural_parameters(const Vector &natural, const MarkovPosterior<Q> &about) {
  const Eigen::Index chain = markov::natural_parameters(about).size();
  return {markov::from_natural_parameters(natural, about),
          from_natural_parameters(Vector(natural.tail(natural.size() - chain)), about.emissions)};
}
template <class Q> std::vector<PosteriorFactor> posterior_factors(const MarkovPosterior<Q> &q) {
  std::vector<PosteriorFactor> out = markov::posterior_factors(q);
  for (PosteriorFactor &factor : posterior_factors(q.emissions)) out.push_back(std::move(factor));
  return out;
}

template <class Q> double rows_behind(const MarkovPosterior<Q> &q) {
  return q.initial.sum() + q.transition.sum();
}

/// A local step with the states `out` left out: none begins or goes there.
template <class Q>
LocalResult<typename MarkovVariational<Q>::Statistics> expected_statistics_without(
    const std::vector<int> &out, const MarkovVariational<Q> &learner, MarkovPosterior<Q> state,
    const Sequences &sequences, Control &control) {
  for (const int j : out) {
    state.initial(j) = 0;
    state.transition.col(j).setZero();
  }
  return expected_statistics(learner, state, sequences, control);
}

}  // namespace bayes
