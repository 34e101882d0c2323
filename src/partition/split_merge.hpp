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
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"
#include "data/local_step.hpp"
#include "data/row_access.hpp"
#include "partition/partition_prior.hpp"

namespace bayes {

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

}  // namespace bayes
