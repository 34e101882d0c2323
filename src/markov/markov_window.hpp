// A window on sequences: some blocks of steps scored under all states, with workspace for the
// recursions over them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "data/sequences.hpp"
#include "markov/emission_scorer.hpp"
#include "markov/forward_backward.hpp"

namespace bayes {

/// The largest number of blocks in a window: small enough for the second-level cache, large enough
/// that scoring the blocks at both ends twice costs little. The same for every instruction set,
/// whose paddings differ by less than 8 states.
inline std::int64_t window_blocks(int padded) {
  constexpr std::int64_t bytes = 768 * 1024;
  const std::int64_t states = (padded + 7) / 8 * 8;
  return std::max<std::int64_t>(8, bytes / (3 * 8 * block_rows * states));
}

/// Access to blocks: block(index) returns the memory of a source's block, which stays valid until
/// `window_blocks` others have been requested.
using BlockReader = std::function<const double *(std::int64_t index)>;

/// Reads blocks of any source into its own memory, on the main thread.
class BlockCache {
 public:
  BlockCache(RowSource &rows, std::int64_t blocks)
      : rows_(rows),
        blocks_(blocks),
        doubles_(rows.shape().block_doubles()) {}
  const double *operator()(std::int64_t index) {
    const std::size_t at = std::size_t(index % blocks_) * doubles_;
    if (memory_.size() < at + doubles_)
      memory_.resize(std::size_t(std::min(blocks_, index + 1)) * doubles_);
    if (held_.size() < std::size_t(blocks_)) held_.assign(std::size_t(blocks_), -1);
    std::int64_t &held = held_[std::size_t(index % blocks_)];
    if (held != index) rows_.read_block(index, memory_.data() + at);
    held = index;
    return memory_.data() + at;
  }

 private:
  RowSource &rows_;
  std::int64_t blocks_;
  std::size_t doubles_;
  Buffer memory_;
  std::vector<std::int64_t> held_;
};

class BAYES_API MarkovWindow {
 public:
  /// The recursions to allocate workspace for, in addition to the scores.
  enum class Workspace { scores, forward, backward };
  /// For windows of up to `steps` steps.
  MarkovWindow(const MarkovChain &chain, const EmissionScorer &scorer, const Sequences &sequences,
               std::int64_t steps, Workspace workspace = Workspace::backward);

  /// Switches to the emissions of another point with the same number of states and kind of values.
  void use(const EmissionScorer &scorer);

  /// The row of the sequences at which the source of blocks begins.
  void set_origin(std::int64_t row) { origin_ = row; }
  /// Scores rows [first, first + n) of a source, n <= steps. Their likelihoods are scaled.
  void load(const BlockReader &block, std::int64_t first, std::int64_t n);
  /// Replaces the scaled likelihoods of steps [begin, end) of the window by logarithms of the
  /// scores.
  void load_logarithms(std::int64_t begin, std::int64_t end);
  void load_logarithms(const BlockReader &block, std::int64_t first, std::int64_t n);

  /// Steps [begin, end) of the window.
  ChainSteps steps(std::int64_t begin, std::int64_t end);
  /// as stored: negative where a sequence begins, 0 for padding
  double weight(std::int64_t step) const { return weight_[std::size_t(step)]; }
  double *backward(std::int64_t step) { return backward_.data() + step * padded_; }

  /// Adds the posterior probabilities, which have replaced the backward variables, to the
  /// emissions' statistics.
  void accumulate();
  EmissionWorker &emissions() { return *worker_; }

 private:
  void score(std::int64_t begin, std::int64_t end, bool logarithms);
  void look_up(const double *x, std::int64_t step, int n, bool logarithms);
  int k_, padded_, dimension_;
  bool labelled_;
  std::unique_ptr<EmissionWorker> worker_;
  const EmissionTable *table_;  // nullptr: scores are computed
  const BlockReader *block_ = nullptr;
  std::int64_t origin_ = 0, first_ = 0, n_ = 0;
  Buffer scores_, emission_, shift_, forward_, backward_, scale_;
  std::vector<double> weight_;
};

}  // namespace bayes
