// Finite mixtures by MCMC: posterior draws, relabelled consistently, and their summaries.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fit/learners.hpp"
#include "mcmc/run_chains.hpp"
#include "mixture/finite_draws.hpp"

namespace bayes {

/// The result of sampling a finite mixture.
template <class P, class Q> struct SampledMixture {
  /// averages, over the draws, of the posterior means given the draw's partition
  MixturePoint<P> point;
  /// average numbers of rows
  Vector counts;
  FiniteDraws<Q> draws;
  ChainRun chains;
};

/// `begin(chain)`: the starting labels of a chain, from 0 without gaps. Throws
/// Error(invalid_argument) for weighted rows. Compiled in finite_sampling.cpp, once for each family
/// of rows.
template <class P, class Q>
SampledMixture<P, Q> sample_mixture(RowSource &rows, int k, const Q &prior, double alpha,
                                    const ChainPlan &plan, Method method, std::uint64_t seed,
                                    Control &control,
                                    const std::function<std::vector<int>(int chain)> &begin);

/// Puts the components of every draw in this order.
template <class Q> void reorder(FiniteDraws<Q> &draws, const std::vector<int> &order) {
  const std::size_t k = order.size();
  std::vector<int> all(draws.weights.size());
  std::vector<double> weights(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = int(i / k * k) + order[i % k];
    weights[i] = draws.weights[std::size_t(all[i])];
  }
  draws.weights = std::move(weights);
  draws.components = pick(draws.components, all);
}

}  // namespace bayes
