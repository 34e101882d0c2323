// Point estimates of a clustering, from posterior draws of partitions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/checkpoint.hpp"
#include "base/control.hpp"

namespace bayes {

/// The clusters of n rows in several posterior draws, two bytes for each row and draw.
class BAYES_API PartitionDraws {
 public:
  /// rows: 1 .. 2^31 - 1; throws invalid_argument or too_large otherwise.
  explicit PartitionDraws(std::int64_t rows);

  /// Adds a draw: the cluster of every row. Labels are dense from 0: every one below the number of
  /// clusters occurs; their numbering is arbitrary. Throws invalid_argument otherwise, too_large
  /// above 65535 clusters; nothing is added then.
  void add(std::span<const int> labels);
  /// Leaves the draws with these indices, ascending.
  void retain(std::span<const int> draws);
  /// Writes the last draws, so many of them, or reads and appends them.
  void exchange(StateNumbers &numbers, int draws);

  std::int64_t rows() const { return rows_; }
  /// number of draws
  int size() const { return int(labels_.size()); }
  int clusters(int draw) const { return clusters_[std::size_t(draw)]; }
  /// as they were added
  std::span<const std::uint16_t> labels(int draw) const { return *labels_[std::size_t(draw)]; }

  /// A view of `count` evenly spaced draws, without a copy of their labels.
  PartitionDraws evenly_spaced(int count) const;

 private:
  std::int64_t rows_;
  std::vector<std::shared_ptr<const std::vector<std::uint16_t>>> labels_;
  std::vector<int> clusters_;
};

/// The loss whose mean over the draws a point estimate minimises.
///
/// Two metrics on partitions:
/// - the Rand loss (Binder 1978 with equal costs; 003): the share of the n(n-1)/2 pairs of rows
///   that are together in one partition and apart in the other. In [0, 1]; everything together is
///   1 away from everything apart. 0 for one row.
/// - the variation of information (Meila 2007) in bits: H(a|b) + H(b|a). In [0, log2 n]; everything
///   together is log2 n away from everything apart.
enum class PartitionLoss {
  /// the Rand loss
  binder,
  /// the variation of information (Wade and Ghahramani 2018)
  information,
  /// the Rand loss, among partitions into exactly two clusters (003)
  bipartition,
  /// no loss is minimised: the draw with the largest log joint density; losses and distances are
  /// reported as Rand losses
  map
};

/// A point estimate of the partition, and its uncertainty.
struct PartitionEstimate {
  /// of each row, from 0; clusters by decreasing size, ties by first row
  std::vector<int> labels;
  int clusters = 0;
  /// mean loss over the draws, exact; scale: see PartitionLoss
  double expected_loss = 0;
  /// its Monte Carlo standard error; NaN where mcse_mean is undefined
  double mcse = 0;
  /// whether it is proved that no partition (bipartition: into two clusters) is better; never for
  /// map
  bool optimal = false;

  /// For each row the certainty of its membership, in [0, 1]: the mean posterior probability that
  /// it is together with another row of its cluster. For a cluster of one row: the share of draws
  /// in which that row is alone.
  std::vector<double> probability;

  /// The credible ball (Wade and Ghahramani 2018): the smallest r such that at least `level` of the
  /// draws lie within distance r.
  double radius = 0;
  /// of the draws in the ball
  int fewest_clusters = 0, most_clusters = 0;
  /// The bounds of the ball (section 4 of the same paper), each a draw, the first in case of ties:
  /// the draw furthest from the estimate among the draws in the ball with the fewest clusters,
  /// among those with the most clusters, and among all of them.
  int upper = 0, lower = 0, horizontal = 0;
};

/// The point estimate under a loss.
///
/// binder and information: greedy search (moves of patterns, the rows that are together in every
/// draw, and merges of clusters) from several starts, as in SALSO (Dahl, Johnson and Mueller 2022);
/// exhaustive, hence optimal, for up to 8 patterns. Never worse than any draw that was compared;
/// the most promising draws are compared first, and all of them while rows x draws^2 is within some
/// 10^9. The number of clusters is free. With more than 500 draws, 500 evenly spaced ones are
/// searched; of the best partitions found there with different numbers of clusters, the one with
/// the smallest loss over all draws is taken, after improvement by moves and merges under all draws
/// while patterns x draws is within some 10^6.
///
/// bipartition: a minimum cut where that is optimal, else a local search; see partition_cut.cpp. At
/// least two rows; at most 1000 patterns, too_large beyond.
///
/// log_joint: one for each draw, used by `map` only, where NaN counts as -infinity; may be empty
/// otherwise. level in (0, 1]. `chains`: the draws come chain after chain, the same number from
/// each. The same arguments give the same result. Throws invalid_argument for no draws and for
/// invalid arguments, too_large if it would need more than control.memory.
BAYES_API PartitionEstimate estimate_partition(const PartitionDraws &draws, PartitionLoss loss,
                                               std::span<const double> log_joint, double level,
                                               std::uint64_t seed, Control &control,
                                               int chains = 1);

/// The mean loss of a partition over the draws: its labels, one per row, are any integers. Takes
/// O(rows x draws) steps.
BAYES_API double expected_loss(const PartitionDraws &draws, std::span<const int> labels,
                               PartitionLoss loss);

/// The Monte Carlo standard error of PartitionEstimate::probability for each row of a partition,
/// from the block means (DrawBlocks) of the draws of `chains` chains. NaN where mcse_mean is
/// undefined, and for all rows if these means would not fit into a quarter of the memory for rows.
BAYES_API std::vector<double> membership_mcse(const PartitionDraws &draws,
                                              std::span<const int> labels, int chains,
                                              Control &control);

/// The clusters of a draw's rows, numbered from 0 by decreasing size, ties by first row.
BAYES_API std::vector<int> labels_by_size(const PartitionDraws &draws, int draw);

/// Posterior probabilities that rows are in the same cluster: for row 0, 1, ... in turn those with
/// the rows before it, n(n-1)/2 numbers in total, of which only those of a few rows are in memory
/// at a time; and their Monte Carlo standard errors, from the block means (DrawBlocks) of the draws
/// of `chains` chains (NaN where mcse_mean is undefined). Needs at least one draw.
BAYES_API void similarity(
    const PartitionDraws &draws, int chains, Control &control,
    const std::function<void(std::int64_t row, std::span<const double> probabilities,
                             std::span<const double> mcse)> &emit);

}  // namespace bayes
