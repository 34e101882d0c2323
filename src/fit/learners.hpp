// The learners of finite mixtures. All share the local step; they differ only in the global step:
// the parameters given the statistics, and the objective without its data term.
//
// They are templates over the observation family: its point estimates (make_scorer,
// maximum_likelihood, maximum_posterior, log_prior) and its posteriors (make_scorer, posterior,
// divergence, natural_gradient_step, point_estimate).
#pragma once

#include <concepts>
#include <limits>
#include <utility>
#include <vector>

#include "base/checkpoint.hpp"
#include "data/local_step.hpp"
#include "families/dirichlet.hpp"

namespace bayes {

/// A learner turns statistics into the next state. It maximises objective(state) + the data term, a
/// sum that update(statistics, state) never decreases. The statistics come from
/// expected_statistics(learner, state, data, control), overloaded for each kind of learner and
/// data.
template <class L>
concept Learner = requires(const L &learner, const typename L::State &state,
                           const typename L::Statistics &statistics) {
  { learner.objective(state) } -> std::convertible_to<double>;
  { learner.update(statistics, state) } -> std::same_as<typename L::State>;
};

/// A learner of exchangeable rows: it turns a state into a scorer and log weights.
template <class L>
concept RowLearner = Learner<L> && requires(const L &learner, const typename L::State &state) {
  typename L::Allocation;
  { learner.scorer(state) } -> std::derived_from<BlockScorer>;
  { learner.log_weights(state) } -> std::same_as<std::vector<double>>;
};

template <RowLearner L>
LocalResult<typename L::Statistics> expected_statistics(const L &learner,
                                                        const typename L::State &state,
                                                        RowSource &rows, Control &control) {
  return local_step<typename L::Allocation>(rows, control, learner.scorer(state),
                                            learner.log_weights(state));
}

/// A learner that can also make natural-gradient steps, for stochastic inference on minibatches.
template <class L>
concept StochasticLearner = Learner<L> &&
    requires(const L &learner, const typename L::State &state, double step) {
  { learner.move(state, state, step) } -> std::same_as<typename L::State>;
};

/// Weights and parameters of K components as point estimates.
template <class Point> struct MixturePoint {
  Vector weights;
  Point components;
};

// The global step of the weights, and their term of the objective; compiled once.

std::vector<double> log_weights_of(const Vector &weights);
/// E[log weight] under Dirichlet(alpha)
std::vector<double> expected_log_weights_of(const Vector &alpha);
/// E[weight] under Dirichlet(alpha)
Vector mean_weights(const Vector &alpha);
/// Shares of the counts, which sum to `total`.
Vector shares_of(const Vector &counts, double total);
/// The same with one additional row in every component.
Vector smoothed_shares(const Vector &counts, double total);
/// The mode of Dirichlet(alpha + counts).
Vector mode_of_weights(const Vector &counts, const Vector &alpha);
/// A step of size rho from one vector to another.
Vector step_between(const Vector &from, const Vector &to, double rho);

/// EM for maximum likelihood (002 L9). The floor keeps the likelihood bounded.
template <class Point, class Floor> class MaximumLikelihood {
 public:
  using Allocation = SoftAllocation;
  using State = MixturePoint<Point>;
  using Scorer = decltype(make_scorer(std::declval<const Point &>()));
  using Statistics = typename Scorer::Statistics;

  explicit MaximumLikelihood(const Floor &floor) : floor_(floor) {}

  Scorer scorer(const State &state) const { return make_scorer(state.components); }
  std::vector<double> log_weights(const State &state) const {
    return log_weights_of(state.weights);
  }
  double objective(const State &) const { return 0; }
  State update(const Statistics &statistics, const State &state) const {
    return {shares_of(statistics.count, statistics.total()),
            maximum_likelihood(statistics, state.components, floor_)};
  }
  std::vector<bool> degenerate(const State &state) const {
    return at_floor(state.components, floor_);
  }

 private:
  const Floor &floor_;
};

/// EM for the mode of the posterior. Every alpha must be at least 1: below, the density of the
/// weights has no mode inside the simplex.
template <class Point, class Prior> class MaximumPosterior {
 public:
  using Allocation = SoftAllocation;
  using State = MixturePoint<Point>;
  using Scorer = decltype(make_scorer(std::declval<const Point &>()));
  using Statistics = typename Scorer::Statistics;

  MaximumPosterior(Vector alpha, Prior prior)
      : alpha_(std::move(alpha)),
        prior_(std::move(prior)) {}

  Scorer scorer(const State &state) const { return make_scorer(state.components); }
  std::vector<double> log_weights(const State &state) const {
    return log_weights_of(state.weights);
  }
  double objective(const State &state) const {
    return dirichlet_log_density(state.weights, alpha_) + log_prior(state.components, prior_);
  }
  State update(const Statistics &statistics, const State &) const {
    return {mode_of_weights(statistics.count, alpha_), maximum_posterior(statistics, prior_)};
  }

 private:
  Vector alpha_;
  Prior prior_;
};

/// q(pi) = Dirichlet(alpha) and q of the components' parameters.
template <class Posterior> struct MixturePosterior {
  Vector alpha;
  Posterior components;
};

template <class Point> void exchange(StateNumbers &numbers, MixturePoint<Point> &state) {
  numbers.dense(state.weights);
  exchange(numbers, state.components);
}
template <class Posterior>
void exchange(StateNumbers &numbers, MixturePosterior<Posterior> &state) {
  numbers.dense(state.alpha);
  exchange(numbers, state.components);
}
/// The state of k-means: the centres.
inline void exchange(StateNumbers &numbers, Matrix &state) { numbers.dense(state); }

/// Mean-field variational inference (002 L9): the objective is the ELBO with all constants. With
/// move() also its stochastic form (002 L8).
template <class Posterior> class Variational {
 public:
  using Allocation = SoftAllocation;
  using State = MixturePosterior<Posterior>;
  using Scorer = decltype(make_scorer(std::declval<const Posterior &>()));
  using Statistics = typename Scorer::Statistics;

  explicit Variational(State prior) : prior_(std::move(prior)) {}

  Scorer scorer(const State &state) const { return make_scorer(state.components); }
  std::vector<double> log_weights(const State &state) const {
    return expected_log_weights_of(state.alpha);
  }
  double objective(const State &state) const {
    return -dirichlet_divergence(state.alpha, prior_.alpha) -
           divergence(state.components, prior_.components);
  }
  State update(const Statistics &statistics, const State &state) const {
    return {prior_.alpha + statistics.count,
            posterior(statistics, prior_.components, state.components)};
  }
  State move(const State &from, const State &to, double step) const {
    return {step_between(from.alpha, to.alpha, step),
            natural_gradient_step(from.components, to.components, step)};
  }

 private:
  State prior_;
};

}  // namespace bayes
