// The samplers of partitions: templates over the family of rows, and their instances, which are
// compiled once.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "base/simd.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/product/product.hpp"
#include "fit/learners.hpp"
#include "partition/sampler.hpp"
#include "partition/split_merge.hpp"
#include "partition/statistics_of_labels.hpp"

namespace bayes {

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
