// Parts of documents: some of the terms, or the two halves for document completion.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "data/corpus.hpp"

namespace bayes {

/// A document restricted to some of its terms.
class BAYES_API FilteredDocument {
 public:
  /// Keeps the terms for which `keep` is true. The document must outlive this.
  FilteredDocument(const DocumentTerms &document,
                   const std::function<bool(std::int32_t term)> &keep);
  FilteredDocument(const FilteredDocument &) = delete;
  DocumentTerms terms() const { return part_; }

 private:
  DocumentTerms part_;
  std::vector<std::int32_t> terms_;
  std::vector<double> counts_;
};

/// Hashes of the terms' bytes: they order terms as if at random, the same in every vocabulary.
BAYES_API std::vector<std::uint64_t> term_hashes(std::span<const std::string> terms);
BAYES_API std::uint64_t term_hash(std::string_view term);

/// A document in two halves. In the order of their terms' hashes, tokens go alternately to the
/// observed half and to the scored half, the first to the observed one; fractional counts are
/// divided in the same way. The halves depend only on the terms and their counts.
struct DocumentHalves {
  std::vector<std::int32_t> observed_terms, scored_terms;
  std::vector<double> observed_counts, scored_counts;
  DocumentTerms observed() const { return {observed_terms, observed_counts}; }
  DocumentTerms scored() const { return {scored_terms, scored_counts}; }
};
/// `hashes`: of the V terms of the vocabulary.
BAYES_API DocumentHalves split_document(const DocumentTerms &document,
                                        std::span<const std::uint64_t> hashes);

/// The indices of a document's terms in the order of their hashes.
std::vector<std::size_t> hash_order(const DocumentTerms &document,
                                    std::span<const std::uint64_t> hashes);

}  // namespace bayes
