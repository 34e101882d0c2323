// The search for the partition with the smallest expected loss.
#pragma once

#include <limits>
#include <vector>

#include "partition/partition_table.hpp"

namespace bayes {

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
