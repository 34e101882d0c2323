#include "pg/input/document_collector.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/message.hpp"
#include "base/random.hpp"
#include "data/hashed_rows.hpp"
#include "pg/input/row_store.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"

namespace bayes::pg {
namespace {

/// term number of rows without a term, which only show that their document exists
constexpr std::int32_t no_term = -1;

constexpr const char *smaller_vocabulary_hint =
    "Options min_documents and max_terms leave out rare terms, as in {\"min_documents\": 5, "
    "\"max_terms\": 100000}; option vocabulary names those that count.";

/// Throws Error(too_large) for a term that exceeds a limit.
void refuse_term(TermDictionary::Excess excess, std::string_view term) {
  constexpr const char *fewer_terms_hint =
      "Option vocabulary names the terms that count; stemming, as in to_tsvector, reduces their "
      "number.";
  switch (excess) {
    case TermDictionary::Excess::length:
      throw Error(
          Errc::too_large,
          message("a term is {} bytes long, but the limit is {}", term.size(), max_term_bytes), {},
          "A term is a word, or the name of an item. Use a shorter one, such as md5(term).");
    case TermDictionary::Excess::number:
      throw Error(Errc::too_large,
                  message("documents have more than {} distinct terms", max_read_terms), {},
                  fewer_terms_hint);
    case TermDictionary::Excess::bytes:
      throw Error(Errc::too_large,
                  message("distinct terms of documents take more than {} MB", max_read_bytes >> 20),
                  {}, fewer_terms_hint);
  }
}

/// Terms and counts of a document.
using Entries = std::vector<std::pair<std::int32_t, double>>;

void sort_entries(Entries &entries, std::vector<std::int32_t> &terms, std::vector<double> &counts) {
  WorkPoll poll;
  std::sort(entries.begin(), entries.end(), [&poll](const auto &a, const auto &b) {
    poll(8);
    return a < b;
  });
  terms.clear();
  counts.clear();
  for (const auto &[term, count] : entries) {
    terms.push_back(term);
    counts.push_back(count);
  }
}

/// The operator < of a type, and the function of its operator =.
struct Comparison {
  Oid less, equal;
  std::int16_t length;
  bool by_value;
};

Comparison comparison_of(Oid type) {
  return guarded([type] {
    Comparison c;
    Oid operator_equal;
    get_sort_group_operators(type, true, true, false, &c.less, &operator_equal, nullptr, nullptr);
    c.equal = get_opcode(operator_equal);
    get_typlenbyval(type, &c.length, &c.by_value);
    return c;
  });
}

/// Values are only grouped, so any order that keeps equal ones together will do: that of bytes is
/// fast, unless a nondeterministic collation makes different bytes equal.
Oid grouping_collation(Oid collation) {
  return guarded([collation] {
    return OidIsValid(collation) && !get_collation_isdeterministic(collation) ? collation
                                                                              : C_COLLATION_OID;
  });
}

}  // namespace

DocumentCollector::DocumentCollector(MemoryContext context, ItemForm form)
    : Collector(context, "document"),
      form_(form),
      budget_(memory_for_rows()),
      dictionary_(max_read_terms, refuse_term) {
  if (form.values == 1) reader_.emplace(context, form.type);
}

void DocumentCollector::begin(const FitRequest &request, Check check) {
  progress.begin(request.family);
  options_ = check(request);
  if (request.start)
    for (const std::string &term : static_cast<const TopicModel &>(*request.start).terms())
      dictionary_.number(term);
  known_terms_ = dictionary_.size();
  if (options_.vocabulary.empty()) return;
  for (const std::string &term : options_.vocabulary) dictionary_.number(term);
  dictionary_.close();
}

void DocumentCollector::begin(const TopicModel &model, bool whole_counts, bool others) {
  options_.whole_counts = whole_counts;
  for (const std::string &term : model.terms()) dictionary_.number(term);
  known_terms_ = dictionary_.size();
  evaluates_ = true;
  if (!others) dictionary_.close();
}

void DocumentCollector::begin(const TopicModel &model, Take take) {
  begin(model, false);
  take_ = std::move(take);
}

void DocumentCollector::add(const Item &item, const std::optional<std::string> &name) {
  if (corpus_) throw Error(Errc::internal, "document added after the end");
  count();
  if (item.values[0].isnull) {
    ++skipped_;
    return;
  }
  if (!reader_) return add_row(item.values);
  reader_->read(item.values[0].value, seen_, [this](std::string_view term, double count) {
    if (options_.whole_counts && count != std::floor(count))
      require_whole(count, term, name_of_document(seen_));
    const std::int32_t number = dictionary_.number(term);
    if (number != no_term) count_term(number, count);
  });
  truncated_ += reader_->truncated();
  add_document(name);
}

void DocumentCollector::count_term(std::int32_t number, double count) {
  const std::size_t at = std::size_t(number);
  if (at >= slots_.size()) slots_.resize(std::max(at + 1, 2 * slots_.size()), -1);
  if (slots_[at] < 0) {
    slots_[at] = std::int32_t(numbers_.size());
    numbers_.push_back(number);
    counts_.push_back(count);
  } else {
    counts_[std::size_t(slots_[at])] += count;
  }
}

/// Adds the current document to the sort, or passes it on.
void DocumentCollector::add_document(const std::optional<std::string> &name) {
  ++documents_;
  if (take_) return emit(name);
  const std::size_t n = numbers_.size();
  std::uint64_t hash = n;
  for (std::size_t i = 0; i < n; ++i) {
    // a sum, as the order of its terms must not matter
    hash += split_mix(dictionary_.hash(numbers_[i]) ^
                      split_mix(std::bit_cast<std::uint64_t>(counts_[i])));
    dictionary_.count_document(numbers_[i]);
    slots_[std::size_t(numbers_[i])] = -1;
  }
  packed_.resize(VARHDRSZ + n * (sizeof(double) + sizeof(std::int32_t)));
  SET_VARSIZE(packed_.data(), packed_.size());
  if (n > 0) {
    std::memcpy(packed_.data() + VARHDRSZ, counts_.data(), n * sizeof(double));
    std::memcpy(packed_.data() + VARHDRSZ + n * sizeof(double), numbers_.data(),
                n * sizeof(std::int32_t));
  }
  numbers_.clear();
  counts_.clear();

  if (!sorted_) {
    const SortColumn columns[] = {{INT8OID, Int8LessOperator}, {BYTEAOID}};
    sorted_ = std::make_unique<Sorter>(context_, columns, int(budget_ / 4096), &files_.emplace());
  }
  hash = split_mix(hash);
  if (hold_out_) hashes_.push_back(hash);
  const Datum values[] = {Int64GetDatum(std::int64_t(hash)), PointerGetDatum(packed_.data())};
  const bool nulls[] = {false, false};
  sorted_->put(values, nulls);
}

void DocumentCollector::emit(const std::optional<std::string> &name) {
  // The term numbers are those of the model's terms.
  Entries entries;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    entries.emplace_back(numbers_[i], counts_[i]);
    slots_[std::size_t(numbers_[i])] = -1;
  }
  sort_entries(entries, numbers_, counts_);
  take_(name, {numbers_, counts_});
  numbers_.clear();
  counts_.clear();
}

// ---- rows of document, term and count ----

/// The text of the value that names a document, UTF-8; its output function allocates in `context`.
std::string DocumentCollector::text_of_name(Datum document, MemoryContext context) const {
  const Oid type = form_.type;
  const char *const text = guarded([type, document, context] {
    const MemoryContext before = MemoryContextSwitchTo(context);
    Oid output;
    bool varlena;
    getTypeOutputInfo(type, &output, &varlena);
    const char *const out = OidOutputFunctionCall(output, document);
    MemoryContextSwitchTo(before);
    return out;
  });
  std::string buffer;
  return std::string(utf8_view(text, buffer));
}

std::string DocumentCollector::name_of_row(Datum document) const {
  return message("document {}", text_of_name(document, CurrentMemoryContext));
}

void DocumentCollector::begin_rows() {
  const Comparison comparison = comparison_of(form_.type);
  const SortColumn columns[] = {{form_.type, comparison.less, grouping_collation(form_.collation)},
                                {INT4OID, Int4LessOperator},
                                {FLOAT8OID, Float8LessOperator}};
  rows_ = std::make_unique<Sorter>(context_, columns, int(budget_ / 2048));
}

/// Adds a row of document, term and count. Without a term, or with a count of 0, it only shows that
/// the document exists.
void DocumentCollector::add_row(const NullableDatum *values) {
  std::int32_t number = no_term;
  double count = 0;
  if (!values[1].isnull && !values[2].isnull) {
    count = DatumGetFloat8(values[2].value);
    auto *const datum = reinterpret_cast<struct varlena *>(DatumGetPointer(values[1].value));
    auto *const plain = guarded([datum] { return pg_detoast_datum_packed(datum); });
    const std::string_view term =
        utf8_view({VARDATA_ANY(plain), std::size_t(VARSIZE_ANY_EXHDR(plain))}, word_);
    if (!(count >= 0 && count <= max_count_of_term))
      check_count(count, term, name_of_row(values[0].value));
    if (count > 0) number = dictionary_.number(term);
    if (plain != datum) pfree(plain);
  }
  if (!rows_) begin_rows();
  const Datum columns[] = {values[0].value, Int32GetDatum(number), Float8GetDatum(count)};
  const bool nulls[] = {false, false, false};
  rows_->put(columns, nulls);
}

/// Groups rows into documents. Counts of a term are added from the smallest to the largest, so that
/// rounding does not depend on the order of the rows.
void DocumentCollector::group_rows() {
  const Comparison comparison = comparison_of(form_.type);
  const Oid collation = grouping_collation(form_.collation);
  const ScopedContext functions(context_, "pg_bayes comparison"),
      current(context_, "pg_bayes document");
  FmgrInfo equal;
  const MemoryContext memory = functions;
  guarded([&equal, &comparison, memory] { fmgr_info_cxt(comparison.equal, &equal, memory); });
  const MemoryContext of_current = current;

  bool open = false;
  Datum document = Datum(0);
  const auto close = [&] {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const double count = counts_[i];
      if (count > max_count_of_term || (options_.whole_counts && count != std::floor(count))) {
        const std::string_view term = dictionary_.term(numbers_[i]);
        check_count(count, term, name_of_row(document));
        require_whole(count, term, name_of_row(document));
      }
    }
    add_document(take_ ? std::optional(text_of_name(document, of_current)) : std::nullopt);
  };
  rows_->sort();
  while (TupleTableSlot *const row = rows_->next()) {
    const Datum next = row->tts_values[0];
    const bool same = open && guarded([&equal, collation, document, next] {
                        return DatumGetBool(FunctionCall2Coll(&equal, collation, document, next));
                      });
    if (!same) {
      if (open) close();
      MemoryContextReset(of_current);
      document = guarded([of_current, next, &comparison] {
        const MemoryContext before = MemoryContextSwitchTo(of_current);
        const Datum copy = datumCopy(next, comparison.by_value, comparison.length);
        MemoryContextSwitchTo(before);
        return copy;
      });
      open = true;
    }
    const std::int32_t number = DatumGetInt32(row->tts_values[1]);
    if (number != no_term) count_term(number, DatumGetFloat8(row->tts_values[2]));
  }
  if (open) close();
  rows_.reset();
}

// ---- the vocabulary, and the documents over it ----

/// Chooses the vocabulary. Returns the code of every term number, -1 for terms that are left out.
std::vector<std::int32_t> DocumentCollector::choose_terms() {
  const std::int32_t read = dictionary_.size();
  const double most_documents = options_.max_share * double(documents_);
  std::vector<std::int32_t> kept, candidates;
  for (std::int32_t i = 0; i < read; ++i) {
    const std::int64_t documents = dictionary_.documents(i);
    if (i < known_terms_)
      kept.push_back(i);
    else if (documents >= options_.min_documents && double(documents) <= most_documents)
      candidates.push_back(i);
  }
  const std::size_t most =
      options_.max_terms > 0 ? std::size_t(options_.max_terms) : candidates.size() + kept.size();
  const std::size_t more = most > kept.size() ? most - kept.size() : 0;
  if (candidates.size() > more) {
    const auto end = candidates.begin() + std::ptrdiff_t(more);
    std::nth_element(candidates.begin(), end, candidates.end(), [this](auto a, auto b) {
      poll_interrupts();
      const std::int64_t in_a = dictionary_.documents(a), in_b = dictionary_.documents(b);
      return in_a != in_b ? in_a > in_b : dictionary_.term(a) < dictionary_.term(b);
    });
    candidates.erase(end, candidates.end());
  }
  kept.insert(kept.end(), candidates.begin(), candidates.end());
  if (kept.empty())
    throw Error(
        Errc::invalid_argument,
        read == 0 ? std::string("documents have no terms")
        : options_.vocabulary.empty()
            ? message("none of the {} terms of the documents is left", read)
            : std::string("no term of option \"vocabulary\" is left"),
        {}, read == 0 ? "" : "Options min_documents, max_share and vocabulary leave out terms.");
  if (!evaluates_ && kept.size() > std::size_t(lda_max_terms))
    throw Error(Errc::too_large,
                message("documents have {} distinct terms, but the limit is {}", kept.size(),
                        lda_max_terms),
                "A model holds every term.", smaller_vocabulary_hint);

  std::sort(kept.begin(), kept.end(), [this](auto a, auto b) {
    poll_interrupts();
    return dictionary_.term(a) < dictionary_.term(b);
  });
  std::vector<std::int32_t> codes(std::size_t(read), -1);
  terms_.clear();
  for (const std::int32_t number : kept) {
    codes[std::size_t(number)] = std::int32_t(terms_.size());
    terms_.emplace_back(dictionary_.term(number));
  }
  return codes;
}

void DocumentCollector::write_documents(const std::vector<std::int32_t> &codes) {
  // The sort takes the other quarter of the budget.
  corpus_ = std::make_unique<DocumentStore>(context_, std::int32_t(terms_.size()), skipped_,
                                            budget_ / 4 * 3);
  if (hold_out_) {
    in_fit_.assign(terms_.size(), 0);
    held_out_ = std::make_unique<DocumentStore>(context_, std::int32_t(terms_.size()), 0,
                                                budget_ / std::size_t(hold_out_->every()));
  }
  Entries entries;
  std::vector<std::int32_t> terms;
  std::vector<double> counts;
  if (sorted_) sorted_->sort();
  std::optional<std::uint64_t> last;
  std::uint64_t before = 0;
  while (TupleTableSlot *const row = sorted_ ? sorted_->next() : nullptr) {
    const auto hash = std::uint64_t(DatumGetInt64(row->tts_values[0]));
    before = last == hash ? before + 1 : 0;
    last = hash;
    const bool apart = hold_out_ && hold_out_->takes(hash_of_copy(hash, before, part_.value_or(0)));
    if (part_ && !apart) order_.push_back(std::int64_t(hash));
    const auto *const packed = static_cast<const char *>(DatumGetPointer(row->tts_values[1]));
    const std::size_t n =
        std::size_t(VARSIZE_ANY_EXHDR(packed)) / (sizeof(double) + sizeof(std::int32_t));
    counts.resize(n);
    terms.resize(n);
    if (n > 0) {
      std::memcpy(counts.data(), VARDATA_ANY(packed), n * sizeof(double));
      std::memcpy(terms.data(), VARDATA_ANY(packed) + n * sizeof(double), n * sizeof(std::int32_t));
    }
    entries.clear();
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int32_t code = codes[std::size_t(terms[i])]; code >= 0)
        entries.emplace_back(code, counts[i]);
    sort_entries(entries, terms, counts);
    (apart ? held_out_ : corpus_)->append({terms, counts});
    if (hold_out_ && !apart)
      for (const std::int32_t term : terms) in_fit_[std::size_t(term)] = 1;
  }
  corpus_->finish();
  if (held_out_) held_out_->finish();
  sorted_.reset();
}

void DocumentCollector::warn_of_truncated() const {
  if (truncated_ == 0) return;
  report(
      WARNING,
      message("{} of {} documents have terms whose counts may be too small", truncated_,
              documents_),
      "A tsvector holds at most 255 positions of a lexeme, and no positions beyond 16383.",
      "Give such documents as text[], as jsonb of counts, or as rows of document, term and count.");
}

void DocumentCollector::finish() {
  if (rows_) group_rows();
  warn_of_truncated();
}

std::uint64_t DocumentCollector::hash(Control &control) {
  DataHash out;
  out.add(std::span<const std::string>(terms_));
  out.add(*corpus_, control);
  if (held_out_) out.add(*held_out_, control);
  return out.value();
}

void DocumentCollector::arrange(Control &) {
  if (arranged_) return;
  if (remote) return warn_of_truncated();
  if (corpus_) throw Error(Errc::internal, "documents were not put in order");
  finish();
  if (hold_out_) {
    hold_out_->count(std::exchange(hashes_, {}), part_.value_or(0));
    hold_out_->choose();
  }
  write_documents(choose_terms());
  arranged_ = true;
}

}  // namespace bayes::pg
