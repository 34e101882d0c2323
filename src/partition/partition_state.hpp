// The current partition of the search for point estimates: moves, their gains, and their work.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "partition/partition_search.hpp"

namespace bayes {

constexpr std::uint32_t no_cluster = ~std::uint32_t(0);

/// A search's work budget, counted in table entries, so that results do not depend on the clock.
class Work {
 public:
  explicit Work(Control &control) : control_(control) {}
  void allow(double entries) { left_ = entries; }
  bool done() const { return left_ <= 0; }
  void spend(double entries) {
    left_ -= entries;
    since_ += entries;
    if (since_ > 5e5) {
      since_ = 0;
      control_.poll();
    }
  }
  /// Counts allocated bytes; throws if they are too many.
  void hold(double bytes) {
    held_ += bytes;
    if (held_ > control_.memory)
      throw Error(
          Errc::too_large,
          "a point estimate from so many rows and draws needs more memory than allowed",
          "It needs more than " + std::to_string(std::int64_t(control_.memory / 1048576)) + " MB.",
          "Keep fewer draws, or allow more memory.");
  }

 private:
  double left_ = 0, since_ = 0, held_ = 0;
  Control &control_;
};

/// The labels of some patterns in some draws, pattern by pattern.
struct Table {
  std::size_t draws;
  std::vector<std::uint32_t> weight;
  std::vector<std::uint16_t> labels;  // [pattern][draw]
  // index of each draw's first cluster among all draws' clusters, and the total
  std::vector<std::size_t> first;
  std::vector<double> size;  // of every cluster of every draw

  Table(const PartitionDraws &from, const WeightedRows &rows, const std::vector<int> &chosen,
        Work &work)
      : draws(chosen.size()),
        weight(rows.weight),
        first(1, 0) {
    work.hold(2.0 * double(rows.size()) * double(draws));
    for (const int m : chosen) first.push_back(first.back() + std::size_t(from.clusters(m)));
    size.assign(first.back(), 0);
    labels.resize(rows.size() * draws);
    // In blocks of rows: writing a draw's labels with a stride would miss the cache at every row.
    constexpr std::size_t block = 64;
    for (std::size_t begin = 0; begin < rows.size(); begin += block) {
      work.spend(double(block * draws));
      const std::size_t end = std::min(begin + block, rows.size());
      for (std::size_t m = 0; m < draws; ++m) {
        const auto column = from.labels(chosen[m]);
        for (std::size_t p = begin; p < end; ++p) {
          labels[p * draws + m] = column[rows.row[p]];
          size[first[m] + column[rows.row[p]]] += weight[p];
        }
      }
    }
  }
  std::size_t rows() const { return weight.size(); }
};

/// The number of rows that a cluster of the current partition shares with a cluster of a draw, and
/// the gains (Loss::gain) of adding a row to them and of their last row.
struct Share {
  std::uint32_t cluster, rows;
  double gain, last_gain;
};

/// The current partition. For each cluster of each draw it holds the nonzero shares of the current
/// partition's clusters. With h of the loss, M times the expected loss over M draws is, up to a
/// constant,
///   M sum_c h(n_c) - 2 sum_m sum_ck h(n_mck),
/// so a row that is alone costs nothing, and M gain(n_c) - 2 sum_m gain(n_mck) in cluster c.
///
/// Rows that the draws put into clusters of their own are best left alone, above all under the Rand
/// loss: of 10^6 rows there may be 10^5 such rows, and every step would visit all of them.
/// Therefore a pattern that is alone can be hidden: it has no shares, and it may join a cluster but
/// cannot be joined. While there are few clusters no pattern is hidden.
template <class Loss> class SearchState {
 public:
  /// few: the number of clusters up to which no pattern is hidden.
  SearchState(const Table &table, std::size_t few, Work &work)
      : table_(table),
        few_(few),
        work_(work),
        shares_(table.first.back()) {
    for (std::size_t x = 0; x < small; ++x) gain_.push_back(Loss::gain(double(x), 1));
    start(std::vector<std::uint32_t>(table.rows(), no_cluster));
  }

  const std::vector<std::uint32_t> &clusters() const { return cluster_; }

  /// Sets the partition; `no_cluster`: alone and hidden. Weights other than the table's scale
  /// cluster sizes up to all rows, which is valid only for best() of patterns that are alone.
  void start(const std::vector<std::uint32_t> &clusters) { start(clusters, table_.weight); }
  void start(const std::vector<std::uint32_t> &clusters, const std::vector<std::uint32_t> &weight) {
    std::uint32_t count = 0;
    for (const std::uint32_t c : clusters)
      if (c != no_cluster) count = std::max(count, c + 1);
    for (auto &list : shares_) list.clear();
    size_.assign(count, 0);
    members_.assign(count, 0);
    value_.assign(count, 0);
    free_.clear();
    visible_ = 0;
    cluster_.assign(table_.rows(), no_cluster);
    near_.assign(table_.rows(), 1);
    for (std::size_t p = 0; p < clusters.size(); ++p)
      if (clusters[p] != no_cluster) put(p, clusters[p], weight[p], false);
    for (auto &list : shares_)
      for (Share &s : list) refresh(s);
    for (std::uint32_t c = count; c-- > 0;)
      if (members_[c] == 0) free_.push_back(c);
  }

  /// The best cluster for a pattern; `no_cluster`: to be alone, which is at least as good as a
  /// cluster with which it shares nothing in any draw. The current one wins unless another is
  /// better by more than rounding.
  std::uint32_t best(std::size_t p) {
    return table_.weight[p] == 1 ? choose<true>(p) : choose<false>(p);
  }

  /// The cost of the last result of best(), relative to being alone.
  double cost() const { return cost_; }

  /// Moves hidden patterns, one after the other, to their best clusters; those that stay alone are
  /// visible until the end, so that they can join each other. Returns how many are no longer alone.
  /// Stops when the work budget is spent.
  std::size_t gather(const std::vector<std::uint32_t> &order) {
    std::vector<std::uint32_t> assigned;
    work_.spend(double(order.size()));
    for (const std::uint32_t p : order) {
      if (work_.done()) break;
      if (cluster_[p] != no_cluster) continue;
      assign(p, best(p));
      assigned.push_back(p);
    }
    std::size_t joined = 0;
    for (const std::uint32_t p : assigned) joined += members_[cluster_[p]] > 1;
    if (visible_ > few_)
      for (std::size_t p = 0; p < cluster_.size(); ++p)
        if (cluster_[p] != no_cluster && table_.weight[p] == 1 && members_[cluster_[p]] == 1)
          remove(p);
    return joined;
  }

  /// Moves every pattern in turn to its best cluster; or only those for which the last choice was
  /// close. Returns the number of moves.
  std::size_t sweep(const std::vector<std::uint32_t> &order, bool all) {
    std::size_t moves = 0;
    work_.spend(double(order.size()));
    for (const std::uint32_t p : order) {
      if (!all && !near_[p]) continue;
      if (work_.done()) break;
      const std::uint32_t c = best(p);
      if (c == cluster_[p]) continue;
      if (cluster_[p] != no_cluster) remove(p);
      if (c != no_cluster || visible_ < few_ || table_.weight[p] > 1) assign(p, c);
      ++moves;
    }
    return moves;
  }

  /// Merges the two clusters whose merger gains most, if any gains.
  bool merge() {
    const std::size_t count = size_.size();
    if (count > max_merged) return false;
    std::vector<double> together(count * count);
    for (const auto &list : shares_) {
      work_.spend(Loss::effort * double(list.size() * list.size()));
      for (const Share &a : list)
        for (const Share &b : list)
          if (a.cluster < b.cluster)
            together[a.cluster * count + b.cluster] += Loss::gain(a.rows, b.rows);
    }
    double least = 0;
    std::size_t from = 0, to = 0;
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = a + 1; b < count; ++b) {
        if (!(together[a * count + b] > 0)) continue;
        const double change =
            double(table_.draws) * Loss::gain(size_[a], size_[b]) - 2 * together[a * count + b];
        if (change < least - rounding(std::min(size_[a], size_[b]))) {
          least = change;
          to = a;
          from = b;
        }
      }
    if (from == to) return false;
    for (std::size_t p = 0; p < cluster_.size(); ++p)
      if (cluster_[p] == from) {
        remove(p);
        assign(p, std::uint32_t(to));
      }
    return true;
  }

  /// M times the expected loss over the table's draws, without the loss's scale.
  double loss() const {
    double sum = 0;
    for (std::size_t k = 0; k < shares_.size(); ++k) {
      work_.spend(1 + Loss::effort * double(shares_[k].size()));
      for (const Share &s : shares_[k]) sum += Loss::term(s.rows, size_[s.cluster], table_.size[k]);
    }
    for (std::size_t p = 0; p < cluster_.size(); ++p) {
      if (cluster_[p] != no_cluster) continue;
      const double w = table_.weight[p];
      work_.spend(Loss::effort * double(table_.draws));
      for (std::size_t m = 0; m < table_.draws; ++m)
        sum += Loss::term(w, w, table_.size[table_.first[m] + table_.labels[p * table_.draws + m]]);
    }
    return sum;
  }

 private:
  static constexpr std::size_t small = 8192, max_merged = 1024;

  double rounding(double weight) const { return 1e-9 * double(table_.draws) * weight; }
  double gain(std::uint32_t x) const { return x < small ? gain_[x] : Loss::gain(x, 1); }
  void refresh(Share &s) const {
    s.gain = gain(s.rows);
    s.last_gain = gain(s.rows - 1);
  }

  // Puts a pattern that is in no cluster into one; `no_cluster`: into a new, visible one.
  void assign(std::size_t p, std::uint32_t c) {
    if (c == no_cluster) {
      if (free_.empty()) {
        free_.push_back(std::uint32_t(size_.size()));
        size_.push_back(0);
        members_.push_back(0);
        value_.push_back(0);
      }
      c = free_.back();
      free_.pop_back();
    }
    put(p, c, table_.weight[p], true);
  }

  void put(std::size_t p, std::uint32_t c, std::uint32_t w, bool gains) {
    const std::uint16_t *const label = &table_.labels[p * table_.draws];
    double looked = 0;
    for (std::size_t m = 0; m < table_.draws; ++m) {
      auto &list = shares_[table_.first[m] + label[m]];
      std::size_t i = 0;
      while (i < list.size() && list[i].cluster != c) ++i;
      if (i == list.size()) {
        if (i == list.capacity()) work_.hold(double(std::max<std::size_t>(1, i)) * sizeof(Share));
        list.push_back({c, 0, 0, 0});
      }
      list[i].rows += w;
      if (gains) refresh(list[i]);
      looked += Loss::effort + double(i);
    }
    work_.spend(looked);
    cluster_[p] = c;
    size_[c] += w;
    visible_ += members_[c]++ == 0;
  }

  void remove(std::size_t p) {
    const std::uint32_t c = cluster_[p], w = table_.weight[p];
    const std::uint16_t *const label = &table_.labels[p * table_.draws];
    double looked = 0;
    for (std::size_t m = 0; m < table_.draws; ++m) {
      auto &list = shares_[table_.first[m] + label[m]];
      std::size_t i = 0;
      while (list[i].cluster != c) ++i;
      looked += Loss::effort + double(i);
      list[i].rows -= w;
      if (list[i].rows > 0) {
        refresh(list[i]);
      } else {
        list[i] = list.back();
        list.pop_back();
      }
    }
    work_.spend(looked);
    cluster_[p] = no_cluster;
    size_[c] -= w;
    if (--members_[c] > 0) return;
    free_.push_back(c);
    --visible_;
  }

  template <bool single> std::uint32_t choose(std::size_t p) {
    const std::uint32_t own = cluster_[p], w = table_.weight[p];
    const std::uint16_t *const label = &table_.labels[p * table_.draws];
    touched_.clear();
    double looked = 0;
    for (std::size_t m = 0; m < table_.draws; ++m) {
      const auto &list = shares_[table_.first[m] + label[m]];
      looked += double(list.size());
      for (const Share &s : list) {
        double &value = value_[s.cluster];
        if (value == 0) {
          touched_.push_back(s.cluster);
          value = std::numeric_limits<double>::min();  // nonzero, but lost in any sum
        }
        if constexpr (single)
          value += s.cluster == own ? s.last_gain : s.gain;
        else
          value += Loss::gain(s.cluster == own ? s.rows - w : s.rows, w);
      }
    }
    work_.spend((single ? 1 : Loss::effort) * looked + double(table_.draws));
    const double draws = double(table_.draws);
    std::uint32_t other = no_cluster;
    double stay = 0, least = own == no_cluster || members_[own] == 1
                                 ? std::numeric_limits<double>::infinity()
                                 : 0;
    for (const std::uint32_t c : touched_) {
      const double cost = draws * Loss::gain(c == own ? size_[c] - w : size_[c], w) - 2 * value_[c];
      value_[c] = 0;
      if (c == own) {
        stay = cost;
      } else if (cost < least) {
        least = cost;
        other = c;
      }
    }
    const std::uint32_t measure = other == no_cluster ? own : other;
    near_[p] = measure != no_cluster && least - stay < 0.1 * draws * Loss::gain(size_[measure], w);
    const bool moves = least < stay - rounding(w);
    cost_ = moves ? least : stay;
    return moves ? other : own;
  }

  const Table &table_;
  std::size_t few_;
  Work &work_;
  std::vector<std::vector<Share>> shares_;  // of every cluster of every draw
  std::vector<std::uint32_t> cluster_;      // of each pattern
  std::vector<char> near_;                  // of each pattern: was the last choice close?
  std::vector<double> size_;                // rows of each cluster
  std::vector<std::uint32_t> members_;      // patterns of each cluster
  std::vector<std::uint32_t> free_;         // indices of empty clusters
  double cost_ = 0;
  std::size_t visible_ = 0;    // number of nonempty clusters
  std::vector<double> value_;  // by cluster; zero between calls
  std::vector<std::uint32_t> touched_;
  std::vector<double> gain_;  // of adding a row, for small numbers of rows
};

}  // namespace bayes
