#include "pg/input/document_reader.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

constexpr std::size_t between_polls = 4096;
/// of a tsvector: PostgreSQL keeps 255 positions of a lexeme, and none beyond the last
constexpr int most_positions = MAXNUMPOS - 1, last_position = MAXENTRYPOS - 1;

bool is_text(Oid base) { return base == TEXTOID || base == VARCHAROID; }

/// A detoasted value, freed on destruction if it is a copy.
class Detoasted {
 public:
  explicit Detoasted(Datum value) : original_(DatumGetPointer(value)) {
    plain_ = guarded([value] { return PG_DETOAST_DATUM(value); });
  }
  ~Detoasted() {
    if (reinterpret_cast<Pointer>(plain_) != original_) pfree(plain_);
  }
  Detoasted(const Detoasted &) = delete;
  Detoasted &operator=(const Detoasted &) = delete;
  struct varlena *get() const {
    return plain_;
  }

 private:
  Pointer original_;
  struct varlena *plain_;
};

/// A term in a message.
std::string shown_term(std::string_view term) {
  constexpr std::size_t most = 80;
  if (term.size() <= most) return std::string(term);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(term[end]) & 0xc0) == 0x80) --end;
  return std::string(term.substr(0, end)) + "...";
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 128; });
}

[[noreturn]] void no_count(std::string_view term, const std::string &document, const char *what) {
  throw Error(
      Errc::invalid_argument,
      message("count of term \"{}\" of {} is {}", shown_term(term), document, what),
      "A document as jsonb is an object of terms and their counts: {\"index\": 3, \"scan\": "
      "1}.");
}

/// What stands in place of a count.
const char *what_stands(const JsonbValue &value) {
  switch (value.type) {
    case jbvNull: return "null";
    case jbvString: return "a string";
    case jbvBool: return "a boolean";
    case jbvBinary: return JsonContainerIsArray(value.val.binary.data) ? "an array" : "an object";
    default: return "no number";
  }
}

}  // namespace

std::string name_of_document(std::int64_t number) {
  return number > 0 ? message("document {}", number) : std::string("the document");
}

void check_count(double count, std::string_view term, const std::string &document) {
  if (count >= 0 && count <= largest_count) return;
  const std::string what =
      message("count of term \"{}\" of {} is {}", shown_term(term), document, shown(count));
  if (count > largest_count && !std::isinf(count))
    throw Error(Errc::numeric, message("{}, too large to compute with", what),
                "The largest count that a term may have is 1e15.");
  throw Error(Errc::invalid_argument, what,
              "A count is a finite number, not negative: how often the term occurs.");
}

void require_whole(double count, std::string_view term, const std::string &document) {
  if (count == std::floor(count)) return;
  throw Error(Errc::invalid_argument,
              message("count of term \"{}\" of {} is {}, which is no whole number",
                      shown_term(term), document, shown(count)),
              "A sampler draws a topic for every token.",
              "Methods vi, svi, em and cvb0 take fractional counts.");
}

std::string_view utf8_view(std::string_view text, std::string &buffer) {
  if (server_is_utf8() || is_ascii(text)) return text;
  buffer = utf8_of_server(text);
  return buffer;
}

bool is_document_type(Oid base) {
  return base == TSVECTOROID || base == JSONBOID || guarded([base] {
           const Oid element = get_element_type(base);
           return OidIsValid(element) && is_text(getBaseType(element));
         });
}

DocumentReader::DocumentReader(Oid type) {
  const Oid base = guarded([type] { return getBaseType(type); });
  if (!is_document_type(base)) throw Error(Errc::internal, "argument is of no type of documents");
  kind_ = base == TSVECTOROID ? Kind::lexemes : base == JSONBOID ? Kind::counts : Kind::words;
}

std::string_view DocumentReader::utf8(std::string_view text) { return utf8_view(text, text_); }

void DocumentReader::read(Datum document, std::int64_t number, const Take &take) {
  truncated_ = false;
  switch (kind_) {
    case Kind::lexemes: return read_lexemes(document, take);
    case Kind::words: return read_words(document, take);
    case Kind::counts: return read_counts(document, number, take);
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
        truncated_ || positions >= most_positions ||
        (positions > 0 && WEP_GETPOS(POSDATAPTR(vector, entry)[positions - 1]) == last_position);
    take(utf8({STRPTR(vector) + entry->pos, entry->len}), std::max(1, positions));
  }
}

void DocumentReader::read_words(Datum document, const Take &take) {
  const OpenArray array(document);
  if (array.empty()) return;
  std::size_t count = 1;
  for (int i = 0; i < array.dimensions(); ++i) count *= std::size_t(array.size(i));
  const bits8 *const nulls = array.null_bitmap();
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
  const Detoasted plain(document);
  JsonbContainer *const root = &reinterpret_cast<Jsonb *>(plain.get())->root;
  if (!JsonContainerIsObject(root))
    throw Error(Errc::invalid_argument,
                message("{} is {}", name_of_document(number),
                        JsonContainerIsScalar(root) ? "a single value" : "an array"),
                "A document as jsonb is an object of terms and their counts: {\"index\": 3, "
                "\"scan\": 1}.",
                "For a list of words use text[].");
  JsonbIterator *iterator = guarded([root] { return JsonbIteratorInit(root); });
  const auto next = [&iterator](JsonbValue *value) {
    return guarded([&iterator, value] { return JsonbIteratorNext(&iterator, value, true); });
  };
  JsonbValue key, value;
  next(&key);  // the beginning of the object
  for (std::size_t i = 0; next(&key) == WJB_KEY; ++i) {
    if (i % between_polls == between_polls - 1) poll_interrupts();
    const std::string_view term = utf8({key.val.string.val, std::size_t(key.val.string.len)});
    next(&value);
    if (value.type != jbvNumeric) no_count(term, name_of_document(number), what_stands(value));
    const Numeric numeric = value.val.numeric;
    const double count = guarded([numeric] {
      return DatumGetFloat8(
          DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(numeric)));
    });
    if (!(count >= 0 && count <= largest_count)) check_count(count, term, name_of_document(number));
    if (count > 0) take(term, count);
  }
}

}  // namespace bayes::pg
