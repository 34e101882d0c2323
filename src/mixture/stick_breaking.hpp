// Variational inference for the Dirichlet process mixture (Blei and Jordan 2006): q is truncated at
// T sticks, the last of which takes the remainder.
//
// q(v_t) = Beta(a_t, b_t) for t < T, v_T = 1, q(alpha) = Gamma(shape, rate) if the concentration is
// learned. The objective is a lower bound of the log evidence of the model whose sticks end at T;
// that is the Dirichlet process mixture's own but for a share that falls as e^(-T / alpha)
// (Ishwaran and James 2001).
#pragma once

#include <numeric>

#include "fit/learners.hpp"
#include "partition/partition_prior.hpp"

namespace bayes {

template <class Posterior> struct StickPosterior {
  Vector a, b;               // T - 1 each
  Posterior components;      // T
  GammaPrior concentration;  // q(alpha); used if it is learned
};

template <class Posterior> class StickVariational {
 public:
  using Allocation = SoftAllocation;
  using State = StickPosterior<Posterior>;
  using Scorer = decltype(make_scorer(std::declval<const Posterior &>()));
  using Statistics = typename Scorer::Statistics;

  /// `prior`: T equal components. The concentration is `fixed`, or has the prior `learned` if that
  /// is not null.
  StickVariational(Posterior prior, double fixed, const GammaPrior *learned)
      : prior_(std::move(prior)),
        fixed_(fixed),
        learned_(learned) {}

  Scorer scorer(const State &state) const { return make_scorer(state.components); }

  std::vector<double> log_weights(const State &state) const {
    const Eigen::Index t = state.a.size() + 1;
    std::vector<double> out(std::size_t(t), 0.0);
    double left = 0;
    for (Eigen::Index i = 0; i < t; ++i) {
      out[std::size_t(i)] = left;
      if (i + 1 == t) break;
      const double both = digamma(state.a(i) + state.b(i));
      out[std::size_t(i)] += digamma(state.a(i)) - both;
      left += digamma(state.b(i)) - both;
    }
    return out;
  }

  double objective(const State &state) const {
    const double expected = concentration(state),
                 expected_log = learned_ ? digamma(state.concentration.shape) -
                                               std::log(state.concentration.rate)
                                         : std::log(fixed_);
    double total = -divergence(state.components, prior_);
    for (Eigen::Index i = 0; i < state.a.size(); ++i) {
      const double a = state.a(i), b = state.b(i), both = digamma(a + b);
      // E log Beta(v | 1, alpha) - E log q(v)
      total += expected_log + (expected - 1) * (digamma(b) - both) + log_beta(a, b) -
               (a - 1) * (digamma(a) - both) - (b - 1) * (digamma(b) - both);
    }
    if (learned_) {
      const auto [s, r] = state.concentration;
      total -= (s - learned_->shape) * digamma(s) - log_gamma(s) + log_gamma(learned_->shape) +
               learned_->shape * (std::log(r) - std::log(learned_->rate)) +
               s * (learned_->rate - r) / r;
    }
    return total;
  }

  /// Sorts sticks by decreasing count if that does not lower the bound: as the last stick takes the
  /// remainder, with a large concentration a small component may belong before a large one.
  State update(const Statistics &statistics, const State &state) const {
    const Eigen::Index t = statistics.count.size();
    const double alpha = concentration(state);
    std::vector<int> as_they_are(static_cast<std::size_t>(t));
    std::iota(as_they_are.begin(), as_they_are.end(), 0);
    std::vector<int> order = as_they_are;
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return statistics.count(i) > statistics.count(j); });
    if (bound(statistics.count, order, alpha) < bound(statistics.count, as_they_are, alpha))
      order = as_they_are;
    State out{Vector(t - 1), Vector(t - 1),
              pick(posterior(statistics, prior_, state.components), order), state.concentration};
    double left = 0;
    for_each_stick(statistics.count, order, alpha, [&](Eigen::Index i, double a, double b) {
      out.a(i) = a;
      out.b(i) = b;
      left += digamma(b) - digamma(a + b);
    });
    if (learned_) out.concentration = {learned_->shape + double(t - 1), learned_->rate - left};
    return out;
  }

  double concentration(const State &state) const {
    return learned_ ? state.concentration.shape / state.concentration.rate : fixed_;
  }

  /// An initial state; update() uses only its concentration.
  State beginning() const {
    return {Vector(), Vector(), prior_, learned_ ? *learned_ : GammaPrior{}};
  }

  /// The expected weights.
  static std::vector<double> weights(const State &state) {
    std::vector<double> out;
    double left = 1;
    for (Eigen::Index i = 0; i < state.a.size(); ++i) {
      const double v = state.a(i) / (state.a(i) + state.b(i));
      out.push_back(left * v);
      left *= 1 - v;
    }
    out.push_back(left);
    return out;
  }

 private:
  /// f(stick, a, b) from the last but one to the first: q(v) = Beta(1 + its count, alpha + the
  /// counts behind it).
  template <class F>
  static void for_each_stick(const Vector &counts, const std::vector<int> &order, double alpha,
                             F f) {
    double behind = 0;
    for (Eigen::Index i = counts.size() - 1; i-- > 0;) {
      behind += counts(order[std::size_t(i) + 1]);
      f(i, 1 + counts(order[std::size_t(i)]), alpha + behind);
    }
  }
  /// The part of the objective that depends on the order of the sticks.
  static double bound(const Vector &counts, const std::vector<int> &order, double alpha) {
    double total = 0;
    for_each_stick(counts, order, alpha,
                   [&](Eigen::Index, double a, double b) { total += log_beta(a, b); });
    return total;
  }

  Posterior prior_;
  double fixed_;
  const GammaPrior *learned_;
};

}  // namespace bayes
