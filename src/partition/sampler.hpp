// The settings and the interface of partition samplers (MCMC).
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/checkpoint.hpp"
#include "base/control.hpp"
#include "base/error.hpp"
#include "base/method.hpp"
#include "data/rows.hpp"
#include "partition/partition_prior.hpp"

namespace bayes {

/// The settings of a partition sampler.
struct SamplerSetting {
  std::uint64_t seed = 1;
  std::uint64_t chain = 0;
  PartitionPrior partition = PartitionPrior::dirichlet_process(1);
  bool learn_concentration = false;
  GammaPrior concentration;
  /// largest number of rows of a split to allocate sequentially; see samplers.hpp
  std::int64_t max_sequential = 1000;
  /// largest number of clusters: those whose parameters fit into memory
  int most_clusters = std::numeric_limits<int>::max();

  /// Writes or reads what a chain changes: the concentration.
  void exchange_concentration(StateNumbers &numbers) {
    double alpha = partition.concentration();
    numbers.number(alpha);
    if (!numbers.reads()) return;
    if (!(alpha > 0 && alpha < std::numeric_limits<double>::infinity())) refuse_checkpoint();
    partition.set_concentration(alpha);
  }

  /// Throws Error(too_large) if a sampler with `clusters` clusters may not open another.
  void require_capacity(int clusters, const char *method) const {
    if (clusters < most_clusters) return;
    char concentration[32];
    std::snprintf(concentration, sizeof concentration, "%.6g", partition.concentration());
    throw Error(Errc::too_large,
                std::string("method ") + method + " needs more than " +
                    std::to_string(most_clusters) + " clusters at once",
                std::string("The concentration is ") + concentration +
                    ". More clusters are not supported, or their parameters would exceed "
                    "maintenance_work_mem, or 1 GB if that is more.",
                "Use a smaller concentration or a prior that favours small ones, or raise "
                "maintenance_work_mem.");
  }
};

/// A chain over partitions of the rows, whatever the family.
class PartitionSampler {
 public:
  virtual ~PartitionSampler() = default;
  /// index: 0, 1, ..., which selects the random stream
  virtual void sweep(int index, Control &control) = 0;
  /// dense from 0 after every sweep
  virtual std::span<const int> labels() const = 0;
  /// number of rows in every nonempty cluster
  virtual std::vector<double> counts() const = 0;
  virtual double concentration() const = 0;
  /// with the current concentration
  virtual const PartitionPrior &partition() const = 0;
  /// log p(rows | partition)
  virtual double log_marginal() const = 0;
  /// Writes or reads the state between two sweeps.
  virtual void exchange_state(StateNumbers &numbers) = 0;
};

/// Writes or reads k components of the kind of `prior`, and k itself, which is at most `most`.
template <class Q>
void exchange_components(StateNumbers &numbers, Q &components, const Q &prior, int &k, int most) {
  numbers.whole(k, 0, most);
  if (numbers.reads()) {
    // Some of the numbers may be common to all components.
    const auto size = [&prior](int of) {
      std::vector<double> written;
      StateNumbers all = StateNumbers::writing(written);
      Q copies = replicate(prior, of);
      exchange(all, copies);
      return written.size();
    };
    numbers.require(std::size_t(k) * (size(2) - size(1)));
    components = replicate(prior, k);
  }
  exchange(numbers, components);
}

template <class Q> class MixtureSampler : public PartitionSampler {
 public:
  /// the posterior of every cluster given its rows
  virtual Q components() const = 0;
};

/// The sampler that users call `method`: collapsed, gibbs, and for a Dirichlet process slice.
/// `labels`: the partition to begin with, dense from 0. The rows must outlive the sampler. Compiled
/// in samplers.cpp, once for each family of rows.
template <class Q>
std::unique_ptr<MixtureSampler<Q>> make_sampler(Method method, RowSource &rows, const Q &prior,
                                                const SamplerSetting &setting,
                                                std::vector<int> labels, Control &control);

}  // namespace bayes
