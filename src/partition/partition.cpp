#include "partition/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "mcmc/stored_draws.hpp"
#include "partition/partition_search.hpp"

namespace bayes {
namespace {

// All n rows, each with weight 1.
WeightedRows single_rows(std::size_t n) {
  WeightedRows rows;
  rows.row.resize(n);
  std::iota(rows.row.begin(), rows.row.end(), 0u);
  rows.weight.assign(n, 1);
  return rows;
}

void require_labels(const PartitionDraws &draws, std::span<const int> labels) {
  if (std::int64_t(labels.size()) != draws.rows())
    throw Error(Errc::invalid_argument, "a partition has " + std::to_string(labels.size()) +
                                            " labels for " + std::to_string(draws.rows()) +
                                            " rows");
}

// Divides all draws into runs [first, last) of at most 65535; those of the blocks come first.
std::vector<std::pair<int, int>> runs_of(const DrawBlocks &blocks, int draws) {
  std::vector<std::pair<int, int>> out, left;
  int next = 0;
  const auto leave = [&](int end) {
    for (; next < end; next = left.back().second)
      left.emplace_back(next, std::min(end, next + std::numeric_limits<std::uint16_t>::max()));
  };
  for (int b = 0; b < blocks.size(); ++b) {
    leave(int(blocks.first(b)));
    next += blocks.length;
    out.emplace_back(next - blocks.length, next);
  }
  leave(draws);
  out.insert(out.end(), left.begin(), left.end());
  return out;
}

void require_draws(const PartitionDraws &draws) {
  if (draws.size() == 0) throw Error(Errc::invalid_argument, "there are no draws of a partition");
}

// The draw with the largest log joint density, the first of several; NaN counts as minus infinity.
int draw_with_largest_density(const PartitionDraws &draws, std::span<const double> log_joint) {
  if (log_joint.size() != std::size_t(draws.size()))
    throw Error(Errc::invalid_argument,
                "the most probable draw needs the log joint density of every draw",
                "There are " + std::to_string(log_joint.size()) + " for " +
                    std::to_string(draws.size()) + " draws.");
  int best = 0;
  for (int m = 1; m < draws.size(); ++m)
    if (log_joint[std::size_t(m)] > log_joint[std::size_t(best)] ||
        (std::isnan(log_joint[std::size_t(best)]) && !std::isnan(log_joint[std::size_t(m)])))
      best = m;
  return best;
}

// Numbers clusters by decreasing size, ties by first pattern, that is by first row.
void order_clusters(PatternPartition &partition, const WeightedRows &rows) {
  std::vector<double> size(std::size_t(partition.clusters));
  std::vector<int> order, number(size.size());
  for (std::size_t p = 0; p < rows.size(); ++p) {
    double &s = size[std::size_t(partition.labels[p])];
    if (s == 0) order.push_back(partition.labels[p]);
    s += rows.weight[p];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return size[std::size_t(a)] > size[std::size_t(b)]; });
  for (std::size_t i = 0; i < order.size(); ++i) number[std::size_t(order[i])] = int(i);
  for (int &label : partition.labels) label = number[std::size_t(label)];
}

void credible_ball(const PartitionDraws &draws, std::span<const double> distance, double level,
                   PartitionEstimate &estimate) {
  std::vector<double> sorted(distance.begin(), distance.end());
  // so that rounding does not make 0.95 of 100 draws 96
  const double wanted = std::ceil(level * double(sorted.size()) * (1 - 1e-12));
  const auto last = sorted.begin() + std::ptrdiff_t(std::max(1.0, wanted)) - 1;
  std::nth_element(sorted.begin(), last, sorted.end());
  estimate.radius = *last;
  bool first = true;
  for (int m = 0; m < draws.size(); ++m) {
    const double d = distance[std::size_t(m)];
    if (!(d <= estimate.radius)) continue;
    const int k = draws.clusters(m);
    const auto bound = [&](int &draw, bool beyond, bool level_with) {
      if (first || beyond || (level_with && d > distance[std::size_t(draw)])) draw = m;
    };
    bound(estimate.upper, k < estimate.fewest_clusters, k == estimate.fewest_clusters);
    bound(estimate.lower, k > estimate.most_clusters, k == estimate.most_clusters);
    bound(estimate.horizontal, false, true);
    estimate.fewest_clusters = first ? k : std::min(estimate.fewest_clusters, k);
    estimate.most_clusters = first ? k : std::max(estimate.most_clusters, k);
    first = false;
  }
}

PatternPartition find(const PartitionDraws &draws, Patterns &patterns, PartitionLoss loss,
                      std::span<const double> log_joint, std::uint64_t seed, Control &control) {
  if (loss == PartitionLoss::bipartition)
    return search_bipartition_of_many(draws, patterns, seed, control);
  if (loss != PartitionLoss::map)
    return with_loss(loss, [&]<class Loss>(Loss) {
      return search_partition<Loss>(draws, patterns, seed, control);
    });
  const int draw = draw_with_largest_density(draws, log_joint);
  PatternPartition partition{{}, draws.clusters(draw), false};
  for (const std::uint32_t row : patterns.rows.row)
    partition.labels.push_back(draws.labels(draw)[row]);
  return partition;
}

}  // namespace

PartitionDraws::PartitionDraws(std::int64_t rows) : rows_(rows) {
  if (rows < 1) throw Error(Errc::invalid_argument, "a partition needs at least one row");
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw Error(Errc::too_large, "partitions of more than 2147483647 rows are not supported",
                "There are " + std::to_string(rows) + " rows.");
}

void PartitionDraws::retain(std::span<const int> draws) {
  bayes::retain(labels_, draws);
  bayes::retain(clusters_, draws);
}

void PartitionDraws::add(std::span<const int> labels) {
  if (std::int64_t(labels.size()) != rows_)
    throw Error(Errc::invalid_argument, "a draw of a partition has " +
                                            std::to_string(labels.size()) + " labels for " +
                                            std::to_string(rows_) + " rows");
  constexpr int most = std::numeric_limits<std::uint16_t>::max();
  const int clusters = *std::max_element(labels.begin(), labels.end()) + 1;
  if (clusters > most)
    throw Error(Errc::too_large, "a draw of a partition has more than 65535 clusters",
                "It has " + std::to_string(clusters) + ".",
                "Use a prior that favours fewer clusters, such as a smaller concentration.");
  std::vector<char> occurs(std::size_t(std::max(0, clusters)));
  for (const int label : labels) {
    if (label < 0)
      throw Error(Errc::invalid_argument, "a label of a draw of a partition is negative");
    occurs[std::size_t(label)] = 1;
  }
  const auto missing = std::find(occurs.begin(), occurs.end(), 0);
  if (missing != occurs.end())
    throw Error(Errc::invalid_argument, "the labels of a draw of a partition are not dense",
                "No row has label " + std::to_string(missing - occurs.begin()) + ".");
  labels_.push_back(
      std::make_shared<const std::vector<std::uint16_t>>(labels.begin(), labels.end()));
  clusters_.push_back(clusters);
}

void PartitionDraws::exchange(StateNumbers &numbers, int draws) {
  constexpr std::int64_t most = std::numeric_limits<std::uint16_t>::max();
  std::vector<int> one(std::size_t(rows_), 0);
  for (int m = numbers.reads() ? 0 : size() - draws, end = m + draws; m < end; ++m) {
    poll_here();
    if (!numbers.reads()) one.assign(labels(m).begin(), labels(m).end());
    numbers.labels(one, most);
    if (numbers.reads()) add(one);
  }
}

PartitionDraws PartitionDraws::evenly_spaced(int count) const {
  PartitionDraws out(rows_);
  EvenlySpaced spaced(size(), count);
  for (int m = 0; m < size(); ++m)
    if (spaced.takes(m)) {
      out.labels_.push_back(labels_[std::size_t(m)]);
      out.clusters_.push_back(clusters(m));
    }
  return out;
}

PartitionEstimate estimate_partition(const PartitionDraws &draws, PartitionLoss loss,
                                     std::span<const double> log_joint, double level,
                                     std::uint64_t seed, Control &control, int chains) {
  require_draws(draws);
  if (!(level > 0 && level <= 1))
    throw Error(Errc::invalid_argument,
                "the level of a credible ball must be above 0 and at most 1",
                "It is " + std::to_string(level) + ".");
  Patterns patterns(draws, control);
  PatternPartition partition = find(draws, patterns, loss, log_joint, seed, control);
  order_clusters(partition, patterns.rows);
  Comparison comparison(draws, patterns.rows, control);
  comparison.set<int>(partition.labels, partition.clusters);
  std::vector<double> distance, probability(patterns.rows.size());
  for (int m = 0; m < draws.size(); ++m) {
    control.poll();
    distance.push_back(
        with_loss(loss, [&]<class Loss>(Loss) { return comparison.distance<Loss>(m); }));
    comparison.add_probability(m, probability);
  }
  PartitionEstimate estimate;
  estimate.clusters = partition.clusters;
  estimate.optimal = partition.optimal;
  estimate.expected_loss = std::accumulate(distance.begin(), distance.end(), 0.0) / draws.size();
  for (const std::uint32_t p : patterns.of_row) {
    estimate.labels.push_back(partition.labels[p]);
    estimate.probability.push_back(std::min(1.0, probability[p] / draws.size()));
  }
  credible_ball(draws, distance, level, estimate);
  estimate.mcse = mcse_of(std::move(distance), chains, control);
  return estimate;
}

double expected_loss(const PartitionDraws &draws, std::span<const int> labels, PartitionLoss loss) {
  require_draws(draws);
  require_labels(draws, labels);
  const WeightedRows rows = single_rows(labels.size());
  Control control;
  Comparison comparison(draws, rows, control);
  std::vector<int> dense;
  const int clusters = densify(labels, dense);
  comparison.set<int>(dense, clusters);
  return with_loss(loss, [&]<class Loss>(Loss) { return comparison.mean<Loss>(); });
}

std::vector<int> labels_by_size(const PartitionDraws &draws, int draw) {
  const auto labels = draws.labels(draw);
  PatternPartition partition{{labels.begin(), labels.end()}, draws.clusters(draw)};
  order_clusters(partition, single_rows(labels.size()));
  return std::move(partition.labels);
}

std::vector<double> membership_mcse(const PartitionDraws &draws, std::span<const int> labels,
                                    int chains, Control &control) {
  require_draws(draws);
  require_labels(draws, labels);
  std::vector<double> out(labels.size(), std::numeric_limits<double>::quiet_NaN());
  const DrawBlocks blocks(draws.size(), chains);
  const std::size_t size = std::size_t(blocks.size());
  // Rows of a cluster that are together in every draw share one series.
  PartitionDraws with_labels = draws;
  std::vector<int> dense;
  const int clusters = densify(labels, dense);
  if (clusters > std::numeric_limits<std::uint16_t>::max()) return out;
  with_labels.add(dense);
  const Patterns patterns(with_labels, control);
  const std::size_t p = patterns.rows.size();
  if (size == 0 || 4.0 * double(p * size) > control.row_memory / 4) return out;
  Comparison comparison(draws, patterns.rows, control);
  std::vector<int> own;
  for (const std::uint32_t row : patterns.rows.row) own.push_back(dense[row]);
  comparison.set<int>(own, clusters);
  std::vector<float> series(p * size);
  std::vector<double> sum(p);
  for (std::size_t b = 0; b < size; ++b) {
    std::fill(sum.begin(), sum.end(), 0.0);
    const int first = int(blocks.first(int(b)));
    for (int m = first; m < first + blocks.length; ++m) {
      control.poll();
      comparison.add_probability(m, sum);
    }
    for (std::size_t q = 0; q < p; ++q) series[q * size + b] = float(sum[q] / blocks.length);
  }
  std::vector<double> of_pattern(p);
  for (std::size_t q = 0; q < p; ++q) {
    if (q % 256 == 0) control.poll();
    const float *const from = series.data() + q * size;
    of_pattern[q] = mcse_of({from, from + size}, chains, control);
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = of_pattern[patterns.of_row[i]];
  return out;
}

// Pairs are counted in tiles of rows: a tile's labels in all draws stay in the cache while the rows
// of a block are compared with them. Draws are counted by runs of at most 65535, those of
// DrawBlocks first.
void similarity(const PartitionDraws &draws, int chains, Control &control,
                const std::function<void(std::int64_t, std::span<const double>,
                                         std::span<const double>)> &emit) {
  require_draws(draws);
  constexpr std::size_t block = 16, tile = 256;
  const std::size_t n = std::size_t(draws.rows());
  const DrawBlocks blocks(draws.size(), chains);
  const std::vector<std::pair<int, int>> runs = runs_of(blocks, draws.size());
  std::vector<double> probability(block * n), mcse(block * n), series(std::size_t(blocks.size()));
  std::vector<std::uint16_t> counts(runs.size() * tile);
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(begin + block, n);
    for (std::size_t from = 0; from < end; from += tile) {
      const std::size_t columns = std::min(tile, n - from);
      for (std::size_t i = begin; i < end; ++i) {
        control.poll();
        std::fill(counts.begin(), counts.end(), std::uint16_t(0));
        for (std::size_t r = 0; r < runs.size(); ++r) {
          std::uint16_t *const together = counts.data() + r * tile;
          for (int m = runs[r].first; m < runs[r].second; ++m) {
            const std::uint16_t *const labels = draws.labels(m).data();
            const std::uint16_t own = labels[i];
            if (columns == tile) {
              for (std::size_t j = 0; j < tile; ++j)
                together[j] = std::uint16_t(together[j] + (labels[from + j] == own));
            } else {
              for (std::size_t j = 0; j < columns; ++j)
                together[j] = std::uint16_t(together[j] + (labels[from + j] == own));
            }
          }
        }
        for (std::size_t j = 0; j < columns && from + j < i; ++j) {
          std::int64_t together = 0;
          for (std::size_t r = 0; r < runs.size(); ++r) together += counts[r * tile + j];
          const std::size_t at = (i - begin) * n + from + j;
          probability[at] = double(together) / draws.size();
          mcse[at] = std::numeric_limits<double>::quiet_NaN();
          if (together == 0 || together == draws.size() || series.empty()) continue;
          for (std::size_t b = 0; b < series.size(); ++b)
            series[b] = double(counts[b * tile + j]) / blocks.length;
          mcse[at] = mcse_of(series, chains, control);
        }
      }
    }
    for (std::size_t i = begin; i < end; ++i)
      emit(std::int64_t(i), {probability.data() + (i - begin) * n, i},
           {mcse.data() + (i - begin) * n, i});
  }
}

}  // namespace bayes
