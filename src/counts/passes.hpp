// Passes over documents, and over the rows of a table, on all threads.
#pragma once

#include <algorithm>
#include <vector>

#include "base/control.hpp"
#include "counts/padded_table.hpp"
#include "data/corpus.hpp"
#include "data/sweep.hpp"

namespace bayes {

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
