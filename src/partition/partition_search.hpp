// The search for the partition with the smallest expected loss, and the tables by which partitions
// are compared.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "partition/partition.hpp"

namespace bayes {

// Comparison of partitions by contingency tables.
//
// Rows that are together in every draw are treated as one pattern with a weight. For both losses an
// optimal partition need not divide a pattern. Let t of w such rows lie in a cluster with a other
// rows and w - t in one with b. Up to a constant the expected loss is f(t) = g(a, b, t) - (2/M)
// sum_m g(a_m, b_m, t) with g(a, b, t) = h(a + t) + h(b + w - t), where a_m <= a and b_m <= b of
// the other rows are with them in draw m, and h(x) = x^2 (Rand) or x log x (information). As h''(x)
// = 2 or 1/x is nonincreasing, f'' <= -g'' < 0: f is concave, so t = 0 or t = w is best.

/// The Rand loss. For partitions with clusters of a and b rows that share a number of rows: loss =
/// scale(n) * sum of term(shared, a, b). No term is negative, and all are exactly 0 for equal
/// partitions.
struct RandLoss {
  /// relative cost of computing a gain
  static constexpr double effort = 1;
  static double scale(double n) { return n > 1 ? 1 / (n * (n - 1)) : 0; }
  static double term(double shared, double a, double b) {
    return shared * ((a - shared) + (b - shared));
  }
  /// h(x + w) - h(x) - h(w), where the loss is scale * (sum h(a) + sum h(b) - 2 sum h(shared)),
  /// h(x) = x^2. Positive for x, w > 0.
  static double gain(double x, double w) { return 2 * x * w; }
};

/// The variation of information in bits, in the same terms; h(x) = x log2 x.
struct InformationLoss {
  static constexpr double effort = 8;
  static double scale(double n) { return 1 / n; }
  static double term(double shared, double a, double b) {
    return shared * std::log2((a / shared) * (b / shared));
  }
  static double gain(double x, double w) {
    return x > 0 && w > 0 ? (x * std::log1p(w / x) + w * std::log1p(x / w)) * 1.4426950408889634
                          : 0;
  }
};

/// Calls run with the loss by which a point estimate is measured: the Rand loss for all but
/// `information`.
template <class F> auto with_loss(PartitionLoss loss, F &&run) {
  return loss == PartitionLoss::information ? run(InformationLoss()) : run(RandLoss());
}

/// All or some of the rows, each with the number of rows that it represents.
struct WeightedRows {
  /// index among all rows
  std::vector<std::uint32_t> row;
  /// at least 1
  std::vector<std::uint32_t> weight;
  std::size_t size() const { return row.size(); }
  double total() const;
};

/// Rows that are together in every draw, as one pattern.
struct Patterns {
  /// the first row of each pattern, increasing; weight: its number of rows
  WeightedRows rows;
  /// index of each row's pattern
  std::vector<std::uint32_t> of_row;
  Patterns(const PartitionDraws &draws, Control &control);
};

/// Renumbers labels from 0 without gaps, in the order of first occurrence. Returns the number of
/// clusters.
int densify(std::span<const int> labels, std::vector<int> &dense);

/// A partition of weighted rows, compared with draws by contingency tables: O(rows) for each.
class Comparison {
 public:
  Comparison(const PartitionDraws &draws, const WeightedRows &rows, Control &control);

  /// The partition to compare: each weighted row's cluster, below `clusters`, some of which may be
  /// empty.
  template <class Label> void set(std::span<const Label> labels, int clusters);
  /// Sets one of the draws as the partition.
  void set_draw(int draw);

  template <class Loss> double distance(int draw) const;

  /// The mean distance from all draws; infinity as soon as it must exceed the limit.
  template <class Loss> double mean(double limit = std::numeric_limits<double>::infinity()) const;

  /// Adds for each weighted row PartitionEstimate::probability as if this were the only draw.
  void add_probability(int draw, std::span<double> sum) const;

  double size_of(int cluster) const { return size_[std::size_t(cluster)]; }

 private:
  template <class Visit> void tables(int draw, Visit &&visit) const;
  const double *draw_sizes(int draw) const {
    return draw_size_.data() + draw_first_[std::size_t(draw)];
  }

  const PartitionDraws &draws_;
  const WeightedRows &rows_;
  Control &control_;
  double total_;
  std::vector<std::size_t> draw_first_;
  std::vector<double> draw_size_;  // of every cluster of every draw
  // rows by cluster: cluster c has order_[first_[c]] ..
  std::vector<std::uint32_t> first_, order_;
  // number and weight of the rows in that order
  std::vector<std::uint32_t> row_, weight_;
  std::vector<double> size_;
  std::size_t most_ = 0;  // largest number of clusters in a draw
  // numbers of one cluster's rows in each cluster of a draw, and extra counters; zero between calls
  mutable std::vector<std::uint32_t> count_;
};

/// A partition of patterns.
struct PatternPartition {
  /// of each pattern, from 0 and dense
  std::vector<int> labels;
  int clusters = 0;
  /// proved to have the smallest expected loss
  bool optimal = false;
};

/// See estimate_partition, losses binder and information. Instantiated for both.
template <class Loss>
PatternPartition search_partition(const PartitionDraws &draws, const Patterns &patterns,
                                  std::uint64_t seed, Control &control);

/// See estimate_partition, loss bipartition. May split one row off a pattern, as a new last
/// pattern.
PatternPartition search_bipartition(const PartitionDraws &draws, Patterns &patterns,
                                    std::uint64_t seed, Control &control);

/// The same for any number of draws: of many, only 500 evenly spaced ones are searched.
PatternPartition search_bipartition_of_many(const PartitionDraws &draws, Patterns &patterns,
                                            std::uint64_t seed, Control &control);

/// A complete graph with a weight on every edge: a symmetric matrix, zero on its diagonal.
class Graph {
 public:
  explicit Graph(std::size_t n) : n_(n), weight_(n * n) {}
  std::size_t size() const { return n_; }
  double *operator[](std::size_t i) { return weight_.data() + i * n_; }
  const double *operator[](std::size_t i) const { return weight_.data() + i * n_; }

 private:
  std::size_t n_;
  std::vector<double> weight_;
};

/// A cut: the side, 0 or 1, of every vertex, and the sum of the weights between the sides.
struct Cut {
  std::vector<char> side;
  double cost = std::numeric_limits<double>::infinity();
};

/// The cut of smallest cost with no side empty, in O(n^3) steps (Stoer and Wagner 1997). n >= 2; no
/// weight is negative.
BAYES_API Cut minimum_cut(Graph graph, Control &control);

}  // namespace bayes
