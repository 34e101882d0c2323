// A pass over documents that keeps numbers of each from pass to pass.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "data/corpus.hpp"

namespace bayes {

/// Calls visit(worker, document, index, numbers, here) for every document, on all threads, and
/// returns the sum of what it adds to `here`, bit-identical for any number of them.
///
/// `numbers`: `each` of every document, those of the last pass, which `visit` replaces; if `kept`
/// is empty they are undefined and forgotten. They change only once a piece is done, as it may be
/// abandoned and done again. S is copied from `empty` and has clear() and merge(S &), which may
/// take what the other has.
template <class S, class Visit>
S document_pass(Corpus &corpus, SweepPlan plan, const S &empty, std::size_t each, Buffer &kept,
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
        Slot &here = slots[std::size_t(slot)];
        here.sums.clear();
        here.first = piece.first;
        here.numbers.resize(std::size_t(kept.empty() ? 1 : piece.documents) * each);
        if (!kept.empty())
          std::copy_n(kept.data() + std::size_t(piece.first) * each, here.numbers.size(),
                      here.numbers.data());
        each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
          if (stop()) return false;
          double *const numbers =
              here.numbers.data() + (kept.empty() ? 0 : std::size_t(index - piece.first) * each);
          visit(worker, document, index, numbers, here.sums);
          return true;
        });
      },
      [&](int slot) {
        Slot &here = slots[std::size_t(slot)];
        if (!kept.empty())
          std::copy(here.numbers.begin(), here.numbers.end(),
                    kept.data() + std::size_t(here.first) * each);
        all.merge(here.sums);
      });
  return all;
}

}  // namespace bayes
