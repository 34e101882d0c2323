// Split and merge of whole clusters: the remedy for samplers that move one row at a time.
//
// Sequentially allocated merge-split (Dahl 2005): two rows are drawn. If they share a cluster its rows are dealt out in random order to two
// clusters that begin with these two, each in proportion to the predictive density so far; else their clusters are joined, and
// the same dealing, with its outcome given, makes the probability of the way back. Metropolis-Hastings on the partition, parameters
// integrated out; it leaves p(partition | rows) unchanged, and so may stand between the sweeps of any sampler of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "inference/partition_prior.hpp"
#include "inference/row_access.hpp"

namespace bayes {

/// Proposals between two sweeps over n rows. A proposal costs about as much as a tenth of a sweep and more, so large tables get one; small ones, whose
/// sweeps take no time, get more, as draws are then worth more each.
inline int moves_per_sweep(std::int64_t n) { return int(std::clamp<std::int64_t>(5000 / std::max<std::int64_t>(1, n), 1, 5)); }

/// What a move found, if it is accepted.
template <class Clusters> struct SplitMergeMove {
  bool accepted = false, split = false;
  int first = 0, second = 0;             ///< clusters before; equal for a split
  std::vector<std::int64_t> second_rows; ///< split: the rows of the new cluster; merge: those that join the first
};

template <class Clusters> class SplitMerge {
 public:
  /// A cluster of more rows is left alone; as a split and the merge that undoes it concern the same rows, that is no bias.
  static constexpr std::int64_t most_rows = 50000;

  template <class Q> SplitMerge(const RowAccess &rows, const Q &prior) : rows_(rows), pair_(prior), x_(std::size_t(rows.dimension())) {}

  /// One proposal. `labels`: the cluster of every row; log_marginal(cluster): log p(its rows); `clusters`: how many.
  template <class LogMarginal>
  SplitMergeMove<Clusters> propose(const PartitionPrior &prior, const int *labels, int clusters, LogMarginal log_marginal, Random &random, Control &control) {
    SplitMergeMove<Clusters> move;
    const std::int64_t n = rows_.rows();
    if (n < 2) return move;
    const std::int64_t i = std::int64_t(random.below(std::uint64_t(n)));
    std::int64_t j = std::int64_t(random.below(std::uint64_t(n - 1)));
    j += j >= i;
    move.first = labels[i];
    move.second = labels[j];
    move.split = move.first == move.second;
    if (move.split && prior.full(clusters)) return move;
    const auto concerned = [&](std::int64_t row) { return labels[row] == move.first || labels[row] == move.second; };
    std::int64_t size = 0;
    for (std::int64_t row = 0; row < n; ++row) size += concerned(row);
    if (size > most_rows) return move;
    others_.clear();
    for (std::int64_t row = 0; row < n; ++row)
      if (concerned(row) && row != i && row != j) others_.push_back(row);
    for (std::size_t k = others_.size(); k > 1; --k) std::swap(others_[k - 1], others_[std::size_t(random.below(k))]);

    while (pair_.size() > 0) pair_.close(pair_.size() - 1);
    double log_rows[2], log_way = 0;  // of the rows dealt to each; of the way they were dealt
    double scores[2 * simd::lanes];
    std::vector<std::int64_t> dealt[2] = {{i}, {j}};
    for (int side = 0; side < 2; ++side) {
      rows_.read(dealt[side][0], x_.data());
      log_rows[side] = pair_.log_prior_predictive(x_.data());
      pair_.add(pair_.open(), x_.data());
    }
    for (std::size_t k = 0; k < others_.size(); ++k) {
      if (k % 256 == 0 && control.pending()) control.poll();
      rows_.read(others_[k], x_.data());
      pair_.log_predictive(x_.data(), scores);
      // p(second) = 1 / (1 + exp(-difference))
      const double difference = scores[1] - scores[0] + std::log(prior.weight(double(dealt[1].size())) / prior.weight(double(dealt[0].size())));
      const int side = move.split ? std::log(random.uniform()) < -log1p_exp(-difference) : labels[others_[k]] == move.second;
      log_way -= log1p_exp(side ? -difference : difference);
      log_rows[side] += scores[side];
      pair_.add(side, x_.data());
      dealt[side].push_back(others_[k]);
    }
    const double n0 = double(dealt[0].size()), n1 = double(dealt[1].size());
    const double apart = prior.log_birth(clusters - (move.split ? 0 : 1)) + prior.log_cluster(n0) + prior.log_cluster(n1) + log_rows[0] + log_rows[1];
    double together = prior.log_cluster(n0 + n1);
    if (move.split) {
      together += log_marginal(move.first);
    } else {
      // By the chain rule: the second's rows join the first's.
      const int first = 0;
      together += log_rows[first];
      for (const std::int64_t row : dealt[1]) {
        if (control.pending()) control.poll();
        rows_.read(row, x_.data());
        together += pair_.log_predictive(first, x_.data());
        pair_.add(first, x_.data());
      }
    }
    const double log_ratio = (move.split ? apart - together - log_way : together - apart + log_way);
    move.accepted = std::log(random.uniform()) < log_ratio;
    if (move.accepted) move.second_rows = std::move(dealt[1]);
    return move;
  }

 private:
  const RowAccess &rows_;
  Clusters pair_;
  std::vector<double> x_;
  std::vector<std::int64_t> others_;
};

}  // namespace bayes
