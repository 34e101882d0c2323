// The local step that all learners share: for every row the responsibilities of the components, and
// from them the expected sufficient statistics and the rows' share of the objective, in one pass
// over any number of rows, on any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "data/sweep.hpp"

namespace bayes {

/// What an observation family must give for its rows to be shared out among K components:
/// block-wise log densities and statistics.
template <class F>
concept BlockScorer = requires(const F &scorer, typename F::Worker &worker, const double *block,
                               double *out, const double *r, const std::vector<double> &sums) {
  typename F::Statistics;
  { scorer.components() } -> std::convertible_to<int>;
  { scorer.dimension() } -> std::convertible_to<int>;
  { scorer.operations() } -> std::convertible_to<double>;
  { scorer.raw_size() } -> std::convertible_to<std::size_t>;
  { scorer.statistics(sums, sums) } -> std::same_as<typename F::Statistics>;
  worker.prepare(block);
  worker.score(block, 0, out);
  worker.accumulate(block, 0, r);
  worker.clear();
  worker.reduce(out);
};

/// Sums over rows that come out of a local step beside the statistics.
struct RowSums {
  /// sum of weight x log sum_k exp(log weight_k + score_k); hard: x the largest term
  double objective = 0;
  /// sum of weight x entropy of the responsibilities
  double entropy = 0;
};

/// Which rows a block holds.
struct BlockRows {
  /// number of the first among all rows, from 0
  std::int64_t first;
  /// how many
  int rows;
  /// the same up to a multiple of the vector registers' lanes
  int padded;
};

/// Soft: responsibilities proportional to exp(logit). Hard: all to the largest logit, the first of
/// equal ones (k-means). Others are in data/sampled_allocation.hpp.
struct SoftAllocation {
  /// the allocation looks at the scores
  static constexpr bool scored = true;
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};
struct HardAllocation {
  static constexpr bool scored = true;
  /// if not null: where every row's component, from 0, is noted
  int *labels = nullptr;
  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Turns the logits of one block ([component][block_rows]) into responsibilities times weights, in
/// place; adds them up into counts (K x lanes). weight: block_rows numbers, 0 past the last row.
inline void SoftAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                     double *counts, RowSums &sums) const {
  using namespace simd;
  using simd::Vector;
  Vector objective = {}, entropy = {};
  for (int b = 0; b < block.padded; b += lanes) {
    double *const at = logits + b;
    // finite, so that rows infinitely far from everything are shared equally
    Vector largest = all(-std::numeric_limits<double>::max());
    for (int j = 0; j < k; ++j) largest = max(load(at + j * block_rows), largest);
    Vector total = {}, mean = {};
    for (int j = 0; j < k; ++j) {
      const Vector shifted =
          max(load(at + j * block_rows), all(-std::numeric_limits<double>::max())) - largest;
      const Vector e = exp(shifted);
      total += e;
      // Where e is 0, `shifted` may be huge: the product must not become a NaN.
      mean += e * max(shifted, all(-1000.0));
      store(at + j * block_rows, e);
    }
    const Vector w = load(weight + b), share = w / total, log_total = log(total);
    for (int j = 0; j < k; ++j) {
      const Vector r = load(at + j * block_rows) * share;
      store(at + j * block_rows, r);
      store(counts + j * lanes, load(counts + j * lanes) + r);
    }
    objective += w * (largest + log_total);
    entropy += w * log_total - share * mean;
  }
  sums.objective += sum(objective);
  sums.entropy += sum(entropy);
}

inline void HardAllocation::allocate(int k, BlockRows block, const double *weight, double *logits,
                                     double *counts, RowSums &sums) const {
  for (int b = 0; b < block.padded; ++b) {
    int best = 0;
    for (int j = 1; j < k; ++j)
      if (logits[j * block_rows + b] > logits[best * block_rows + b]) best = j;
    if (labels && b < block.rows) labels[block.first + b] = best;
    // past the last row it may be -infinity
    if (weight[b] > 0) sums.objective += weight[b] * logits[best * block_rows + b];
    for (int j = 0; j < k; ++j) logits[j * block_rows + b] = j == best ? weight[b] : 0;
    counts[best * simd::lanes + b % simd::lanes] += weight[b];
  }
}

/// What a pass over the rows found.
template <class Statistics> struct LocalResult {
  Statistics statistics;
  RowSums sums;
};

namespace detail {

/// What one segment adds up to.
struct LocalPart {
  std::vector<double> counts, raw;
  RowSums sums;
};

/// A thread's own memory for a local step.
template <BlockScorer Scorer, class Allocation> class LocalWorker {
 public:
  LocalWorker(const Scorer &scorer, const std::vector<double> &log_weights,
              const Allocation &allocation)
      : scorer_(scorer),
        log_weights_(log_weights),
        allocation_(allocation),
        worker_(scorer),
        logits_(std::size_t(scorer.components()) * block_rows),
        lane_counts_(std::size_t(scorer.components()) * simd::lanes) {}

  void process(const Segment &segment, const RowShape &shape, const Stop &stop, LocalPart &part) {
    const int k = scorer_.components();
    worker_.clear();
    std::fill(lane_counts_.begin(), lane_counts_.end(), 0.0);
    part.sums = {};
    // Where a block alone is milliseconds of work, the stop is asked for inside it.
    const bool slow = scorer_.operations() * block_rows > 1e7;
    alignas(cache_line) double weight[block_rows];
    for (std::int64_t first = 0; first < segment.rows; first += block_rows) {
      if (stop()) return;
      const double *block =
          segment.blocks + std::size_t(first / block_rows) * shape.block_doubles();
      const int rows = int(std::min<std::int64_t>(block_rows, segment.rows - first));
      std::fill_n(weight, block_rows, 0.0);
      if (shape.weighted)
        std::copy_n(block + std::size_t(shape.dimension) * block_rows, rows, weight);
      else
        std::fill_n(weight, rows, 1.0);
      worker_.prepare(block);
      for (int j = 0; Allocation::scored && j < k; ++j) {
        if (slow && stop()) return;
        double *const out = logits_.data() + std::size_t(j) * block_rows;
        worker_.score(block, j, out);
        const double log_weight = log_weights_[std::size_t(j)];
        for (int b = 0; b < block_rows; ++b) out[b] += log_weight;
      }
      const int full_vectors = (rows + simd::lanes - 1) / simd::lanes * simd::lanes;
      allocation_.allocate(k, {segment.first + first, rows, full_vectors}, weight, logits_.data(),
                           lane_counts_.data(), part.sums);
      for (int j = 0; j < k; ++j) {
        double *const r = logits_.data() + std::size_t(j) * block_rows;
        std::fill(r + full_vectors, r + block_rows, 0.0);
        if (slow && stop()) return;
        worker_.accumulate(block, j, r);
      }
    }
    part.counts.resize(std::size_t(k));
    for (int j = 0; j < k; ++j)
      part.counts[std::size_t(j)] =
          simd::sum(simd::load(lane_counts_.data() + std::size_t(j) * simd::lanes));
    part.raw.assign(scorer_.raw_size(), 0.0);
    worker_.reduce(part.raw.data());
  }

 private:
  const Scorer &scorer_;
  const std::vector<double> &log_weights_;
  const Allocation &allocation_;
  typename Scorer::Worker worker_;
  Buffer logits_, lane_counts_;
};

}  // namespace detail

/// One pass: log_weights has K entries (-infinity for a component of weight 0).
template <class Allocation, BlockScorer Scorer>
LocalResult<typename Scorer::Statistics> local_step(RowSource &rows, Control &control,
                                                    const Scorer &scorer,
                                                    const std::vector<double> &log_weights,
                                                    const Allocation &allocation = {}) {
  Sweep sweep(rows, control);
  const SweepPlan plan =
      sweep.plan(scorer.operations() + 40.0 * scorer.components(), 8 * scorer.raw_size());
  std::vector<std::unique_ptr<detail::LocalWorker<Scorer, Allocation>>> workers;
  for (int t = 0; t < plan.threads; ++t)
    workers.push_back(
        std::make_unique<detail::LocalWorker<Scorer, Allocation>>(scorer, log_weights, allocation));
  std::vector<detail::LocalPart> parts(static_cast<std::size_t>(plan.slots));
  std::vector<double> counts(std::size_t(scorer.components())), raw(scorer.raw_size());
  RowSums sums;
  const RowShape shape = rows.shape();
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        workers[std::size_t(worker)]->process(segment, shape, stop, parts[std::size_t(slot)]);
      },
      [&](int slot) {
        const detail::LocalPart &part = parts[std::size_t(slot)];
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += part.counts[i];
        for (std::size_t i = 0; i < raw.size(); ++i) raw[i] += part.raw[i];
        sums.objective += part.sums.objective;
        sums.entropy += part.sums.entropy;
      });
  return {scorer.statistics(counts, raw), sums};
}

}  // namespace bayes
