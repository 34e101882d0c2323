// Minibatches of consecutive documents, read stretch by stretch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "data/corpus.hpp"

namespace bayes {

struct Minibatch {
  /// parts of it, so many that threads have enough to do
  std::vector<CorpusPiece> pieces;
  /// its distinct terms
  std::vector<std::int32_t> terms;
  std::int64_t entries = 0;
};

/// Passes over a corpus, each from another document on, cut into minibatches. The order of
/// documents is the caller's affair: those of a minibatch are neighbours.
class Minibatches {
 public:
  /// `size`: documents of a minibatch, fewer than the corpus has; `random` names where passes begin
  Minibatches(Corpus &corpus, std::int64_t size, Random random);

  /// Valid until the next call. Main thread only; may throw.
  const Minibatch &next();

 private:
  void begin_pass();
  /// the next document, from the first again after the last
  const double *document();
  void enter(std::int64_t stretch);

  Corpus &corpus_;
  const std::int64_t size_;
  Random random_;
  std::int64_t stretch_ = 0;
  std::span<const CorpusPiece> pieces_;
  std::size_t piece_ = 0;
  std::int64_t in_piece_ = 0;  // documents of the piece that were read
  const double *at_ = nullptr;
  std::int64_t left_ = 0;  // documents of the pass
  Minibatch batch_;
  Buffer data_;
  std::vector<std::int32_t> stamps_;
  std::int32_t stamp_ = 0;
};

}  // namespace bayes
