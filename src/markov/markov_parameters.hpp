// Parameters of a hidden Markov model: a point, and a posterior.
#pragma once

#include "base/linalg.hpp"

namespace bayes {

/// The probabilities of a chain, or the parameters of their Dirichlet distributions.
struct MarkovWeights {
  Vector initial;     // K
  Matrix transition;  // K x K, (from, to)
};
template <class Point> struct MarkovPoint : MarkovWeights { Point emissions; };
/// q(initial) and q of each row of the transitions are Dirichlet.
template <class Posterior> struct MarkovPosterior : MarkovWeights { Posterior emissions; };

inline void exchange(StateNumbers &numbers, MarkovWeights &state) {
  numbers.dense(state.initial);
  numbers.dense(state.transition);
}
template <class Point> void exchange(StateNumbers &numbers, MarkovPoint<Point> &state) {
  exchange(numbers, static_cast<MarkovWeights &>(state));
  exchange(numbers, state.emissions);
}
template <class Posterior> void exchange(StateNumbers &numbers, MarkovPosterior<Posterior> &state) {
  exchange(numbers, static_cast<MarkovWeights &>(state));
  exchange(numbers, state.emissions);
}

namespace markov {
/// E[probabilities]
MarkovWeights mean(const MarkovWeights &q);

/// The stationary distribution, if it is unique: if there is only one closed class of states.
/// Computed without subtractions (Grassmann, Taksar and Heyman 1985), so that very small transition
/// probabilities lose no digits.
Vector stationary(const Matrix &transition);

}  // namespace markov

/// Posterior means.
template <class Q> auto mean_parameters(const MarkovPosterior<Q> &q) {
  return MarkovPoint<decltype(point_estimate(q.emissions))>{markov::mean(q),
                                                            point_estimate(q.emissions)};
}

}  // namespace bayes
