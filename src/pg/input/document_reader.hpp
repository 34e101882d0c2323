// Reads documents from values of PostgreSQL: tsvector, text[], jsonb objects of counts, and
// pgvector's sparsevec, whose terms are its positions, from 1.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pg/server/boundary.hpp"
#include "pg/values/array_elements.hpp"

namespace bayes::pg {

/// Largest count of a term in a document: doubles represent all whole numbers up to it.
inline constexpr double max_count_of_term = 1e15;

/// Throws Error unless a count is from 0 to max_count_of_term. `document`: as returned by
/// name_of_document().
void check_count(double count, std::string_view term, const std::string &document);

/// Throws Error unless a count is a whole number, which samplers need.
void require_whole(double count, std::string_view term, const std::string &document);

/// "document 3"; "the document" for number 0, in functions of one document.
std::string name_of_document(std::int64_t number);

/// Is this a type of documents? For a domain, pass its base type.
bool is_document_type(Oid base);

/// Reads documents of one type.
class DocumentReader {
 public:
  using Take = std::function<void(std::string_view term, double count)>;

  /// A tsvector, an array of texts, jsonb, a sparsevec, or a domain over one of them: throws Error
  /// for another type. PostgreSQL's allocations go below `context`, which must outlive this.
  DocumentReader(MemoryContext context, Oid type);

  /// Calls take(term, count) for the terms of a document, in UTF-8, with counts > 0; a word of an
  /// array is passed with count 1 each time that it occurs. Throws Error naming document and term
  /// for an invalid count.
  void read(Datum document, std::int64_t number, const Take &take);

  /// Did PostgreSQL leave out positions of lexemes in the tsvector read last, so that counts may be
  /// too small?
  bool truncated() const { return truncated_; }

 private:
  void read_lexemes(Datum document, const Take &take);
  void read_words(Datum document, const Take &take);
  void read_counts(Datum document, std::int64_t number, const Take &take);
  void read_sparse(Datum document, std::int64_t number, const Take &take);
  std::string_view utf8(std::string_view text);

  enum class Kind : char { lexemes, words, counts, sparse } kind_;
  /// element type of arrays of words
  ElementType word_;
  bool truncated_ = false;
  /// buffer for a text converted to UTF-8
  std::string text_;
};

}  // namespace bayes::pg
