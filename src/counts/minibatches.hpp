// Minibatches of consecutive documents, read stretch by stretch, and parallel passes over one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "data/corpus.hpp"

namespace bayes {

struct Minibatch {
  /// its documents in pieces, as tasks of the threads
  std::vector<CorpusPiece> pieces;
  /// the index of each document in the corpus; a document may occur twice, where one pass ends and
  /// the next begins
  std::vector<std::int64_t> documents;
  /// the distinct terms of all its documents
  std::vector<std::int32_t> terms;
  std::int64_t entries = 0;
};

/// Passes over a corpus, each beginning at a random document, divided into minibatches of
/// neighbouring documents. The caller must provide the documents in random order.
class Minibatches {
 public:
  /// `size`: number of documents of a minibatch, less than that of the corpus
  Minibatches(Corpus &corpus, std::int64_t size, Random random);

  /// Valid until the next call. Main thread only; may throw.
  const Minibatch &next();
  /// Writes or reads the position among the documents.
  void exchange(StateNumbers &numbers);

 private:
  void begin_pass();
  /// the next packed document; the first follows the last
  const double *next_document();
  /// the next packed document of the sequence of passes
  const double *draw();
  void open_stretch(std::int64_t stretch);

  Corpus &corpus_;
  const std::int64_t size_;
  Random random_;
  std::int64_t stretch_ = 0;
  std::span<const CorpusPiece> pieces_;
  std::size_t piece_ = 0;
  std::int64_t in_piece_ = 0;  // documents of the piece that have been read
  const double *at_ = nullptr;
  std::int64_t left_ = 0;  // documents that remain in the pass
  std::int64_t drawn_ = 0;
  Minibatch batch_;
  Buffer data_;
  std::vector<std::int32_t> stamps_;
  std::int32_t stamp_ = 0;
};

/// Calls f(term) for the terms of a minibatch, on all threads.
template <class F>
void each_term(const Minibatch &batch, const SweepPlan &plan, Control &control, F f) {
  constexpr std::size_t chunk = 64;
  run_in_order((batch.terms.size() + chunk - 1) / chunk, plan, control,
               [&](int, int, std::size_t task, const Stop &) {
                 poll_here();
                 const std::size_t last = std::min(batch.terms.size(), (task + 1) * chunk);
                 for (std::size_t i = task * chunk; i < last; ++i) f(batch.terms[i]);
               },
               [](int) {});
}

/// Calls visit(worker, document, index in the minibatch, sums) for every document of a minibatch,
/// on all threads, and merges `sums` into `all`, bit-identical for any number of threads. `slots`:
/// workspace of plan.slots sums. S: clear() and merge(S &), which may move from its argument.
template <class S, class Visit>
void minibatch_pass(const Minibatch &batch, const SweepPlan &plan, std::vector<S> &slots, S &all,
                    Control &control, Visit visit) {
  run_in_order(
      batch.pieces.size(), plan, control,
      [&](int worker, int slot, std::size_t task, const Stop &stop) {
        S &sums = slots[std::size_t(slot)];
        sums.clear();
        each_document(batch.pieces[task], [&](std::int64_t index, const DocumentTerms &document) {
          if (stop()) return false;
          visit(worker, document, index, sums);
          return true;
        });
      },
      [&](int slot) { all.add(slots[std::size_t(slot)]); });
}

}  // namespace bayes
