// Chains of a sampler of partitions: the recorded quantities of every draw, and the stored draws of
// a mixture.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/method.hpp"
#include "mcmc/run_chains.hpp"
#include "mcmc/stored_draws.hpp"
#include "partition/partition.hpp"
#include "partition/sampler.hpp"

namespace bayes {

/// The weights of one draw of a mixture, which with the components' posteriors is a predictive
/// density: sum_k weight_k p(x | rows of k) + rest p(x | no rows).
struct DrawnWeights {
  /// of the clusters that have rows
  std::vector<double> weights;
  /// total weight of clusters without rows; with the weights it sums to 1
  double rest = 0;
};

/// Results of the chains, for any family of rows. All chains have the same number of draws.
struct PartitionChains : ChainRun {
  explicit PartitionChains(std::int64_t rows) : partitions(rows) {}
  // of the kept draws
  PartitionDraws partitions;
  std::vector<double> log_joint;
  // of the stored draws: their weights, and their indices among the kept ones
  std::vector<DrawnWeights> weights;
  std::vector<int> whole;

  /// Leaves these of the kept draws, and of the stored draws.
  void retain(std::span<const int> kept, std::span<const int> stored);
  /// Writes the last draws, so many that were kept and stored; or reads and appends them.
  void exchange(StateNumbers &numbers, std::int64_t kept, std::int64_t stored);
};
template <class Q> struct ChainDraws : PartitionChains {
  explicit ChainDraws(std::int64_t rows) : PartitionChains(rows) {}
  /// for every stored draw the clusters' posteriors given their rows
  std::vector<Q> components;

  /// Writes the components of the last stored draws; or reads and appends those of draws whose
  /// weights have been read.
  void exchange_components(StateNumbers &numbers, std::int64_t stored, const Q &prior) {
    components.resize(weights.size());
    for (std::size_t s = weights.size() - std::size_t(stored); s < weights.size(); ++s) {
      poll_here();
      const int clusters = int(weights[s].weights.size());
      int k = clusters;
      bayes::exchange_components(numbers, components[s], prior, k, clusters);
      if (k != clusters) refuse_checkpoint();
    }
  }
};

/// Recorded quantities of a draw besides its density; they do not depend on the numbering of
/// clusters. clusters: the number of occupied clusters; largest: the largest weight, drawn given
/// the partition (of a Dirichlet process that of an occupied cluster); entropy: of the shares of
/// rows, in nats; concentration: that of a Dirichlet process.
std::vector<double> partition_quantities(const std::vector<double> &counts,
                                         const PartitionPrior &prior, Random &random);

/// The number of kept draws, of those among them that are stored completely, and of those that can
/// be held while the chains run (ChainSettings::max_held_draws).
struct DrawCounts {
  std::int64_t kept, stored, held;
};
/// How many draws to keep and to store. The labels of all draws are kept, or of as many as fit: 2
/// bytes a row, within what the rows and the estimation of a partition (28 bytes a row: labels,
/// patterns, probabilities) leave of the memory for rows, or an eighth of that memory if they leave
/// less. Complete draws, with `parameters` numbers for each of `components` components, are held
/// within a quarter of the memory for parameters: all kept draws if `everything`, else
/// collected_draws.
DrawCounts draw_counts(const RowSource &rows, double components, double parameters,
                       const ChainPlan &plan, bool everything, const Control &control);

/// How a family collects the parameters of stored draws: `store` is called with the sampler for
/// each, `retain` with the indices of those that remain (ChainSettings::retain), `exchange` to
/// write the last ones, so many of them, or to read and append them.
struct StoredParameters {
  std::function<void(const PartitionSampler &)> store;
  std::function<void(std::span<const int> stored)> retain;
  std::function<void(StateNumbers &, std::int64_t stored)> exchange;
};

/// Runs the chains. `begin(chain)` makes the sampler of a chain.
void run_partition_chains(PartitionChains &out, const SamplerSetting &setting, Method method,
                          const ChainPlan &plan, const DrawCounts &counts, Control &control,
                          const std::function<std::unique_ptr<PartitionSampler>(int chain)> &begin,
                          const StoredParameters &parameters);

/// Renumbers labels below k from 0, in the order of first occurrence.
void make_dense(std::vector<int> &labels, int k);

/// Samples partitions of the rows by the method. `begin(chain)`: initial labels, dense from 0.
/// everything: every kept draw is stored completely.
template <class Q>
ChainDraws<Q> sample_partitions(RowSource &rows, const Q &prior, SamplerSetting setting,
                                Method method, const ChainPlan &plan, Control &control,
                                const std::function<std::vector<int>(int chain)> &begin,
                                bool everything = false) {
  ChainDraws<Q> out(rows.rows());
  constexpr int expected_clusters = 20;  // of a Dirichlet process
  const int components = setting.partition.components();
  run_partition_chains(
      out, setting, method, plan,
      draw_counts(rows, components ? components : expected_clusters, parameters_of(prior), plan,
                  everything, control),
      control,
      [&](int chain) -> std::unique_ptr<PartitionSampler> {
        setting.chain = std::uint64_t(chain);
        return make_sampler(method, rows, prior, setting, begin(chain), control);
      },
      {[&](const PartitionSampler &sampler) {
         out.components.push_back(static_cast<const MixtureSampler<Q> &>(sampler).components());
       },
       [&](std::span<const int> stored) { retain(out.components, stored); },
       [&](StateNumbers &numbers, std::int64_t stored) {
         out.exchange_components(numbers, stored, prior);
       }});
  return out;
}

/// The components of all parts, concatenated. They are joined in pairs: appending one part at a
/// time would take quadratic time.
template <class Q> Q concatenate_all(std::vector<Q> parts) {
  while (parts.size() > 1) {
    std::size_t halves = 0;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      if (i + 1 < parts.size())
        parts[halves++] = joined(parts[i], parts[i + 1]);
      else
        parts[halves++] = std::move(parts[i]);
    }
    parts.resize(halves);
  }
  return std::move(parts[0]);
}

}  // namespace bayes
