// Collects documents, chooses their vocabulary, and sorts them by their contents.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counts/remote_corpus.hpp"
#include "data/hashed_rows.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/document_reader.hpp"
#include "pg/input/row_store.hpp"
#include "pg/input/term_dictionary.hpp"
#include "pg/server/temporary_files.hpp"
#include "topics/lda.hpp"

namespace bayes::pg {

/// Maximum number of distinct terms that are read; models are limited to fewer.
inline constexpr std::size_t max_read_terms = 4000000;

/// The documents of one fit: each a value, or many rows of document, term and count in any order.
///
/// Terms have provisional numbers, in order of appearance, until all are known. Documents are
/// sorted by a hash of their contents that does not depend on these, so that neither the order of
/// documents nor that of terms, nor how rows are split, changes the result. Sorts and documents
/// share maintenance_work_mem; what does not fit lies in temporary files.
class DocumentCollector final : public Collector {
 public:
  using Check = LdaRowOptions (*)(const FitRequest &request);

  /// An item of three values is a row: a document's name, a term, and a count.
  DocumentCollector(MemoryContext context, ItemForm form);

  void begin(const FitRequest &request, Check check);
  /// For evaluating a model: reads its terms, and other terms only if `others`.
  void begin(const TopicModel &model, bool whole_counts, bool others = false);
  /// Receives each document over the terms of a model, with its name (UTF-8) if it has one.
  /// Documents come in any order, and are not stored.
  using Take =
      std::function<void(const std::optional<std::string> &name, const DocumentTerms &document)>;
  void begin(const TopicModel &model, Take take);
  /// Holds out about every `every`-th document; called before the first one.
  void hold_out(int every) { hold_out_.emplace(every); }
  /// `name`: of a document that is passed on; items that are rows have it among their values.
  void add(const Item &item, const std::optional<std::string> &name = {});
  bool empty() const override { return documents_ == 0 && !rows_; }

  /// If set, the documents are on other servers.
  std::unique_ptr<RemoteCorpus> remote;

  /// Called after the last document, if documents are passed on.
  void finish();

  /// Makes the vocabulary and the corpus over it; called once all documents are read. Nothing can
  /// be added afterwards.
  void arrange(Control &control);
  /// Identifies the data (DataHash); called after arrange().
  std::uint64_t hash(Control &control);
  Corpus &corpus() { return remote ? static_cast<Corpus &>(*remote) : *corpus_; }
  Corpus &held_out() {
    return remote_held_out_ ? static_cast<Corpus &>(*remote_held_out_) : *held_out_;
  }
  /// for every term, whether a document of corpus() has it; empty if no documents are held out
  const std::vector<char> &in_fit() const { return in_fit_; }
  /// the vocabulary, in the order of the bytes of the terms
  const std::vector<std::string> &terms() const { return terms_; }

 private:
  // Documents of several parts (pg/parts/documents.cpp).
  friend struct DocumentsInParts;
  friend class PushedDocuments;

  void add_row(const NullableDatum *values);
  void begin_rows();
  void group_rows();
  void count_term(std::int32_t number, double count);
  void add_document(const std::optional<std::string> &name);
  void emit(const std::optional<std::string> &name);
  std::vector<std::int32_t> choose_terms();
  void write_documents(const std::vector<std::int32_t> &codes);
  void warn_of_truncated() const;
  std::string text_of_name(Datum document, MemoryContext context) const;
  std::string name_of_row(Datum document) const;

  ItemForm form_;
  LdaRowOptions options_;
  /// number of terms of the start model, which have the first numbers and are always kept
  std::int32_t known_terms_ = 0;
  /// documents are for evaluating a model, not for a fit
  bool evaluates_ = false;
  /// in bytes
  std::size_t budget_ = 0;
  std::optional<DocumentReader> reader_;
  TermDictionary dictionary_;

  /// number of documents so far, of those that were NULL, and of those with missing positions of
  /// lexemes
  std::int64_t documents_ = 0, skipped_ = 0, truncated_ = 0;
  /// the current document: the numbers of its terms, their counts, and for every term number its
  /// index in numbers_ (-1: none)
  std::vector<std::int32_t> numbers_, slots_;
  std::vector<double> counts_;
  std::vector<char> packed_;
  Take take_;

  /// owner of the files of sorted_, which outlives the query if documents are kept for another
  /// server
  std::optional<FileOwner> files_;
  /// (hash, packed document)
  std::unique_ptr<Sorter> sorted_;
  /// (document, number of the term, count)
  std::unique_ptr<Sorter> rows_;
  std::string word_;

  bool arranged_ = false;
  /// the number of the part whose documents these are
  std::optional<std::size_t> part_;
  /// for every document of a part its hash, by which documents are ordered
  std::vector<std::int64_t> order_;
  std::vector<std::string> terms_;
  std::vector<char> in_fit_;
  std::optional<HoldOut> hold_out_;
  /// of the documents, in the order in which they were read, if some are to be held out
  std::vector<std::uint64_t> hashes_;
  std::unique_ptr<DocumentStore> corpus_, held_out_;
  std::unique_ptr<RemoteCorpus> remote_held_out_;
};

}  // namespace bayes::pg
