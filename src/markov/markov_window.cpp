#include "markov/markov_window.hpp"

#include <cmath>

#include "base/simd.hpp"

namespace bayes {

using simd::lanes;

MarkovWindow::MarkovWindow(const MarkovChain &chain, const EmissionScorer &scorer,
                           const Sequences &sequences, std::int64_t steps, Workspace workspace)
    : k_(chain.states()),
      padded_(chain.padded()),
      dimension_(sequences.dimension),
      labelled_(sequences.labelled),
      worker_(scorer.worker()),
      table_(sequences.labelled ? nullptr : scorer.table()),
      scores_(table_ ? 0 : std::size_t(k_) * block_rows),
      emission_(std::size_t(steps * padded_)),
      shift_(std::size_t(steps)),
      forward_(workspace == Workspace::scores ? 0 : std::size_t((steps + 1) * padded_)),
      backward_(workspace == Workspace::backward ? std::size_t(steps * padded_) : 0),
      scale_(std::size_t(steps + 1)),
      weight_(std::size_t(steps)) {}

void MarkovWindow::use(const EmissionScorer &scorer) {
  worker_ = scorer.worker();
  table_ = labelled_ ? nullptr : scorer.table();
}

ChainSteps MarkovWindow::steps(std::int64_t begin, std::int64_t end) {
  return {end - begin,
          emission_.data() + begin * padded_,
          shift_.data() + begin,
          forward_.data() + (begin + 1) * padded_,
          backward_.data() + begin * padded_,
          scale_.data() + begin + 1};
}

void MarkovWindow::load(const BlockReader &block, std::int64_t first, std::int64_t n) {
  block_ = &block;
  first_ = first;
  n_ = n;
  score(0, n, false);
}

void MarkovWindow::load_logarithms(const BlockReader &block, std::int64_t first, std::int64_t n) {
  block_ = &block;
  first_ = first;
  n_ = n;
  score(0, n, true);
}

void MarkovWindow::load_logarithms(std::int64_t begin, std::int64_t end) {
  score(begin, end, true);
}

/// Steps [step, step + n) of the window, whose observations are x, from the table.
void MarkovWindow::look_up(const double *x, std::int64_t step, int n, bool logarithms) {
  const double *const from = (logarithms ? table_->logarithms : table_->likelihoods).data();
  double *to = emission_.data() + step * padded_;
  for (int b = 0; b < n; ++b, to += padded_) {
    const std::int64_t value = x[b] == x[b] ? std::int64_t(x[b]) : table_->values;
    for (int j = 0; j < padded_; j += lanes)
      simd::store(to + j, simd::load(from + value * padded_ + j));
    shift_[std::size_t(step + b)] = table_->shifts[std::size_t(value)];
  }
}

void MarkovWindow::score(std::int64_t begin, std::int64_t end, bool logarithms) {
  const std::size_t weights = std::size_t(dimension_ + labelled_) * block_rows,
                    labels = std::size_t(dimension_) * block_rows;
  for (std::int64_t t = begin; t < end;) {
    const std::int64_t row = first_ + t, index = row / block_rows;
    const int from = int(row % block_rows),
              to = int(std::min<std::int64_t>(block_rows, from + end - t));
    const double *const block = (*block_)(index);
    std::copy(block + weights + from, block + weights + to, weight_.begin() + t);
    if (table_) {
      look_up(block + from, t, to - from, logarithms);
      t += to - from;
      continue;
    }
    worker_->score(block, from, to, scores_.data());
    if (labelled_)
      for (int b = from; b < to; ++b)
        if (const int label = int(block[labels + std::size_t(b)]); label > 0)
          for (int k = 0; k < k_; ++k)
            if (k != label - 1)
              scores_[std::size_t(k) * block_rows + std::size_t(b)] = minus_infinity;
    double *const out = emission_.data() + t * padded_;
    if (!logarithms) {
      // Rows in the lanes; values past the last row are arbitrary.
      for (int b = from / lanes * lanes; b < to; b += lanes) {
        simd::Vector largest = simd::all(-std::numeric_limits<double>::max());
        for (int k = 0; k < k_; ++k)
          largest = simd::max(simd::load(scores_.data() + k * block_rows + b), largest);
        for (int k = 0; k < k_; ++k) {
          double *const at = scores_.data() + k * block_rows + b;
          simd::store(at, simd::exp(simd::max(simd::load(at),
                                              simd::all(-std::numeric_limits<double>::max())) -
                                    largest));
        }
        for (int lane = 0; lane < lanes; ++lane)
          if (b + lane >= from && b + lane < to)
            shift_[std::size_t(t + b + lane - from)] =
                largest[lane] > -std::numeric_limits<double>::max() ? largest[lane]
                                                                    : minus_infinity;
      }
    }
    for (int b = from; b < to; ++b) {
      double *const step = out + std::int64_t(b - from) * padded_;
      for (int k = 0; k < k_; ++k) step[k] = scores_[std::size_t(k) * block_rows + std::size_t(b)];
      for (int k = k_; k < padded_; ++k) step[k] = logarithms ? minus_infinity : 0;
    }
    t += to - from;
  }
}

void MarkovWindow::accumulate() {
  for (std::int64_t t = 0; t < n_;) {
    const std::int64_t row = first_ + t, index = row / block_rows;
    const int from = int(row % block_rows),
              to = int(std::min<std::int64_t>(block_rows, from + n_ - t));
    if (table_) {
      const double *const x = (*block_)(index);
      double *const sums = worker_->table_sums();
      for (int b = from; b < to; ++b) {
        const double *const step = backward_.data() + (t + b - from) * padded_;
        double *const sum = sums + (x[b] == x[b] ? std::int64_t(x[b]) : table_->values) * padded_;
        for (int j = 0; j < padded_; j += lanes)
          simd::store(sum + j, simd::load(sum + j) + simd::load(step + j));
      }
      t += to - from;
      continue;
    }
    if (from > 0 || to < block_rows) std::fill(scores_.begin(), scores_.end(), 0.0);
    for (int b = from; b < to; ++b) {
      const double *const step = backward_.data() + (t + b - from) * padded_;
      for (int k = 0; k < k_; ++k) scores_[std::size_t(k) * block_rows + std::size_t(b)] = step[k];
    }
    worker_->accumulate((*block_)(index), origin_ + index * block_rows, scores_.data());
    t += to - from;
  }
}

}  // namespace bayes
