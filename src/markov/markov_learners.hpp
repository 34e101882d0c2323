// The learners of hidden Markov models (002 L11): EM for maximum likelihood and for the mode of the
// posterior, and variational inference. All share the local step of markov_step.hpp; like those of
// mixtures (learners.hpp) they differ only in the global step, and are templates over the
// observation family.
//
// A Dirichlet parameter of 0, or at a point a probability of 0, is a structural zero: it stays 0,
// and the distribution is over the other entries.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/linalg.hpp"
#include "families/posterior_factor.hpp"
#include "fit/driver.hpp"
#include "fit/linear_response.hpp"
#include "markov/markov_step.hpp"

namespace bayes {

// Parameters of a hidden Markov model: a point, and a posterior.

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

struct MarkovCounts {
  Vector initial;      // K: weight of the sequences that begin in a state
  Matrix transitions;  // K x K, (from, to)
  Vector count;        // K: steps

  void scale(double factor);
};
inline void exchange(StateNumbers &numbers, MarkovCounts &counts) {
  numbers.dense(counts.initial);
  numbers.dense(counts.transitions);
  numbers.dense(counts.count);
}
template <class Emissions> struct MarkovStatistics : MarkovCounts {
  Emissions emissions;

  void scale(double factor) {
    MarkovCounts::scale(factor);
    emissions.scale(factor);
  }
};

// The steps of learners that concern the chain, whatever the emissions; compiled once.
namespace markov {

/// The entries that are not structural zeros: those with alpha > 0.
Vector possible(const Vector &of, const Vector &alpha);

/// Fewer transitions from a state than this count as none: their targets are rounding errors.
double negligible_count(const MarkovCounts &counts);
/// Normalised counts. Without counts the entries that are possible `before` are equally probable.
MarkovWeights maximum_likelihood(const MarkovCounts &counts, const MarkovWeights &before);
/// The modes of the posterior's Dirichlet distributions. Without counts and prior the entries that
/// are possible `before` are equally probable.
MarkovWeights maximum_posterior(const MarkovCounts &counts, const MarkovWeights &prior,
                                const MarkovWeights &before);
MarkovWeights posterior(const MarkovCounts &counts, const MarkovWeights &prior);
/// A step of size rho from `from` towards `to`.
MarkovWeights natural_gradient_step(const MarkovWeights &from, const MarkovWeights &to, double rho);
/// log density of the probabilities `point` under the prior
double log_density(const MarkovWeights &point, const MarkovWeights &prior);
double divergence(const MarkovWeights &q, const MarkovWeights &prior);
/// The states in this order.
MarkovWeights reordered(const MarkovWeights &of, const std::vector<int> &order);
MarkovCounts reordered(const MarkovCounts &of, const std::vector<int> &order);
Matrix reordered(const Matrix &transition, const std::vector<int> &order);

/// The chain with the logarithms of these probabilities.
MarkovChain log_chain(const MarkovWeights &point);
/// The chain with the expected logarithms of probabilities under q.
MarkovChain expected_log_chain(const MarkovWeights &q);
/// The chain with the averages of log probabilities over several points. A probability that is 0 in
/// some, but not all, of them counts as the smallest positive normal number.
MarkovChain average_log_chain(std::span<const MarkovWeights *const> points);
template <class Point> MarkovChain chain_of(const MarkovPoint<Point> &point) {
  return log_chain(point);
}
template <class Posterior> MarkovChain chain_of(const MarkovPosterior<Posterior> &q) {
  return expected_log_chain(q);
}

}  // namespace markov

/// The states in this order.
template <template <class> class M, class T>
requires std::derived_from<M<T>, MarkovWeights> M<T> reordered(const M<T> &of,
                                                               const std::vector<int> &order) {
  return {markov::reordered(of, order), pick(of.emissions, order)};
}

/// EM for maximum likelihood (Baum and Welch).
template <class Point, class Floor> class MarkovMaximumLikelihood {
 public:
  using State = MarkovPoint<Point>;
  using Scorer = decltype(make_scorer(std::declval<const Point &>()));
  using Statistics = MarkovStatistics<typename Scorer::Statistics>;

  MarkovMaximumLikelihood(const Floor &floor, bool whole_steps)
      : whole_steps(whole_steps),
        floor_(floor) {}
  double objective(const State &) const { return 0; }
  State update(const Statistics &s, const State &state) const {
    return {markov::maximum_likelihood(s, state),
            maximum_likelihood(s.emissions, state.emissions, floor_)};
  }
  /// A learner's state with the chain of these counts, and the emissions of the states `emissions`.
  State rearranged(const State &state, const MarkovCounts &counts,
                   const std::vector<int> &emissions) const {
    return {markov::maximum_likelihood(counts, state), pick(state.emissions, emissions)};
  }
  std::vector<bool> degenerate(const State &state) const {
    return at_floor(state.emissions, floor_);
  }
  const bool whole_steps;

 private:
  const Floor &floor_;
};

/// EM for the mode of the posterior. Every Dirichlet parameter must be 0 or at least 1.
template <class Point, class Prior> class MarkovMaximumPosterior {
 public:
  using State = MarkovPoint<Point>;
  using Scorer = decltype(make_scorer(std::declval<const Point &>()));
  using Statistics = MarkovStatistics<typename Scorer::Statistics>;

  MarkovMaximumPosterior(MarkovPosterior<Prior> prior, bool whole_steps)
      : whole_steps(whole_steps),
        prior_(std::move(prior)) {}
  double objective(const State &state) const {
    return markov::log_density(state, prior_) + log_prior(state.emissions, prior_.emissions);
  }
  State update(const Statistics &s, const State &state) const {
    return {markov::maximum_posterior(s, prior_, state),
            maximum_posterior(s.emissions, prior_.emissions)};
  }
  /// A learner's state with the chain of these counts, and the emissions of the states `emissions`.
  State rearranged(const State &state, const MarkovCounts &counts,
                   const std::vector<int> &emissions) const {
    return {markov::maximum_posterior(counts, prior_, state), pick(state.emissions, emissions)};
  }
  const bool whole_steps;

 private:
  MarkovPosterior<Prior> prior_;
};

/// Variational inference: the objective is the ELBO with all constants. With move() also its
/// stochastic form (Foti and others 2014, whole sequences).
template <class Posterior> class MarkovVariational {
 public:
  using State = MarkovPosterior<Posterior>;
  using Scorer = decltype(make_scorer(std::declval<const Posterior &>()));
  using Statistics = MarkovStatistics<typename Scorer::Statistics>;

  MarkovVariational(State prior, bool whole_steps)
      : whole_steps(whole_steps),
        prior_(std::move(prior)) {}
  double objective(const State &state) const {
    return -markov::divergence(state, prior_) - divergence(state.emissions, prior_.emissions);
  }
  State update(const Statistics &s, const State &state) const {
    return {markov::posterior(s, prior_),
            posterior(s.emissions, prior_.emissions, state.emissions)};
  }
  State move(const State &from, const State &to, double step) const {
    return {markov::natural_gradient_step(from, to, step),
            natural_gradient_step(from.emissions, to.emissions, step)};
  }
  /// A learner's state with the chain of these counts, and the emissions of the states `emissions`.
  State rearranged(const State &state, const MarkovCounts &counts,
                   const std::vector<int> &emissions) const {
    return {markov::posterior(counts, prior_), pick(state.emissions, emissions)};
  }
  const bool whole_steps;

 private:
  State prior_;
};

namespace markov {

MarkovCounts counts_of(const MarkovSums &sums);

/// The statistics of a family from the sums of a pass.
template <class Scorer>
MarkovStatistics<typename Scorer::Statistics> statistics_of(const MarkovSums &sums,
                                                            const Scorer &scorer) {
  return {counts_of(sums), scorer.statistics(sums.counts, sums.raw)};
}

}  // namespace markov

template <class L>
requires requires(const typename L::State &state) { make_scorer(state.emissions); }
LocalResult<typename L::Statistics> expected_statistics(const L &learner,
                                                        const typename L::State &state,
                                                        const Sequences &sequences,
                                                        Control &control) {
  const auto scorer = make_scorer(state.emissions);
  const MarkovSums sums = markov_step(sequences, control, markov::chain_of(state),
                                      *emissions_of(scorer, learner.whole_steps, sequences.values));
  return {markov::statistics_of(sums, scorer), {sums.objective, 0}};
}

/// Random samples of whole sequences, drawn uniformly with replacement.
class SequenceMinibatches {
 public:
  /// Throws Error(too_large) if a minibatch of sequences of mean length does not fit into the
  /// memory for rows. draw() throws it if the drawn sequences need more than twice that memory.
  SequenceMinibatches(const Sequences &from, std::int64_t batch, const Control &control);
  bool whole() const { return size_ >= from_.count; }
  double scale() const { return double(from_.count) / double(size_); }
  /// Per step, not per sequence: otherwise the random lengths of the drawn sequences would swamp
  /// improvements of the objective.
  double objective_scale() const { return from_.weight / batch_->weight; }

  const Sequences &draw(Random random);

 private:
  double bytes(double steps) const { return 8.0 * steps * (shape_.dimension + 1); }

  const Sequences &from_;
  const Control &control_;
  std::int64_t size_;
  RowShape shape_;
  MemoryRows rows_;
  std::optional<Sequences> batch_;
  std::vector<std::int64_t> starts_;
};

inline SequenceMinibatches minibatches_of(const Sequences &sequences, const StochasticPlan &plan,
                                          const Control &control) {
  return {sequences, plan.batch_rows, control};
}

// Posteriors of hidden Markov models for linear response (fit/linear_response.hpp).

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
