// Collects documents, makes their vocabulary, and puts them into an order of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pg/input/collector.hpp"
#include "pg/input/document_reader.hpp"
#include "pg/input/document_store.hpp"
#include "pg/input/term_dictionary.hpp"
#include "pg/server/sorter.hpp"
#include "topics/lda.hpp"

namespace bayes::pg {

/// So many distinct terms may be read; a model has fewer.
inline constexpr std::size_t max_read_terms = 4000000;

/// The documents of one fit: each a value, or many rows of document, term and count in any order.
///
/// Terms have provisional numbers, in order of appearance, until all are known. Documents are
/// sorted by a hash of their contents that does not depend on these, so that neither the order of
/// documents nor that of terms, nor how rows are split, changes anything. Sorts and documents share
/// maintenance_work_mem; what does not fit lies in temporary files.
class DocumentCollector final : public Collector {
 public:
  using Check = LdaRowOptions (*)(const FitRequest &request);

  /// An item of three values is a row: a document's name, a term, and a count.
  DocumentCollector(MemoryContext context, ItemForm form);

  void begin(const FitRequest &request, Check check);
  /// The terms of a model, and no others unless with `others`: for what evaluates it.
  void begin(const TopicModel &model, bool whole_counts, bool others = false);
  /// Documents over the terms of a model are not kept but handed on, in any order and with their
  /// names, UTF-8, if they have one.
  using Take =
      std::function<void(const std::optional<std::string> &name, const DocumentTerms &document)>;
  void begin(const TopicModel &model, Take take);
  /// Every so many-th document is kept apart; called before the end.
  void hold_out(int every) { hold_out_ = every; }
  /// `name`: of a document that is handed on; rows have it among their values.
  void add(const Item &item, const std::optional<std::string> &name = {});
  bool empty() const override { return documents_ == 0 && !rows_; }

  /// After the last document, if they are handed on.
  void finish();

  /// The vocabulary, and the documents over it; called once they are read. Nothing can be added
  /// afterwards.
  void arrange(Control &control);
  Corpus &corpus() { return *corpus_; }
  Corpus &held_out() { return *held_out_; }
  /// for every term whether a document has it that is not kept apart; if any are
  const std::vector<char> &in_fit() const { return in_fit_; }
  /// in the order of their bytes
  const std::vector<std::string> &terms() const { return terms_; }

 private:
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

  MemoryContext context_;
  ItemForm form_;
  LdaRowOptions options_;
  /// of the start model, whose terms have the first numbers and stay
  std::int32_t known_terms_ = 0;
  /// for what evaluates a model, not for a fit
  bool evaluates_ = false;
  /// in bytes
  std::size_t budget_ = 0;
  std::optional<DocumentReader> reader_;
  TermDictionary dictionary_;

  /// documents so far, and those that were NULL, or whose positions are not all known
  std::int64_t documents_ = 0, skipped_ = 0, truncated_ = 0;
  /// the current document: numbers of its terms, their counts, and where a number stands (-1:
  /// nowhere)
  std::vector<std::int32_t> numbers_, slots_;
  std::vector<double> counts_;
  std::vector<char> packed_;
  Take take_;

  /// (hash, packed document)
  std::unique_ptr<Sorter> sorted_;
  /// (document, number of the term, count)
  std::unique_ptr<Sorter> rows_;
  std::string word_;

  bool arranged_ = false;
  std::vector<std::string> terms_;
  std::vector<char> in_fit_;
  int hold_out_ = 0;
  std::unique_ptr<DocumentStore> corpus_, held_out_;
};

}  // namespace bayes::pg
