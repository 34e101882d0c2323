// The samplers of partitions: templates over the family of rows, and their instances, which are
// compiled once.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"
#include "data/local_step.hpp"
#include "data/row_access.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/product/product.hpp"
#include "fit/learners.hpp"
#include "partition/partition_prior.hpp"
#include "partition/sampler.hpp"
#include "partition/statistics_of_labels.hpp"

namespace bayes {

// Splits and merges of whole clusters, which help samplers that move one row at a time, or whose
// new clusters begin with one row, to mix.
//
// Sequentially allocated merge-split (Dahl 2005), for clusters of any size. Two rows are drawn. If
// they share a cluster, its rows are allocated to two sides that start with these two: a random
// subset sequentially, in random order, each row in proportion to its predictive density given
// those before; then all others at once, given the subset. If the two rows are in two clusters,
// their merger is proposed, and the same allocation, with its outcome given, yields the probability
// of the reverse proposal. These are Metropolis-Hastings steps on the partition, parameters
// integrated out; they leave p(partition | rows) invariant, and so can be combined with any sampler
// of it. Rows need not be in memory.

/// Proposals between two sweeps over n rows. A proposal costs up to some tenths of a sweep, so
/// large tables get one; small ones, whose sweeps are fast, get more, which makes draws less
/// correlated.
inline int moves_per_sweep(std::int64_t n) {
  return int(std::clamp<std::int64_t>(5000 / std::max<std::int64_t>(1, n), 1, 5));
}

/// The outcome of a proposal. SplitMerge::second() says which rows move.
struct SplitMergeMove {
  bool accepted = false, split = false;
  /// the clusters of the two rows before; equal for a split
  int first = 0, second = 0;
};

namespace detail {

/// Allocates the rows of one or two clusters to two sides, with probabilities in proportion to
/// exp(logit); all other rows belong to neither side. sums.objective: log probability of the sides
/// of the rows that were not allocated before.
struct SplitAllocation {
  static constexpr bool scored = true;
  /// of all rows
  const int *labels;
  /// the clusters concerned
  int first, second;
  /// rows allocated before, increasing
  const std::vector<std::pair<std::int64_t, bool>> &allocated;
  /// null: the sides are given by the two clusters
  const RowRandom *random;
  /// a bit for every row
  std::uint64_t *second_side;

  void allocate(int, BlockRows block, const double *, double *logits, double *counts,
                RowSums &sums) const {
    using namespace simd;
    auto known =
        std::lower_bound(allocated.begin(), allocated.end(), std::pair(block.first, false));
    alignas(cache_line) double share[lanes], log_share[2][lanes];
    double total = 0;
    for (int b = 0; b < block.padded; b += lanes) {
      bool concerned[lanes], any = false;
      for (int i = 0; i < lanes; ++i) {
        const int label = b + i < block.rows ? labels[block.first + b + i] : -1;
        any |= concerned[i] = label >= 0 && (label == first || label == second);
      }
      const simd::Vector difference = load(logits + block_rows + b) - load(logits + b);
      store(logits + b, all(0.0));
      store(logits + block_rows + b, all(0.0));
      if (any) {
        // p(second) = 1 / (1 + exp(-difference)), and both logarithms.
        const simd::Vector away = max(difference, -difference),
                           bounded = away < 1e300 ? away : all(1e300), e = exp(-bounded),
                           whole = 1.0 + e;
        store(share, (difference > 0.0 ? all(1.0) : e) / whole);
        const simd::Vector likelier = -log(whole), other = likelier - bounded;
        store(log_share[0], difference > 0.0 ? other : likelier);
        store(log_share[1], difference > 0.0 ? likelier : other);
      }
      std::uint64_t sides = 0;
      for (int i = 0; any && i < lanes; ++i) {
        if (!concerned[i]) continue;
        const std::int64_t row = block.first + b + i;
        bool side;
        if (known != allocated.end() && known->first == row) {
          side = known++->second;
        } else {
          side = random ? random->uniforms(row)[0] < share[i] : labels[row] == second;
          total += log_share[side][i];
        }
        logits[side * block_rows + b + i] = 1;
        counts[side * sum_lanes + (b + i) % sum_lanes] += 1;
        sides |= std::uint64_t(side) << i;
      }
      const std::int64_t at = block.first + b;
      std::uint64_t &word = second_side[at / 64];
      const std::uint64_t here = ((std::uint64_t(1) << lanes) - 1) << at % 64;
      word = (word & ~here) | sides << at % 64;
    }
    sums.objective += total;
  }
};

}  // namespace detail

template <class Q> class SplitMerge {
 public:
  /// `max_sequential`: the largest number of rows to allocate sequentially. The rows must outlive
  /// this.
  SplitMerge(RowSource &rows, const Q &prior, std::int64_t max_sequential)
      : rows_(rows),
        prior_(prior),
        max_sequential_(max_sequential),
        pair_(prior) {}

  /// One proposal. `labels`: the cluster of every row; log_marginal(cluster): log p(its rows);
  /// `clusters`: their number.
  template <class LogMarginal>
  SplitMergeMove propose(const PartitionPrior &prior, const int *labels, int clusters,
                         LogMarginal log_marginal, Random &random, Control &control) {
    SplitMergeMove move;
    const std::int64_t n = rows_.rows();
    if (n < 2) return move;
    const std::int64_t i = std::int64_t(random.below(std::uint64_t(n)));
    std::int64_t j = std::int64_t(random.below(std::uint64_t(n - 1)));
    j += j >= i;
    move.first = labels[i];
    move.second = labels[j];
    move.split = move.first == move.second;
    if (move.split && prior.full(clusters)) return move;
    std::int64_t size = 0;
    const auto concerned = [&](std::int64_t row) {
      return labels[row] == move.first || labels[row] == move.second;
    };
    for (std::int64_t row = 0; row < n; ++row) size += concerned(row);
    draw_rows(i, j, n, size, concerned, random);
    const auto side_of = [&](std::size_t r) { return labels[chosen_[r]] == move.second; };
    allocate_chosen(prior, move.split, side_of, random, control);

    double n0, n1, log_rows[2], log_joined = 0;
    if (size == std::int64_t(chosen_.size())) {
      n0 = pair_.count(0), n1 = pair_.count(1);
      log_rows[0] = log_sides_[0], log_rows[1] = log_sides_[1];
      for (std::size_t r = 0; r < chosen_.size(); ++r) set(chosen_[r], sides_[r]);
      if (!move.split) log_joined = join_sides(log_rows[0], control);
    } else {
      const RowRandom of_rows(random.bits(), 0, 0, 0);
      std::vector<std::pair<std::int64_t, bool>> allocated;
      for (std::size_t r = 0; r < chosen_.size(); ++r)
        allocated.emplace_back(chosen_[r], sides_[r]);
      std::sort(allocated.begin(), allocated.end());
      const auto q = pair_.posterior();
      const std::vector<double> log_weights{std::log(prior.weight(pair_.count(0))),
                                            std::log(prior.weight(pair_.count(1)))};
      const detail::SplitAllocation allocation{
          labels,        move.first, move.second, allocated, move.split ? &of_rows : nullptr,
          second_.data()};
      const auto local = local_step(rows_, control, make_scorer(q), log_weights, allocation);
      log_proposal_ += local.sums.objective;
      const auto &statistics = local.statistics;
      const auto alone = replicate(prior_, 2), given = posterior(statistics, alone);
      const Vector of_each = log_marginal_likelihoods(statistics, alone);
      n0 = statistics.count(0), n1 = statistics.count(1);
      log_rows[0] = of_each(0), log_rows[1] = of_each(1);
      if (!move.split)
        log_joined = of_each(0) + log_marginal_likelihoods(statistics, pick(given, {0, 0}))(1);
    }
    if (move.split) log_joined = log_marginal(move.first);
    const double apart = prior.log_birth(clusters - (move.split ? 0 : 1)) + prior.log_cluster(n0) +
                         prior.log_cluster(n1) + log_rows[0] + log_rows[1];
    const double together = prior.log_cluster(n0 + n1) + log_joined;
    move.accepted = std::log(random.uniform()) < (move.split ? apart - together - log_proposal_
                                                             : together - apart + log_proposal_);
    return move;
  }

  /// After a proposal: is this row of the clusters concerned on the second side? In a split these
  /// form the new cluster, in a merge they join the first.
  bool second(std::int64_t row) const { return second_[std::size_t(row) / 64] >> (row % 64) & 1; }

 private:
  /// By the chain rule: the log density of the rows of both sides, given that of the first side's,
  /// to which the others are added one by one.
  double join_sides(double log_first, Control &control) {
    constexpr int first = 0;
    double out = log_first;
    for (std::size_t r = 0; r < chosen_.size(); ++r) {
      if (!sides_[r]) continue;
      if (control.pending()) control.poll();
      out += pair_.log_predictive(first, x_.col(Eigen::Index(r)).data());
      pair_.add(first, x_.col(Eigen::Index(r)).data());
    }
    return out;
  }

  void set(std::int64_t row, bool side) {
    std::uint64_t &word = second_[std::size_t(row) / 64];
    const std::uint64_t bit = std::uint64_t(1) << (row % 64);
    word = side ? word | bit : word & ~bit;
  }

  /// Sets chosen_: i, j, and in random order other rows of the clusters concerned, all of them or
  /// as many as are allocated sequentially.
  template <class Concerned>
  void draw_rows(std::int64_t i, std::int64_t j, std::int64_t n, std::int64_t size,
                 Concerned concerned, Random &random) {
    second_.assign(std::size_t(n) / 64 + block_rows / 64, 0);
    chosen_ = {i, j};
    const std::int64_t wanted = std::min(size, max_sequential_ + 2);
    if (size > 4 * max_sequential_ + 8) {
      set(i, true);
      set(j, true);
      while (std::int64_t(chosen_.size()) < wanted) {
        const std::int64_t row = std::int64_t(random.below(std::uint64_t(n)));
        if (!concerned(row) || second(row)) continue;
        set(row, true);
        chosen_.push_back(row);
      }
    } else {
      for (std::int64_t row = 0; row < n; ++row)
        if (concerned(row) && row != i && row != j) chosen_.push_back(row);
      for (std::size_t k = 2; std::int64_t(k) < wanted; ++k)
        std::swap(chosen_[k], chosen_[k + std::size_t(random.below(chosen_.size() - k))]);
      chosen_.resize(std::size_t(wanted));
    }
  }

  /// Allocates the chosen rows, or computes the probability of their given sides.
  template <class SideOf>
  void allocate_chosen(const PartitionPrior &prior, bool split, SideOf side_of, Random &random,
                       Control &control) {
    gather_rows(rows_, chosen_, x_, control);
    while (pair_.size() > 0) pair_.close(pair_.size() - 1);
    log_proposal_ = 0;
    sides_.assign(chosen_.size(), false);
    for (int side = 0; side < 2; ++side) {
      const double *const x = x_.col(side).data();
      log_sides_[side] = pair_.log_prior_predictive(x);
      pair_.add(pair_.open(), x);
      sides_[std::size_t(side)] = side;
    }
    double scores[2 * simd::lanes];
    for (std::size_t r = 2; r < chosen_.size(); ++r) {
      if (r % 256 == 0 && control.pending()) control.poll();
      const double *const x = x_.col(Eigen::Index(r)).data();
      pair_.log_predictive(x, scores);
      const double difference =
          scores[1] - scores[0] +
          std::log(prior.weight(pair_.count(1)) / prior.weight(pair_.count(0)));
      const bool side = split ? std::log(random.uniform()) < -log1p_exp(-difference) : side_of(r);
      log_proposal_ -= log1p_exp(side ? -difference : difference);
      log_sides_[side] += scores[side];
      pair_.add(side, x);
      sides_[r] = side;
    }
  }

  RowSource &rows_;
  Q prior_;
  std::int64_t max_sequential_;
  typename Q::Clusters pair_;
  std::vector<std::int64_t> chosen_;
  std::vector<bool> sides_;  // of the chosen
  Matrix x_;                 // the chosen rows, a column each
  // log p(the chosen rows on each side), and log probability of their allocation
  double log_sides_[2] = {}, log_proposal_ = 0;
  std::vector<std::uint64_t> second_;
};

// Common to samplers that draw the clusters' parameters: between sweeps they hold the labels, and
// the posterior of every cluster given its rows.

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

// MCMC samplers that draw all labels of a sweep independently given weights and parameters, hence
// on all threads: Gibbs sampling of finite mixtures, and the slice sampler of the Dirichlet
// process.

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

// Collapsed Gibbs sampling of a mixture's partition, one row at a time, parameters and weights
// integrated out (003; 002 L10; Neal 2000, algorithm 3), with split and merge moves between the
// sweeps.

template <class Q> class CollapsedSampler {
 public:
  using Clusters = typename Q::Clusters;
  /// sweeps after which clusters are rebuilt, so that rounding errors of updates do not accumulate
  static constexpr int sweeps_to_refresh = 50;

  /// `labels`: the initial partition, dense from 0. The rows must outlive the sampler.
  CollapsedSampler(RowSource &rows, const Q &prior, SamplerSetting setting, std::vector<int> labels,
                   Control &control)
      : rows_(rows, "collapsed"),
        prior_(prior),
        setting_(std::move(setting)),
        labels_(std::move(labels)),
        clusters_(prior),
        moves_(rows, prior, setting_.max_sequential),
        x_(std::size_t(rows_.dimension())) {
    const int clusters =
        labels_.empty() ? 0 : 1 + *std::max_element(labels_.begin(), labels_.end());
    for (int k = 0; k < clusters; ++k) clusters_.open();
    slot_.resize(std::size_t(clusters));
    id_.resize(std::size_t(clusters));
    for (int k = 0; k < clusters; ++k) slot_[std::size_t(k)] = id_[std::size_t(k)] = k;
    log_alone_.resize(labels_.size());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (control.pending()) control.poll();
      rows_.read(std::int64_t(i), x_.data());
      log_alone_[i] = clusters_.log_prior_predictive(x_.data());
      clusters_.add(labels_[i], x_.data());
    }
  }

  void sweep(int index, Control &control) {
    if (index % sweeps_to_refresh == sweeps_to_refresh - 1) refresh(control);
    Random random(setting_.seed, setting_.chain, std::uint64_t(index), 1);
    if (setting_.learn_concentration)
      setting_.partition.set_concentration(
          draw_concentration(setting_.concentration, setting_.partition.concentration(), clusters(),
                             double(labels_.size()), random));
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (i % 8 == 0 && control.pending()) control.poll();
      step(std::int64_t(i), random);
    }
    for (int move = moves_per_sweep(rows_.rows()); move > 0; --move)
      split_or_merge(random, control);
    compact();
  }

  void exchange_state(StateNumbers &numbers) {
    clusters_.exchange(numbers, int(labels_.size()));
    const int k = clusters_.size(), most = setting_.partition.components();
    numbers.labels(labels_, k - 1);
    setting_.exchange_concentration(numbers);
    if (!numbers.reads()) return;
    if (most > 0 && k > most) refuse_checkpoint();
    std::vector<double> rows(std::size_t(k), 0.0);
    for (const int label : labels_) rows[std::size_t(label)] += 1;
    for (int j = 0; j < k; ++j)
      if (rows[std::size_t(j)] == 0 || clusters_.count(j) != rows[std::size_t(j)])
        refuse_checkpoint();
    slot_.resize(std::size_t(k));
    id_.resize(std::size_t(k));
    for (int j = 0; j < k; ++j) slot_[std::size_t(j)] = id_[std::size_t(j)] = j;
    free_.clear();
  }

  /// dense from 0 after every sweep
  std::span<const int> labels() const { return labels_; }
  int clusters() const { return clusters_.size(); }
  double concentration() const { return setting_.partition.concentration(); }
  std::vector<double> counts() const {
    std::vector<double> out;
    for (int k = 0; k < clusters_.size(); ++k) out.push_back(clusters_.count(k));
    return out;
  }
  const PartitionPrior &partition() const { return setting_.partition; }
  Q components() const { return clusters_.posterior(); }
  double log_marginal() const {
    double total = 0;
    for (int k = 0; k < clusters_.size(); ++k) total += clusters_.log_marginal(k);
    return total;
  }

 private:
  /// Removes row i from its cluster and draws its cluster anew.
  void step(std::int64_t i, Random &random) {
    int &label = labels_[std::size_t(i)];
    const int from = slot_[std::size_t(label)];
    rows_.read(i, x_.data());
    bool saved = false;
    if (clusters_.count(from) > 1.5) {
      if constexpr (requires { clusters_.save(from); }) clusters_.save(from);
      saved = true;
      if (!clusters_.remove(from, x_.data())) {
        rebuild(from, i);
        saved = false;
      }
    } else {
      close(from);
    }
    const int k = clusters_.size();
    scores_.resize(std::size_t(clusters_.padded() + simd::lanes));
    clusters_.log_predictive(x_.data(), scores_.data());
    const double fresh = setting_.partition.log_new(k) + log_alone_[std::size_t(i)];
    const int to = choose(k, fresh, random.uniform());
    if (to == k) {
      label = new_id();
      clusters_.add(slot_[std::size_t(label)], x_.data());
    } else {
      label = id_[std::size_t(to)];
      if constexpr (requires { clusters_.restore(to); }) {
        if (saved && to == from)
          clusters_.restore(to);
        else
          clusters_.add(to, x_.data());
      } else {
        clusters_.add(to, x_.data());
      }
    }
  }

  /// Draws a slot in proportion to weight x exp(score), or k, a new cluster, in proportion to
  /// exp(fresh).
  int choose(int k, double fresh, double u) {
    double largest = fresh;
    for (int j = 0; j < k; ++j) largest = std::max(largest, scores_[std::size_t(j)]);
    if (!(largest > -std::numeric_limits<double>::max())) largest = 0;
    for (int j = k; j < clusters_.padded(); ++j) scores_[std::size_t(j)] = largest;
    for (int j = 0; j < k; j += simd::lanes)
      simd::store(scores_.data() + j, simd::exp(simd::load(scores_.data() + j) - largest));
    double total = std::exp(fresh - largest);
    for (int j = 0; j < k; ++j)
      total += scores_[std::size_t(j)] *= setting_.partition.weight(clusters_.count(j));
    double left = u * total;
    for (int j = 0; j < k; ++j)
      if ((left -= scores_[std::size_t(j)]) < 0) return j;
    // Rounding may select a new cluster even if there can be none.
    return setting_.partition.full(k)
               ? int(std::max_element(scores_.begin(), scores_.begin() + k) - scores_.begin())
               : k;
  }

  int new_id() {
    setting_.require_capacity(clusters_.size(), "collapsed");
    const int slot = clusters_.open();
    int id = int(slot_.size());
    if (free_.empty()) {
      slot_.push_back(slot);
    } else {
      id = free_.back();
      free_.pop_back();
      slot_[std::size_t(id)] = slot;
    }
    id_.push_back(id);
    return id;
  }
  void close(int slot) {
    free_.push_back(id_[std::size_t(slot)]);
    clusters_.close(slot);
    id_[std::size_t(slot)] = id_.back();
    slot_[std::size_t(id_.back())] = slot;
    id_.pop_back();
  }

  /// Rebuilds a cluster from its rows, except one of them.
  void rebuild(int slot, std::int64_t but = -1) {
    clusters_.clear(slot);
    std::vector<double> x(x_.size());
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (slot_[std::size_t(labels_[i])] == slot && std::int64_t(i) != but) {
        rows_.read(std::int64_t(i), x.data());
        clusters_.add(slot, x.data());
      }
  }
  void refresh(Control &control) {
    for (int k = 0; k < clusters_.size(); ++k) clusters_.clear(k);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (i % 8 == 0 && control.pending()) control.poll();
      rows_.read(std::int64_t(i), x_.data());
      clusters_.add(slot_[std::size_t(labels_[i])], x_.data());
    }
  }

  void split_or_merge(Random &random, Control &control) {
    compact();
    const auto move = moves_.propose(
        setting_.partition, labels_.data(), clusters_.size(),
        [this](int slot) { return clusters_.log_marginal(slot); }, random, control);
    if (!move.accepted) return;
    const int to = move.split ? new_id() : move.first;
    for (std::size_t row = 0; row < labels_.size(); ++row) {
      if (labels_[row] != move.second || !moves_.second(std::int64_t(row))) continue;
      labels_[row] = to;
      if (move.split) continue;
      rows_.read(std::int64_t(row), x_.data());
      clusters_.add(to, x_.data());
    }
    if (move.split) {
      rebuild(move.first);
      rebuild(to);
    } else {
      close(move.second);
      compact();
    }
  }

  /// Relabels rows by slots.
  void compact() {
    for (int &label : labels_) label = slot_[std::size_t(label)];
    slot_.resize(id_.size());
    for (std::size_t k = 0; k < id_.size(); ++k) slot_[k] = id_[k] = int(k);
    free_.clear();
  }

  RowAccess rows_;
  Q prior_;
  SamplerSetting setting_;
  std::vector<int> labels_;            // cluster identities, which stay the same when slots move
  std::vector<int> slot_, id_, free_;  // slot of an identity, its inverse, and unused identities
  Clusters clusters_;
  SplitMerge<Q> moves_;
  std::vector<double> x_, log_alone_;
  Buffer scores_;
};

// Marginal Gibbs sampling of a Dirichlet process mixture: weights integrated out, the clusters'
// parameters sampled (000; 002 L10; Neal 2000, algorithm 2).
//
// A row chooses an occupied cluster in proportion to n_k f(x | theta_k), or a new one in proportion
// to alpha times the marginal density of x, whose theta is then drawn given x. Between sweeps all
// parameters are drawn given their rows. As they are fixed during a sweep, rows are scored block by
// block.

template <class Q> class MarginalSampler : public SampledClusters<Q> {
  using Base = SampledClusters<Q>;
  using Base::rows_, Base::prior_, Base::setting_, Base::labels_, Base::counts_, Base::components_;

 public:
  MarginalSampler(RowSource &rows, const Q &prior, SamplerSetting setting, std::vector<int> labels,
                  Control &control)
      : Base(rows, prior, std::move(setting), std::move(labels)),
        access_(rows, "gibbs"),
        alone_(prior),
        x_(std::size_t(access_.dimension())) {
    this->count(labels_.empty() ? 0 : 1 + *std::max_element(labels_.begin(), labels_.end()),
                control);
    log_alone_.resize(labels_.size());
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      access_.read(std::int64_t(i), x_.data());
      log_alone_[i] = alone_.log_prior_predictive(x_.data());
    }
  }

  void sweep(int index, Control &control) {
    Random random(setting_.seed, setting_.chain, std::uint64_t(index), 1);
    this->move_clusters(random, control);
    this->learn_concentration(random);
    counts_now_ = counts_;
    scorers_.clear();
    add_scorer(draw(components_, random));
    block_.resize(rows_.shape().block_doubles());
    const std::int64_t n = rows_.rows();
    for (std::int64_t first = 0; first < n; first += block_rows) {
      if (control.pending()) control.poll();
      rows_.read_block(first / block_rows, block_.data());
      scored_ = 0;
      const int rows = int(std::min<std::int64_t>(block_rows, n - first));
      for (int b = 0; b < rows; ++b) step(first, b, random);
    }
    this->count(int(counts_now_.size()), control);
  }

 private:
  struct Scored {
    explicit Scored(std::unique_ptr<BlockScorer> of)
        : scorer(std::move(of)),
          worker(scorer->worker()) {}
    std::unique_ptr<BlockScorer> scorer;
    std::unique_ptr<BlockWorker> worker;
  };

  template <class Point> void add_scorer(const Point &point) {
    using Scorer = decltype(make_scorer(point));
    scorers_.push_back(std::make_unique<Scored>(std::make_unique<Scorer>(make_scorer(point))));
  }

  /// Scores the block's rows under components not scored yet.
  void score() {
    logits_.resize(counts_now_.size() * block_rows);
    std::size_t k = 0;
    for (auto &each : scorers_) {
      const std::size_t size = std::size_t(each->scorer->components());
      if (k >= scored_) {
        each->worker->prepare(block_.data());
        for (std::size_t j = 0; j < size; ++j)
          each->worker->score(block_.data(), int(j), logits_.data() + (k + j) * block_rows);
        scored_ = k + size;
      }
      k += size;
    }
  }

  void step(std::int64_t first, int b, Random &random) {
    int &label = labels_[std::size_t(first + b)];
    counts_now_[std::size_t(label)] -= 1;
    if (scored_ < counts_now_.size()) score();
    const std::size_t k = counts_now_.size();
    const double fresh =
        std::log(setting_.partition.concentration()) + log_alone_[std::size_t(first + b)];
    double largest = fresh;
    for (std::size_t j = 0; j < k; ++j)
      if (counts_now_[j] > 0) largest = std::max(largest, logits_[j * block_rows + std::size_t(b)]);
    double total = std::exp(fresh - largest);
    weights_.resize(k);
    for (std::size_t j = 0; j < k; ++j)
      total += weights_[j] =
          counts_now_[j] > 0
              ? counts_now_[j] * std::exp(logits_[j * block_rows + std::size_t(b)] - largest)
              : 0;
    double left = random.uniform() * total;
    std::size_t to = 0;
    while (to < k && (left -= weights_[to]) >= 0) ++to;
    label = int(to);
    if (to < k) {
      counts_now_[to] += 1;
      return;
    }
    for (int j = 0; j < access_.dimension(); ++j)
      x_[std::size_t(j)] = block_[std::size_t(j) * block_rows + std::size_t(b)];
    setting_.require_capacity(int(counts_now_.size()), "gibbs");
    alone_.add(alone_.open(), x_.data());
    add_scorer(draw(alone_.posterior(), random));
    alone_.close(0);
    counts_now_.push_back(1);
  }

  RowAccess access_;
  typename Q::Clusters alone_;
  std::vector<double> x_, log_alone_, counts_now_, weights_;
  std::vector<std::unique_ptr<Scored>> scorers_;
  Buffer block_, logits_;
  std::size_t scored_ = 0;
};

extern template class CollapsedSampler<NormalWishart>;
extern template class CollapsedSampler<ProductPosterior>;
extern template class MarginalSampler<NormalWishart>;
extern template class MarginalSampler<ProductPosterior>;
extern template class FiniteSampler<NormalWishart>;
extern template class FiniteSampler<ProductPosterior>;
extern template class SliceSampler<NormalWishart>;
extern template class SliceSampler<ProductPosterior>;

}  // namespace bayes
