// Finite mixtures by MCMC: posterior draws, relabelled consistently, and their summaries.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/assignment.hpp"
#include "mixture/finite_draws.hpp"
#include "partition/chains.hpp"
#include "partition/samplers.hpp"

namespace bayes {

/// Relabels the components of every draw like those of the most probable draw, to maximise the
/// overlap of rows (Papastamoulis and Iliopoulos 2010); components without rows get the remaining
/// labels.
template <class Q> class RelabelledDraws {
 public:
  RelabelledDraws(ChainDraws<Q> &chains, const Q &prior, int k)
      : chains_(chains),
        prior_(prior),
        k_(k) {
    const auto best = std::max_element(chains.log_joint.begin(), chains.log_joint.end());
    reference_ = chains.partitions.labels(int(best - chains.log_joint.begin()));
  }

  int size() const { return chains_.partitions.size(); }

  /// Draw s: K posteriors, K weights, K numbers of rows, by name.
  void get(int s, Q &components, std::vector<double> &weights, Vector &counts) const {
    const auto &draw = chains_.kept[std::size_t(s)];
    const std::size_t occupied = draw.weights.size(), k = std::size_t(k_);
    std::vector<double> overlap(k * k, 0.0), rows(k, 0.0);
    const auto labels = chains_.partitions.labels(s);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      overlap[labels[i] * k + reference_[i]] += 1;
      rows[labels[i]] += 1;
    }
    const std::vector<int> name = best_assignment(overlap, k_);
    std::vector<int> order(k, int(occupied));
    weights.assign(k, occupied < k ? draw.rest / double(k - occupied) : 0.0);
    counts = Vector::Zero(k_);
    for (std::size_t j = 0; j < occupied; ++j) {
      const std::size_t at = std::size_t(name[j]);
      order[at] = int(j);
      weights[at] = draw.weights[j];
      counts(name[j]) = rows[j];
    }
    components = pick(joined(draw.components, prior_), order);
  }

 private:
  ChainDraws<Q> &chains_;
  const Q &prior_;
  int k_;
  std::span<const std::uint16_t> reference_;
};

/// The result of sampling a finite mixture.
template <class P, class Q> struct SampledMixture {
  /// averages over the draws of each draw's posterior means given its partition
  MixturePoint<P> point;
  /// average numbers of rows
  Vector counts;
  FiniteDraws<decltype(untied(std::declval<const Q &>()))> draws;
  Draws quantities;
  /// largest log joint density
  double best = 0;
  /// do the chains agree?
  bool agree = false;
};

/// Limit for the numbers of a model's draws: some ten megabytes.
inline constexpr double most_draw_numbers = 2e6;

/// `begin(chain)`: labels to begin with, dense from 0. Throws Error(invalid_argument) for weighted
/// rows.
template <class P, class Q, class Begin>
SampledMixture<P, Q> sample_mixture(RowSource &rows, int k, const Q &prior, double alpha,
                                    const ChainPlan &plan, const std::string &method,
                                    std::uint64_t seed, Control &control, Begin begin) {
  if (rows.shape().weighted)
    throw Error(Errc::invalid_argument, "method " + method + " takes no weights",
                "It draws a label for every row.",
                "Use method vi or em, or leave the weights out.");
  SamplerSetting setting;
  setting.seed = seed;
  setting.partition = PartitionPrior::finite(k, alpha);
  const auto run = [&](auto make) {
    return run_chains<Q>(
        rows.rows(), plan,
        keepable_draws(rows.rows(), rows.shape().dimension, parameters_of(prior), control), false,
        nullptr, method.c_str(), control, [&](int chain) {
          setting.chain = std::uint64_t(chain);
          return make(begin(chain));
        });
  };
  std::optional<ChainDraws<Q>> chains;
  if (method == "collapsed")
    chains.emplace(run([&](std::vector<int> labels) {
      return CollapsedSampler<Q>(rows, prior, setting, std::move(labels), control);
    }));
  if (!chains)
    chains.emplace(run([&](std::vector<int> labels) {
      return FiniteSampler<Q>(rows, prior, setting, std::move(labels), k, control);
    }));

  SampledMixture<P, Q> out;
  const RelabelledDraws<Q> relabelled(*chains, prior, k);
  const double each = double(k) * (parameters_of(prior) + 1);
  const int size = relabelled.size(),
            every = std::max(1, int(std::ceil(each * size / most_draw_numbers)));
  std::vector<Q> kept;
  Q components;
  std::vector<double> weights;
  Vector counts;
  for (int s = 0; s < size; ++s) {
    control.poll();
    relabelled.get(s, components, weights, counts);
    const Vector w = Eigen::Map<const Vector>(weights.data(), k) / size;
    const P point = point_estimate(components);
    if (s == 0) {
      out.point = {Vector::Zero(k), point};
      accumulate(out.point.components, point, -1);
      out.counts = Vector::Zero(k);
    }
    out.point.weights += w;
    out.counts += counts / size;
    accumulate(out.point.components, point, 1.0 / size);
    if (s % every != every / 2) continue;
    out.draws.weights.insert(out.draws.weights.end(), weights.begin(), weights.end());
    kept.push_back(components);
  }
  out.point.weights /= out.point.weights.sum();
  out.draws.draws = int(kept.size());
  out.draws.components = joined_all(kept, [](const Q &q) { return untied(q); });
  out.best = chains->best;
  out.agree = chains_agree(chains->quantities, control);
  out.quantities = std::move(chains->quantities);
  return out;
}

/// The components of every draw in this order.
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
