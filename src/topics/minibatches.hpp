// Minibatches of consecutive documents, read stretch by stretch, and what is done with one on all
// threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "data/corpus.hpp"

namespace bayes {

struct Minibatch {
  /// parts of it, so many that threads have enough to do
  std::vector<CorpusPiece> pieces;
  /// of each document its index among all; it may be there twice, where one pass ends and the next
  /// begins
  std::vector<std::int64_t> documents;
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

/// Calls visit(worker, document, index in the minibatch, here) for every document of a minibatch,
/// on all threads, and adds to `all` what it adds to `here`, bit-identical for any number of them.
/// `slots`: memory, plan.slots sums with clear(); S has merge(S &), which may take what the other
/// has.
template <class S, class Visit>
void minibatch_pass(const Minibatch &batch, const SweepPlan &plan, std::vector<S> &slots, S &all,
                    Control &control, Visit visit) {
  run_in_order(
      batch.pieces.size(), plan, control,
      [&](int worker, int slot, std::size_t task, const Stop &stop) {
        S &here = slots[std::size_t(slot)];
        here.clear();
        each_document(batch.pieces[task], [&](std::int64_t index, const DocumentTerms &document) {
          if (stop()) return false;
          visit(worker, document, index, here);
          return true;
        });
      },
      [&](int slot) { all.merge(slots[std::size_t(slot)]); });
}

}  // namespace bayes
