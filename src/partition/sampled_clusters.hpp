// Common to samplers that draw the clusters' parameters: between sweeps they hold the labels, and
// the posterior of every cluster given its rows.
#pragma once

#include "partition/sampler.hpp"
#include "partition/split_merge.hpp"
#include "partition/statistics_of_labels.hpp"

namespace bayes {

template <class Q> class SampledClusters {
 public:
  SampledClusters(RowSource &rows, const Q &prior, SamplerSetting setting, std::vector<int> labels)
      : rows_(rows),
        prior_(prior),
        setting_(std::move(setting)),
        labels_(std::move(labels)) {}

  std::span<const int> labels() const { return labels_; }
  int clusters() const { return int(counts_.size()); }
  double concentration() const { return setting_.partition.concentration(); }
  const std::vector<double> &counts() const { return counts_; }
  const PartitionPrior &partition() const { return setting_.partition; }
  const Q &components() const { return components_; }
  double log_marginal() const { return log_marginal_; }

  void exchange_state(StateNumbers &numbers) {
    int k = clusters();
    const int finite = setting_.partition.components();
    exchange_components(numbers, components_, prior_, k, finite ? finite : int(labels_.size()));
    if (numbers.reads()) {
      counts_.resize(std::size_t(k));
      log_marginals_.resize(std::size_t(k));
    }
    numbers.labels(labels_, k - 1);
    numbers.numbers(counts_);
    numbers.numbers(log_marginals_);
    numbers.number(log_marginal_);
    setting_.exchange_concentration(numbers);
  }

 protected:
  /// Sets the clusters from the statistics of k clusters, some possibly empty, and makes labels
  /// dense.
  template <class Statistics> void take(const Statistics &statistics) {
    const int k = int(statistics.count.size());
    const Q prior = replicate(prior_, k);
    const Vector log_marginals = log_marginal_likelihoods(statistics, prior);
    log_marginal_ = log_marginals.sum();
    log_marginals_.clear();
    std::vector<int> occupied, dense(static_cast<std::size_t>(k));
    counts_.clear();
    for (int j = 0; j < k; ++j)
      if (statistics.count(j) > 0.5) {
        dense[std::size_t(j)] = int(occupied.size());
        occupied.push_back(j);
        counts_.push_back(statistics.count(j));
        log_marginals_.push_back(log_marginals(j));
      }
    components_ = pick(posterior(statistics, prior), occupied);
    if (int(occupied.size()) < k)
      for (int &label : labels_) label = dense[std::size_t(label)];
  }

  /// Computes the statistics of the current labels, which are below k.
  void count(int k, Control &control) {
    take(statistics_of_labels(rows_, prior_, labels_.data(), k, control));
  }

  void learn_concentration(Random &random) {
    if (setting_.learn_concentration)
      setting_.partition.set_concentration(
          draw_concentration(setting_.concentration, setting_.partition.concentration(), clusters(),
                             double(labels_.size()), random));
  }

  /// Split and merge moves, which update labels and the posteriors of the clusters concerned.
  void move_clusters(Random &random, Control &control) {
    if (has_clusters(prior_)) {
      SplitMerge<Q> moves(rows_, prior_, setting_.max_sequential);
      for (int move = moves_per_sweep(rows_.rows()); move > 0; --move) {
        const auto made = moves.propose(
            setting_.partition, labels_.data(), clusters(),
            [&](int k) { return log_marginals_[std::size_t(k)]; }, random, control);
        if (!made.accepted) continue;
        const int k = clusters();
        if (made.split) {
          for (std::size_t row = 0; row < labels_.size(); ++row)
            if (labels_[row] == made.first && moves.second(std::int64_t(row))) labels_[row] = k;
        } else {
          for (int &label : labels_) label = label == made.second ? made.first : label;
          for (int &label : labels_) label -= label > made.second;
        }
        count(made.split ? k + 1 : k - 1, control);
      }
    }
  }

  RowSource &rows_;
  Q prior_;
  SamplerSetting setting_;
  std::vector<int> labels_;
  std::vector<double> counts_;
  Q components_;
  std::vector<double> log_marginals_;  // of each cluster
  double log_marginal_ = 0;
};

}  // namespace bayes
