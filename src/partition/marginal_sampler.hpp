// Marginal Gibbs sampling of a Dirichlet process mixture: weights integrated out, the clusters'
// parameters sampled (000; 002 L10; Neal 2000, algorithm 2).
//
// A row chooses an occupied cluster in proportion to n_k f(x | theta_k), or a new one in proportion
// to alpha times the marginal density of x, whose theta is then drawn given x. Between sweeps all
// parameters are drawn given their rows. As they are fixed during a sweep, rows are scored block by
// block.
#pragma once

#include <memory>

#include "partition/sampled_clusters.hpp"

namespace bayes {

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

}  // namespace bayes
