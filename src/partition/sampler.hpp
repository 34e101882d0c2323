// The settings and the interface of partition samplers (MCMC).
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>

#include "base/control.hpp"
#include "base/error.hpp"
#include "partition/partition_prior.hpp"

namespace bayes {

/// The settings of a partition sampler.
struct SamplerSetting {
  std::uint64_t seed = 1;
  std::uint64_t chain = 0;
  PartitionPrior partition = PartitionPrior::dirichlet_process(1);
  bool learn_concentration = false;
  GammaPrior concentration;
  /// rows of a split that are allocated sequentially; see split_merge.hpp
  std::int64_t most_dealt = 1000;
  /// clusters whose parameters fit into memory
  int most_clusters = std::numeric_limits<int>::max();

  /// Throws Error(too_large) if a sampler with `clusters` clusters may not open another.
  void require_capacity(int clusters, const char *method) const {
    if (clusters < most_clusters) return;
    char concentration[32];
    std::snprintf(concentration, sizeof concentration, "%.6g", partition.concentration());
    throw Error(Errc::too_large,
                std::string("method ") + method + " needs more than " +
                    std::to_string(most_clusters) + " clusters at once",
                std::string("The concentration is ") + concentration +
                    "; more clusters than that are not supported, or their parameters exceed "
                    "maintenance_work_mem, or 1 GB if that is more.",
                "Give a smaller concentration, or a prior that keeps it small, or raise "
                "maintenance_work_mem.");
  }
};

template <class Sampler>
concept PartitionSampler = requires(Sampler &sampler, const Sampler &known, int index,
                                    Control &control) {
  // index: 0, 1, ..., which selects the random stream
  sampler.sweep(index, control);
  // dense from 0 after every sweep
  { known.labels() } -> std::convertible_to<std::span<const int>>;
  { known.clusters() } -> std::same_as<int>;  // nonempty ones
  // rows of every cluster
  { known.counts()[0] } -> std::convertible_to<double>;
  { known.concentration() } -> std::same_as<double>;
  // with the current concentration
  { known.partition() } -> std::convertible_to<const PartitionPrior &>;
  // the posterior of every cluster given its rows
  known.components();
  // log p(rows | partition)
  { known.log_marginal() } -> std::same_as<double>;
};

}  // namespace bayes
