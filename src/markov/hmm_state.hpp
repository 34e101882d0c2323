// The internal state of a fitted hidden Markov model, for the files of this model only.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "families/normal/normal_wishart.hpp"
#include "families/product/product_components.hpp"
#include "markov/hmm.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

/// Posterior standard deviations from draws, or by linear response: of probabilities, including
/// those of Bernoulli and categorical elements; of other emission parameters where available.
struct HmmDeviations {
  Vector initial;
  Matrix transition;
  /// point size x K; of normals 2 d x K, of the means, then of the variances, or empty
  Matrix emissions;
};

template <class P, class Q> struct HmmFitted {
  using Point = P;
  using Posterior = Q;
  MarkovPoint<P> point;
  std::optional<MarkovPosterior<Q>> posterior;  // of vi and svi
  std::optional<HmmDeviations> deviations;      // of gibbs, and of vi with linear response
  /// of gibbs: stored draws of the parameters, with states numbered as in `point`
  std::vector<MarkovPoint<P>> draws;

  /// f(point) for all points under which sequences are scored: the draws, or without draws the
  /// point
  template <class F> void for_each_point(F f) const {
    if (draws.empty()) return f(point);
    for (const MarkovPoint<P> &draw : draws) f(draw);
  }
};
using NormalHmm = HmmFitted<NormalPoint, NormalWishart>;
using ProductHmm = HmmFitted<ProductPoint, ProductPosterior>;

struct HiddenMarkovModel::State {
  std::variant<NormalHmm, ProductHmm> fitted;
  Vector visits;        // K expected occupancies
  Matrix transitions;   // K x K expected transitions, (from, to)
  double weight = 0;    // of all steps
  double observed = 0;  // of those that are not entirely missing
  int zeros = 0;        // structural zeros of initial probabilities and transitions
  bool vectors = false, whole_steps = false;
  std::vector<std::string> symbols;  // names of the one categorical element's values; empty: none

  bool is_symbols() const { return !symbols.empty(); }
  /// K: the expected shares of the states in the steps of the fit; equal if there were none
  Vector shares() const;
};

}  // namespace bayes
