// Collapsed Gibbs sampling of a mixture's partition, one row at a time, parameters and weights
// integrated out (003; 002 L10; Neal 2000, algorithm 3), with split and merge moves between the
// sweeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "base/simd.hpp"
#include "partition/sampler.hpp"
#include "partition/split_merge.hpp"

namespace bayes {

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

}  // namespace bayes
