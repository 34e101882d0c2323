#include "data/shared_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/aligned.hpp"
#include "base/simd.hpp"

namespace bayes {
namespace {

/// Smaller responsibilities are treated as 0.
constexpr double min_share = 1e-6;

/// Responsibilities of the rows of a block, as (component, share) for each row.
class Shares {
 public:
  Shares(const BlockScorer &scorer, const std::vector<double> &log_weights, bool incomplete)
      : scorer_(scorer),
        log_weights_(log_weights),
        worker_(scorer.worker()),
        logits_(std::size_t(scorer.components()) * block_rows),
        counts_(std::size_t(scorer.components()) * simd::sum_lanes),
        of_row_(block_rows) {
    worker_->incomplete = incomplete;
  }

  void look(const double *block, BlockRows at, Control &control) {
    const int k = scorer_.components();
    alignas(cache_line) double weight[block_rows];
    std::fill_n(weight, block_rows, 1.0);
    worker_->prepare(block);
    worker_->weigh(weight);
    for (int j = 0; j < k; ++j) {
      control.poll();
      double *const out = logits_.data() + std::size_t(j) * block_rows;
      worker_->score(block, j, out);
      for (int b = 0; b < block_rows; ++b) out[b] += log_weights_[std::size_t(j)];
    }
    RowSums sums;
    std::fill(counts_.begin(), counts_.end(), 0.0);
    SoftAllocation().allocate(k, at, weight, logits_.data(), counts_.data(), sums);
    for (int b = 0; b < at.rows; ++b) {
      auto &shares = of_row_[std::size_t(b)];
      shares.clear();
      for (int j = 0; j < k; ++j)
        if (const double share = logits_[std::size_t(j) * block_rows + std::size_t(b)];
            share > min_share)
          shares.emplace_back(j, share);
    }
  }
  const std::vector<std::pair<int, double>> &of(int row) const { return of_row_[std::size_t(row)]; }

 private:
  const BlockScorer &scorer_;
  const std::vector<double> &log_weights_;
  std::unique_ptr<BlockWorker> worker_;
  Buffer logits_, counts_;
  std::vector<std::vector<std::pair<int, double>>> of_row_;
};

}  // namespace

std::vector<double> shared_rows(RowSource &rows, Control &control, const BlockScorer &one,
                                const std::vector<double> &log_weights_of_one,
                                const BlockScorer &other,
                                const std::vector<double> &log_weights_of_other) {
  constexpr std::int64_t max_blocks = 80;
  const RowShape shape = rows.shape();
  const std::size_t k = std::size_t(one.components());
  Shares first(one, log_weights_of_one, rows.incomplete()),
      second(other, log_weights_of_other, rows.incomplete());
  std::vector<double> out(k * k, 0.0);
  Buffer block(shape.block_doubles());
  const std::int64_t blocks = (rows.rows() + block_rows - 1) / block_rows,
                     step = (blocks + max_blocks - 1) / max_blocks;
  for (std::int64_t index = 0; index < blocks; index += step) {
    rows.read_block(index, block.data());
    const int size = int(std::min<std::int64_t>(block_rows, rows.rows() - index * block_rows));
    const BlockRows at{index * block_rows, size, block_rows};
    first.look(block.data(), at, control);
    second.look(block.data(), at, control);
    const double *const weight = block.data() + std::size_t(shape.dimension) * block_rows;
    for (int b = 0; b < size; ++b)
      for (const auto &[i, r] : first.of(b))
        for (const auto &[j, s] : second.of(b))
          out[std::size_t(i) * k + std::size_t(j)] += (shape.weighted ? weight[b] : 1) * r * s;
  }
  return out;
}

}  // namespace bayes
