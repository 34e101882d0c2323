// Passes over documents, and over the rows of a table, on all threads; minibatches of consecutive
// documents, read stretch by stretch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "counts/padded_table.hpp"
#include "data/corpus.hpp"
#include "data/sweep.hpp"

namespace bayes {

// Minibatches of consecutive documents, read stretch by stretch, and parallel passes over one.

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

/// Calls visit(worker, document, index, numbers, sums) for every document, on all threads, and
/// returns the total of `sums`, bit-identical for any number of threads.
///
/// `numbers`: `width` numbers of the document from the last pass, which `visit` replaces. They are
/// committed to `kept` piece by piece, since an interrupted piece is repeated. If `kept` is empty,
/// they are undefined and not kept. S: copyable from `empty`, clear(), and add(S &), which may move
/// from its argument.
template <class S, class Visit>
S document_pass(Corpus &corpus, SweepPlan plan, const S &empty, std::size_t width, Buffer &kept,
                Control &control, Visit visit) {
  struct Slot {
    S sums;
    Buffer numbers;
    std::int64_t first = 0;
  };
  S all = empty;
  std::vector<Slot> slots(std::size_t(plan.slots), Slot{empty, {}, 0});
  sweep_corpus(
      corpus, plan, control,
      [&](int worker, int slot, const CorpusPiece &piece, const Stop &stop) {
        Slot &current = slots[std::size_t(slot)];
        current.sums.clear();
        current.first = piece.first;
        current.numbers.resize(std::size_t(kept.empty() ? 1 : piece.documents) * width);
        if (!kept.empty())
          std::copy_n(kept.data() + std::size_t(piece.first) * width, current.numbers.size(),
                      current.numbers.data());
        each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
          if (stop()) return false;
          double *const numbers = current.numbers.data() +
                                  (kept.empty() ? 0 : std::size_t(index - piece.first) * width);
          visit(worker, document, index, numbers, current.sums);
          return true;
        });
      },
      [&](int slot) {
        Slot &current = slots[std::size_t(slot)];
        if (!kept.empty())
          std::copy(current.numbers.begin(), current.numbers.end(),
                    kept.data() + std::size_t(current.first) * width);
        all.add(current.sums);
      });
  return all;
}

/// Calls f(first, last, slot) for chunks of the rows of a table, on all threads, and merge(slot) in
/// their order. f polls. `operations`: for one row.
template <class F, class M>
void each_row_chunk(std::int32_t rows, double operations, Control &control, F f, M merge) {
  constexpr std::int32_t chunk = 512;
  const std::size_t tasks = std::size_t((rows + chunk - 1) / chunk);
  const SweepPlan plan = plan_tasks(operations * rows, 4096, control);
  run_in_order(
      tasks, plan, control,
      [&](int, int slot, std::size_t task, const Stop &) {
        const std::int32_t first = std::int32_t(task) * chunk;
        f(first, std::min(first + chunk, rows), slot);
      },
      merge);
}

/// The largest number of slots that each_row_chunk uses.
inline int max_slots(const Control &control) { return 4 * std::max(1, control.threads); }

/// Operations of a local step for one entry of a document.
inline double operations_per_entry(int components) { return 20.0 * padded_size(components); }

/// Does a piece contain most of the terms? Then AllocationSums have rows for all terms.
inline bool sums_for_all_terms(const CorpusTotals &totals) {
  return 4 * std::int64_t(totals.vocabulary) <=
         std::min(totals.entries, piece_entries(totals.vocabulary));
}

/// The plan of a pass over documents that adds up AllocationSums.
inline SweepPlan plan_document_pass(const CorpusTotals &totals, int components,
                                    const Control &control) {
  const double v = totals.vocabulary,
               rows = std::min(v, double(piece_entries(totals.vocabulary) + totals.most_entries));
  return plan_tasks(operations_per_entry(components) * double(totals.entries),
                    std::size_t(8 * rows * padded_size(components) + 4 * v), control);
}

/// The sum of every column: stride() numbers.
inline Buffer column_sums(const PaddedMatrix &table, Control &control) {
  const std::size_t stride = std::size_t(table.stride());
  std::vector<Buffer> slots(std::size_t(max_slots(control)), Buffer(stride));
  Buffer out(stride, 0.0);
  each_row_chunk(
      table.rows(), 2.0 * double(stride), control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        Buffer &sums = slots[std::size_t(slot)];
        std::fill(sums.begin(), sums.end(), 0.0);
        WorkPoll poll;
        for (std::int32_t w = first; w < last; ++w) {
          for (std::size_t k = 0; k < stride; ++k) sums[k] += table.row(w)[k];
          poll(stride);
        }
      },
      [&](int slot) {
        for (std::size_t k = 0; k < stride; ++k) out[k] += slots[std::size_t(slot)][k];
      });
  return out;
}

}  // namespace bayes
