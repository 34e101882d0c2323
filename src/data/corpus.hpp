// Documents, the data of topic models and factorizations: packed one after another, read many
// times, in total possibly larger than memory.
//
// A document consists of its distinct terms, ascending, and their counts. Documents are divided
// into pieces that depend on the documents alone, so that results do not depend on whether pieces
// are in memory or read back from a file, nor on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/api.hpp"
#include "base/control.hpp"
#include "data/sweep.hpp"

namespace bayes {

class RemoteCorpus;

/// The distinct terms of a document, ascending, and their counts > 0.
struct DocumentTerms {
  std::span<const std::int32_t> terms;
  std::span<const double> counts;
  /// of the cells of a table that has weights, > 0; empty: all are 1
  std::span<const double> weights = {};

  std::size_t size() const { return terms.size(); }
  /// the sum of the counts, in order
  double tokens() const {
    double sum = 0;
    for (const double count : counts) sum += count;
    return sum;
  }
};

/// Whole documents in memory, packed by pack_document.
struct CorpusPiece {
  const double *data;
  std::int64_t documents;
  /// index of its first document in the corpus
  std::int64_t first;
};

/// Packed size in doubles of a document with this number of distinct terms: the number of terms
/// (negative if there are weights), the counts, the weights, and the terms, two in a double.
inline std::size_t packed_doubles(std::size_t terms, bool weighted = false) {
  return 1 + (weighted ? 2 : 1) * terms + (terms + 1) / 2;
}
inline std::size_t packed_doubles(const DocumentTerms &document) {
  return packed_doubles(document.size(), !document.weights.empty());
}
BAYES_API void pack_document(const DocumentTerms &document, double *to);

/// Calls f(index, document) for the documents of a piece, until it returns false.
template <class F> void each_document(const CorpusPiece &piece, F f) {
  const double *at = piece.data;
  for (std::int64_t i = 0; i < piece.documents; ++i) {
    const bool weighted = at[0] < 0;
    const std::size_t n = std::size_t(weighted ? -at[0] : at[0]), weights = weighted ? n : 0;
    const auto *const terms = reinterpret_cast<const std::int32_t *>(at + 1 + n + weights);
    if (!f(piece.first + i, DocumentTerms{{terms, n}, {at + 1, n}, {at + 1 + n, weights}})) return;
    at += packed_doubles(n, weighted);
  }
}

/// Totals over all documents.
struct CorpusTotals {
  std::int64_t documents = 0;
  /// documents that were skipped (NULL)
  std::int64_t skipped = 0;
  /// V, the size of the vocabulary
  std::int32_t vocabulary = 0;
  /// number of distinct terms, summed over the documents
  std::int64_t entries = 0;
  /// the sum of all counts
  double tokens = 0;
  /// largest number of distinct terms of a document, and largest number of its tokens
  std::int64_t most_entries = 0;
  double most_tokens = 0;
  /// all counts are whole numbers
  bool whole = true;

  BAYES_API void add(const DocumentTerms &document);
};

/// Size of a piece in entries (distinct terms of documents). Partial sums are as large as the
/// vocabulary, so a piece must have many more entries for their addition to cost little.
inline std::int64_t piece_entries(std::int32_t vocabulary) {
  return std::clamp<std::int64_t>(8 * std::int64_t(vocabulary), 4096, 131072);
}

/// A rewindable collection of documents.
///
/// Pieces are handed out in stretches, the units that are in memory at one time. A stretch stays
/// valid until the second next call of stretch(), so that one can be read while threads still work
/// on the previous one. If results must not depend on the order of input, the caller must sort the
/// documents.
class BAYES_API Corpus {
 public:
  virtual ~Corpus() = default;
  const CorpusTotals &totals() const { return totals_; }
  virtual std::int64_t stretches() const = 0;
  /// main thread only; may throw
  virtual std::span<const CorpusPiece> stretch(std::int64_t index) = 0;
  /// The index of the stretch that contains a document; reads stretches until it is found. The
  /// boundaries of stretches depend on the available memory, so random choices must be of
  /// documents, not of stretches.
  virtual std::int64_t stretch_of(std::int64_t document);
  /// Not null if the documents are on other servers (counts/remote_corpus.hpp).
  virtual RemoteCorpus *remote() { return nullptr; }
  bool is_remote() const { return const_cast<Corpus *>(this)->remote(); }

 protected:
  CorpusTotals totals_;
};

/// Documents in ordinary memory, for samples and for use without a server.
class BAYES_API MemoryCorpus final : public Corpus {
 public:
  explicit MemoryCorpus(std::int32_t vocabulary) { totals_.vocabulary = vocabulary; }
  void append(const DocumentTerms &document);
  /// Appends the first documents of another corpus, until this one has the given number of entries.
  void append_first(Corpus &from, std::int64_t entries, Control &control);
  std::int64_t stretches() const override { return 1; }
  std::span<const CorpusPiece> stretch(std::int64_t) override;
  std::int64_t stretch_of(std::int64_t) override { return 0; }
  /// keeps the memory
  void clear();

 private:
  struct Extent {
    std::size_t begin;
    std::int64_t documents, first, entries;
  };
  Buffer data_;
  std::size_t used_ = 0;
  std::vector<Extent> extents_;
  std::vector<CorpusPiece> pieces_;
};

/// A pass over all documents. The pieces, in order, are the tasks of run_in_order(), with
/// process(worker, slot, piece, stop) and merge(slot).
BAYES_API void sweep_corpus(Corpus &corpus, SweepPlan plan, Control &control,
                            const std::function<void(int worker, int slot, const CorpusPiece &piece,
                                                     const Stop &stop)> &process,
                            const std::function<void(int slot)> &merge);

}  // namespace bayes
