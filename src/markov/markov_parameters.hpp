// Parameters of a hidden Markov model: a point, and a posterior.
#pragma once

#include "base/linalg.hpp"

namespace bayes {

template <class Point> struct MarkovPoint {
  Vector initial;     // K
  Matrix transition;  // K x K, (from, to): rows sum to 1
  Point emissions;
};

/// q(initial) and q of each row of the transitions are Dirichlet.
template <class Posterior> struct MarkovPosterior {
  Vector initial;     // K
  Matrix transition;  // K x K
  Posterior emissions;
};

/// Posterior means.
template <class Q> auto mean_parameters(const MarkovPosterior<Q> &q) {
  return MarkovPoint<decltype(point_estimate(q.emissions))>{
      q.initial / q.initial.sum(),
      q.transition.array().colwise() / q.transition.rowwise().sum().array(),
      point_estimate(q.emissions)};
}

}  // namespace bayes
