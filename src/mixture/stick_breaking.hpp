// Variational inference for the Dirichlet process mixture (Blei and Jordan 2006): q is truncated at
// T sticks, the last of which takes the remainder.
//
// q(v_t) = Beta(a_t, b_t) for t < T, v_T = 1, q(alpha) = Gamma(shape, rate) if the concentration is
// learned. The objective is a lower bound of the log evidence of the model whose sticks end at T;
// the difference from the Dirichlet process mixture decreases as e^(-T / alpha) (Ishwaran and James
// 2001).
#pragma once

#include <utility>
#include <vector>

#include "fit/learners.hpp"
#include "partition/partition_prior.hpp"

namespace bayes {

/// q(v) and q(alpha).
struct Sticks {
  Vector a, b;               // T - 1 each
  GammaPrior concentration;  // q(alpha); used if it is learned
};

/// The variational inference of the sticks, whatever the family of the components.
class StickWeights {
 public:
  /// The concentration is `fixed`, or has the prior `learned` if that is not null.
  StickWeights(double fixed, const GammaPrior *learned) : fixed_(fixed), learned_(learned) {}

  /// E[log weight]
  std::vector<double> log_weights(const Sticks &sticks) const;
  /// The sticks' share of the objective.
  double objective(const Sticks &sticks) const;
  /// E[alpha]
  double concentration(const Sticks &sticks) const {
    return learned_ ? sticks.concentration.shape / sticks.concentration.rate : fixed_;
  }
  /// The order of descending counts, unless the objective is higher without reordering: the last
  /// stick takes the whole remainder, so that with a large concentration it can be better to have a
  /// small component before a large one.
  std::vector<int> best_order(const Vector &counts, const Sticks &before) const;
  /// q given the counts in this order.
  Sticks update(const Vector &counts, const std::vector<int> &order, const Sticks &before) const;
  /// Initial sticks: update() only uses their concentration.
  Sticks beginning() const { return {{}, {}, learned_ ? *learned_ : GammaPrior{}}; }

  /// E[weight]
  static std::vector<double> weights(const Sticks &sticks);

 private:
  double fixed_;
  const GammaPrior *learned_;
};

template <class Posterior> struct StickPosterior {
  Sticks sticks;
  Posterior components;  // T
};

template <class Posterior> void exchange(StateNumbers &numbers, StickPosterior<Posterior> &state) {
  numbers.dense(state.sticks.a);
  numbers.dense(state.sticks.b);
  numbers.number(state.sticks.concentration.shape);
  numbers.number(state.sticks.concentration.rate);
  exchange(numbers, state.components);
}

template <class Posterior> class StickVariational {
 public:
  using Allocation = SoftAllocation;
  using State = StickPosterior<Posterior>;
  using Scorer = decltype(make_scorer(std::declval<const Posterior &>()));
  using Statistics = typename Scorer::Statistics;

  /// `prior`: T equal components.
  StickVariational(Posterior prior, double fixed, const GammaPrior *learned)
      : prior_(std::move(prior)),
        weights_(fixed, learned) {}

  Scorer scorer(const State &state) const { return make_scorer(state.components); }
  std::vector<double> log_weights(const State &state) const {
    return weights_.log_weights(state.sticks);
  }
  double objective(const State &state) const {
    return weights_.objective(state.sticks) - divergence(state.components, prior_);
  }
  State update(const Statistics &statistics, const State &state) const {
    const std::vector<int> order = weights_.best_order(statistics.count, state.sticks);
    return {weights_.update(statistics.count, order, state.sticks),
            pick(posterior(statistics, prior_, state.components), order)};
  }
  double concentration(const State &state) const { return weights_.concentration(state.sticks); }
  State initial_state() const { return {weights_.beginning(), prior_}; }
  static std::vector<double> weights(const State &state) {
    return StickWeights::weights(state.sticks);
  }

 private:
  Posterior prior_;
  StickWeights weights_;
};

}  // namespace bayes
