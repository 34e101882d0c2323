// MCMC samplers that draw all labels of a sweep independently given weights and parameters, hence
// on all threads: Gibbs sampling of finite mixtures, and the slice sampler of the Dirichlet
// process.
#pragma once

#include "fit/learners.hpp"
#include "partition/sampled_clusters.hpp"

namespace bayes {

/// Gibbs sampling of a finite mixture (000, 001): weights ~ Dirichlet(alpha + counts), parameters
/// given their rows, labels.
template <class Q> class FiniteSampler : public SampledClusters<Q> {
  using Base = SampledClusters<Q>;
  using Base::rows_, Base::prior_, Base::setting_, Base::labels_, Base::counts_, Base::components_;

 public:
  /// `setting.partition` must be finite with `components` components.
  FiniteSampler(RowSource &rows, const Q &prior, SamplerSetting setting, std::vector<int> labels,
                int components, Control &control)
      : Base(rows, prior, std::move(setting), std::move(labels)),
        size_(components) {
    this->count(components, control);
  }

  void sweep(int index, Control &control) {
    Random random(setting_.seed, setting_.chain, std::uint64_t(index), 1);
    this->move_clusters(random, control);
    const int occupied = this->clusters();
    std::vector<double> alpha(std::size_t(size_), setting_.partition.concentration()),
        weights(alpha.size());
    for (int k = 0; k < occupied; ++k) alpha[std::size_t(k)] += counts_[std::size_t(k)];
    random.dirichlet(alpha, weights);
    for (double &weight : weights) weight = std::log(weight);
    Q all = components_;
    if (occupied < size_) {
      // The posteriors of occupied components, then the prior for the others.
      std::vector<int> order(std::size_t(size_), occupied);
      for (int k = 0; k < occupied; ++k) order[std::size_t(k)] = k;
      all = pick(joined(components_, prior_), order);
    }
    const auto scorer = make_scorer(draw(all, random));
    const SampledAllocation allocation{
        RowRandom(setting_.seed, setting_.chain, std::uint64_t(index), 2), labels_.data()};
    this->take(
        local_step<SampledAllocation>(rows_, control, scorer, weights, allocation).statistics);
  }

 private:
  int size_;
};

/// The slice sampler of a Dirichlet process mixture (003; Walker 2007), without truncation.
///
/// Given the partition, the weights of its clusters and the total weight of all others are
/// Dirichlet(n_1 .. n_K, alpha), and the others' total is broken by Beta(1, alpha) sticks. So the
/// clusters need no order, nor the updates of occupied sticks that make samplers with ordered
/// sticks slow to mix (Papaspiliopoulos 2008; Ge et al. 2015). Rows get slice variables below their
/// cluster's weight; sticks are broken until the remainder is below all of them; a row chooses
/// among the clusters with weights above its slice variable.
template <class Q> class SliceSampler : public SampledClusters<Q> {
  using Base = SampledClusters<Q>;
  using Base::rows_, Base::prior_, Base::setting_, Base::labels_, Base::counts_, Base::components_;

 public:
  SliceSampler(RowSource &rows, const Q &prior, SamplerSetting setting, std::vector<int> labels,
               Control &control)
      : Base(rows, prior, std::move(setting), std::move(labels)),
        next_(labels_.size()) {
    setting_.most_clusters = std::min(setting_.most_clusters, max_sticks);
    this->count(labels_.empty() ? 0 : 1 + *std::max_element(labels_.begin(), labels_.end()),
                control);
  }

  void sweep(int index, Control &control) {
    Random random(setting_.seed, setting_.chain, std::uint64_t(index), 1);
    this->move_clusters(random, control);
    this->learn_concentration(random);
    const double alpha = setting_.partition.concentration();
    std::vector<double> shapes(counts_), weights(shapes.size() + 1);
    shapes.push_back(alpha);
    random.dirichlet(shapes, weights);
    double rest = weights.back();
    weights.pop_back();

    const RowRandom rows_random(setting_.seed, setting_.chain, std::uint64_t(index), 2);
    double lowest = 1;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (i % 65536 == 0 && control.pending()) control.poll();
      lowest = std::min(
          lowest, rows_random.uniforms(std::int64_t(i))[0] * weights[std::size_t(labels_[i])]);
    }
    while (rest > lowest) {
      const double broken = rest * random.beta(1, alpha);
      weights.push_back(broken);
      rest -= broken;
      setting_.require_capacity(int(weights.size()), "slice");
    }
    const int occupied = this->clusters();
    std::vector<int> order(weights.size(), occupied);
    for (int k = 0; k < occupied; ++k) order[std::size_t(k)] = k;
    const auto scorer = make_scorer(draw(pick(joined(components_, prior_), order), random));
    const SliceAllocation allocation{rows_random, weights.data(), labels_.data(), next_.data()};
    const auto local = local_step<SliceAllocation>(
        rows_, control, scorer, std::vector<double>(weights.size(), 0.0), allocation);
    labels_.swap(next_);
    this->take(local.statistics);
  }

 private:
  static constexpr int max_sticks = 20000;
  std::vector<int> next_;
};

}  // namespace bayes
