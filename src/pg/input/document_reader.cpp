#include "pg/input/document_reader.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"
#include "pg/values/vectors.hpp"

namespace bayes::pg {
namespace {

constexpr std::size_t between_polls = 4096;
/// of a tsvector: PostgreSQL keeps 255 positions of a lexeme, and none beyond the last
constexpr int max_positions = MAXNUMPOS - 1, last_position = MAXENTRYPOS - 1;

/// Is the text of the type's values their bytes?
bool is_text(Oid base) { return base == TEXTOID || base == VARCHAROID; }

[[noreturn]] void no_count(std::string_view term, const std::string &document, const char *what) {
  throw Error(
      Errc::invalid_argument,
      message("count of term \"{}\" of {} is {}", abbreviated(term), document, what),
      "A document as jsonb is an object of terms and their counts: {\"index\": 3, \"scan\": "
      "1}.");
}

}  // namespace

std::string name_of_document(std::int64_t number) {
  return number > 0 ? message("document {}", number) : std::string("the document");
}

void check_count(double count, std::string_view term, const std::string &document) {
  if (count >= 0 && count <= max_count_of_term) return;
  const std::string what = message("count of term \"{}\" of {} is {}", abbreviated(term), document,
                                   format_number(count));
  if (count > max_count_of_term && !std::isinf(count))
    throw Error(Errc::numeric, message("{}, too large to compute with", what),
                "The largest count that a term may have is 1e15.");
  throw Error(
      Errc::invalid_argument, what,
      "A count must be finite and not negative: it is the number of times that the term occurs.");
}

void require_whole(double count, std::string_view term, const std::string &document) {
  if (count == std::floor(count)) return;
  throw Error(Errc::invalid_argument,
              message("count of term \"{}\" of {} is {}, which is not a whole number",
                      abbreviated(term), document, format_number(count)),
              "A sampler draws a topic for every token.",
              "Methods vi, svi, em and cvb0 take fractional counts.");
}

bool is_document_type(Oid base) {
  return base == TSVECTOROID || base == JSONBOID || guarded([base] {
           const Oid element = get_element_type(base);
           return OidIsValid(element) && TypeCategory(getBaseType(element)) == TYPCATEGORY_STRING;
         }) ||
         is_sparse_vector(base);
}

DocumentReader::DocumentReader(MemoryContext context, Oid type) : word_(context) {
  const Oid base = guarded([type] { return getBaseType(type); });
  if (!is_document_type(base))
    throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                   message("a document is of type {}", name_of_type(type)),
                   "A document is a tsvector, an array of texts, or a jsonb object of counts.",
                   base == UNKNOWNOID ? "A literal has no type of its own: '{\"scan\": 1}'::jsonb."
                                      : "Make a document of the words of a text by "
                                        "to_tsvector('english', body). If the text is a "
                                        "query, cast it to bayes_query.");
  kind_ = base == TSVECTOROID      ? Kind::lexemes
          : base == JSONBOID       ? Kind::counts
          : is_sparse_vector(base) ? Kind::sparse
                                   : Kind::words;
}

std::string_view DocumentReader::utf8(std::string_view text) { return utf8_view(text, text_); }

void DocumentReader::read(Datum document, std::int64_t number, const Take &take) {
  truncated_ = false;
  switch (kind_) {
    case Kind::lexemes: return read_lexemes(document, take);
    case Kind::words: return read_words(document, take);
    case Kind::counts: return read_counts(document, number, take);
    case Kind::sparse: return read_sparse(document, number, take);
  }
}

void DocumentReader::read_lexemes(Datum document, const Take &take) {
  const Detoasted plain(document);
  auto *const vector = reinterpret_cast<TSVector>(plain.get());
  const WordEntry *const entries = ARRPTR(vector);
  for (int i = 0; i < vector->size; ++i) {
    if (std::size_t(i) % between_polls == between_polls - 1) poll_interrupts();
    const WordEntry *const entry = entries + i;
    const int positions = POSDATALEN(vector, entry);
    truncated_ =
        truncated_ || positions >= max_positions ||
        (positions > 0 && WEP_GETPOS(POSDATAPTR(vector, entry)[positions - 1]) == last_position);
    take(utf8({STRPTR(vector) + entry->pos, entry->len}), std::max(1, positions));
  }
}

void DocumentReader::read_words(Datum document, const Take &take) {
  const OpenArray array(document);
  if (array.empty()) return;
  std::size_t count = 1;
  for (int i = 0; i < array.dimensions(); ++i) count *= std::size_t(array.size(i));
  word_.use(array.element_type());
  if (!is_text(word_.base())) {
    ArrayWalk words(array, word_, nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % between_polls == between_polls - 1) poll_interrupts();
      const NullableDatum word = words.next();
      if (!word.isnull) take(*word_.text(word.value), 1);
    }
    return;
  }
  const uint8 *const nulls = array.null_bitmap();
  const char *at = array.data();
  for (std::size_t i = 0; i < count; ++i) {
    if (i % between_polls == between_polls - 1) poll_interrupts();
    if (nulls && !(nulls[i / 8] & (1 << (i % 8)))) continue;
    if (at >= array.end()) throw Error(Errc::internal, "array is shorter than its header says");
    if (VARATT_IS_1B_E(at) || VARATT_IS_4B_C(at)) {
      const Detoasted word(PointerGetDatum(at));
      take(utf8({VARDATA_ANY(word.get()), std::size_t(VARSIZE_ANY_EXHDR(word.get()))}), 1);
    } else {
      take(utf8({VARDATA_ANY(at), std::size_t(VARSIZE_ANY_EXHDR(at))}), 1);
    }
    at += INTALIGN(VARSIZE_ANY(at));
  }
}

void DocumentReader::read_counts(Datum document, std::int64_t number, const Take &take) {
  const JsonbObject object(document);
  if (!object.is_object())
    throw Error(Errc::invalid_argument,
                message("{} is {}", name_of_document(number), object.form()),
                "A document as jsonb is an object of terms and their counts: {\"index\": 3, "
                "\"scan\": 1}.",
                "For a list of words use text[].");
  object.each([&](std::string_view key, const JsonbValue &value) {
    const std::string_view term = utf8(key);
    const std::optional<double> count = number_in(value);
    if (!count) no_count(term, name_of_document(number), form_of(value));
    if (!(*count >= 0 && *count <= max_count_of_term))
      check_count(*count, term, name_of_document(number));
    if (*count > 0) take(term, *count);
  });
}

void DocumentReader::read_sparse(Datum document, std::int64_t number, const Take &take) {
  const SparseVector vector(document);
  for (std::size_t i = 0; i < vector.indices().size(); ++i) {
    if (i % between_polls == between_polls - 1) poll_interrupts();
    const std::string term = std::to_string(vector.indices()[i] + 1);
    const double count = vector.numbers()[i];
    check_count(count, term, name_of_document(number));
    if (count > 0) take(term, count);
  }
}

}  // namespace bayes::pg
