#include "data/corpus.hpp"

#include <cmath>
#include <cstring>

namespace bayes {

void pack_document(const DocumentTerms &document, double *to) {
  const std::size_t n = document.size(), weights = document.weights.size();
  to[0] = weights ? -double(n) : double(n);
  if (n == 0) return;
  std::memcpy(to + 1, document.counts.data(), n * sizeof(double));
  if (weights) std::memcpy(to + 1 + n, document.weights.data(), n * sizeof(double));
  to[packed_doubles(document) - 1] = 0;  // the unused half, if the number of terms is odd
  std::memcpy(to + 1 + n + weights, document.terms.data(), n * sizeof(std::int32_t));
}

void CorpusTotals::add(const DocumentTerms &document) {
  const double in_document = document.tokens();
  ++documents;
  entries += std::int64_t(document.size());
  tokens += in_document;
  most_entries = std::max(most_entries, std::int64_t(document.size()));
  most_tokens = std::max(most_tokens, in_document);
  for (const double count : document.counts) whole = whole && count == std::floor(count);
}

std::int64_t Corpus::stretch_of(std::int64_t document) {
  for (std::int64_t index = 0;; ++index) {
    const std::span<const CorpusPiece> pieces = stretch(index);
    if (!pieces.empty() && document < pieces.back().first + pieces.back().documents) return index;
  }
}

void MemoryCorpus::append(const DocumentTerms &document) {
  const std::size_t doubles = packed_doubles(document);
  if (used_ + doubles > data_.size())
    data_.resize(std::max(used_ + doubles, data_.size() + data_.size() / 2));
  if (extents_.empty() || extents_.back().entries >= piece_entries(totals_.vocabulary))
    extents_.push_back({used_, 0, totals_.documents, 0});
  pack_document(document, data_.data() + used_);
  used_ += doubles;
  ++extents_.back().documents;
  extents_.back().entries += std::int64_t(document.size());
  totals_.add(document);
}

void MemoryCorpus::append_first(Corpus &from, std::int64_t entries, Control &control) {
  for (std::int64_t s = 0; s < from.stretches() && totals_.entries < entries; ++s)
    for (const CorpusPiece &piece : from.stretch(s)) {
      control.poll();
      each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
        append(document);
        return totals_.entries < entries;
      });
      if (totals_.entries >= entries) return;
    }
}

std::span<const CorpusPiece> MemoryCorpus::stretch(std::int64_t) {
  pieces_.clear();
  for (const Extent &extent : extents_)
    pieces_.push_back({data_.data() + extent.begin, extent.documents, extent.first});
  return pieces_;
}

void MemoryCorpus::clear() {
  const std::int32_t vocabulary = totals_.vocabulary;
  totals_ = {};
  totals_.vocabulary = vocabulary;
  used_ = 0;
  extents_.clear();
}

void sweep_corpus(Corpus &corpus, SweepPlan plan, Control &control,
                  const std::function<void(int worker, int slot, const CorpusPiece &piece,
                                           const Stop &stop)> &process,
                  const std::function<void(int slot)> &merge) {
  if (corpus.stretches() == 0) return;
  std::span<const CorpusPiece> pieces = corpus.stretch(0), following;
  for (std::int64_t index = 0; index < corpus.stretches(); ++index) {
    const bool more = index + 1 < corpus.stretches();
    run_in_order(
        pieces.size(), plan, control,
        [&](int worker, int slot, std::size_t task, const Stop &stop) {
          process(worker, slot, pieces[task], stop);
        },
        merge,
        [&] {
          if (more) following = corpus.stretch(index + 1);
        });
    pieces = following;
  }
}

}  // namespace bayes
