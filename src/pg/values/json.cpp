#include "pg/values/json.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/message.hpp"
#include "document/document.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

// The text of a jsonb.

class JsonbWriter {
 public:
  std::string text(JsonbContainer *root) {
    JsonbIterator *iterator = guarded([root] { return JsonbIteratorInit(root); });
    bool is_scalar = false;
    for (std::size_t i = 0;; ++i) {
      poll_in_loop(i);
      require_size(0);
      JsonbValue value;
      switch (next(&iterator, &value)) {
        case WJB_BEGIN_ARRAY:
          // A scalar is stored as an array of one element.
          is_scalar |= value.val.array.rawScalar;
          open(is_scalar ? "" : "[");
          break;
        case WJB_BEGIN_OBJECT: open("{"); break;
        case WJB_KEY:
          add(value);
          out_ += ": ";
          first_ = true;
          break;
        case WJB_VALUE:
        case WJB_ELEM: add(value); break;
        case WJB_END_ARRAY: close(is_scalar ? "" : "]"); break;
        case WJB_END_OBJECT: close("}"); break;
        case WJB_DONE: return std::move(out_);
      }
    }
  }

 private:
  static JsonbIteratorToken next(JsonbIterator **iterator, JsonbValue *value) {
    return guarded([iterator, value] { return JsonbIteratorNext(iterator, value, false); });
  }
  void separate() {
    if (!first_) out_ += ", ";
  }
  void open(const char *bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(const char *bracket) {
    out_ += bracket;
    first_ = false;
  }

  /// Throws Error(too_large) if the text, and this much more, is larger than a value of
  /// PostgreSQL: numbers of a small jsonb may have a hundred thousand digits.
  void require_size(std::size_t more) const {
    constexpr std::size_t most = MaxAllocSize;
    if (out_.size() > most || more > most - out_.size())
      throw Error(Errc::too_large, message("a jsonb has more than {} bytes of text", most));
  }

  void add(const JsonbValue &value) {
    separate();
    first_ = false;
    switch (value.type) {
      case jbvNull: out_ += "null"; break;
      case jbvBool: out_ += value.val.boolean ? "true" : "false"; break;
      case jbvNumeric: {
        const Numeric numeric = value.val.numeric;
        char *const digits = guarded([numeric] {
          return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(numeric)));
        });
        out_ += digits;
        pfree(digits);
        break;
      }
      case jbvString:
        require_size(std::size_t(value.val.string.len));
        append_json(out_, {value.val.string.val, std::size_t(value.val.string.len)});
        break;
      default: throw Error(Errc::internal, "a jsonb has a value of an unknown type");
    }
  }

  std::string out_;
  bool first_ = true;
};

/// The text of a jsonb in the server's encoding, as jsonb_out writes it, which does not poll.
std::string text_of_jsonb(JsonbContainer *root) { return JsonbWriter().text(root); }

/// maximum depth of nesting, the same as in a Document's byte form
constexpr std::size_t max_json_depth = 32;
/// Limit of the number of Documents, not counting numbers in tensors: one for each
/// `text_bytes_per_document` bytes of text, but at least `min_document_limit` and at most
/// `most_documents`. A model needs some ten thousand for names and members, and one for every key
/// of a table, which takes more than these bytes of text because of the key's numbers.
constexpr std::size_t min_document_limit = 1'000'000, text_bytes_per_document = 12,
                      most_documents = 12'000'000;

Document number(std::string_view token) {
  if (token.find_first_of(".eE") == token.npos) {
    std::int64_t integer = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), integer);
    if (error == std::errc()) return integer;
  }
  const double real = std::strtod(std::string(token).c_str(), nullptr);
  if (std::isfinite(real)) return real;
  throw Error(Errc::numeric, message("number {}{} is too large for double precision",
                                     token.substr(0, 40), token.size() > 40 ? "..." : ""));
}

/// The names of doubles that JSON has no number for.
constexpr std::string_view special_names[] = {"NaN", "Infinity", "-Infinity", "-0"};

/// The double that a string stands for, if JSON has no number for it.
std::optional<double> special(std::string_view text) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double values[] = {std::numeric_limits<double>::quiet_NaN(), infinite, -infinite, -0.0};
  for (std::size_t i = 0; i < std::size(special_names); ++i)
    if (text == special_names[i]) return values[i];
  return std::nullopt;
}

/// Counts the Documents that are made, which take much more memory than their text.
class Budget {
 public:
  explicit Budget(std::size_t bytes_of_text)
      : all_(std::clamp(bytes_of_text / text_bytes_per_document, min_document_limit,
                        most_documents)) {}

  void spend(std::size_t documents = 1) {
    if (documents > left_)
      throw Error(Errc::invalid_text, message("JSON has more than {} values", all_),
                  "Numbers in arrays that contain only numbers are not counted.");
    left_ -= documents;
  }

 private:
  std::size_t all_, left_ = all_;
};

/// The elements of an array. Numbers, and arrays of numbers of one shape, do not take a Document
/// each, as a model's text consists mostly of them.
class Elements {
 public:
  /// a scalar: an integer, a double or a string
  void add_scalar(Document value, Budget &budget) {
    const auto *const integer = value.as<std::int64_t>();
    const auto *const real = value.as<double>();
    const auto *const text = value.as<std::string>();
    const std::optional<double> named = text ? special(*text) : std::nullopt;
    if (!(integer || real || named) || (count_ > 0 && form_ != Form::numbers))
      return add(std::move(value), budget);
    form_ = Form::numbers;
    numbers_.push_back(integer ? std::bit_cast<double>(*integer) : real ? *real : *named);
    integers_.push_back(integer);
    named_.push_back(!integer && !real);
    ++count_;
  }

  void add(Document value, Budget &budget) {
    const Tensor *const tensor = value.as<Tensor>();
    if (tensor && (count_ == 0 || (form_ == Form::tensors && tensor->shape == shape_))) {
      form_ = Form::tensors;
      if (count_ == 0) shape_ = tensor->shape;
      numbers_.insert(numbers_.end(), tensor->values.begin(), tensor->values.end());
    } else {
      if (form_ != Form::documents) convert_to_documents(budget);
      budget.spend();
      documents_.push_back(std::move(value));
    }
    ++count_;
  }

  Document document() {
    if (form_ == Form::documents) return std::move(documents_);
    for (std::size_t i = 0; i < integers_.size(); ++i)
      if (integers_[i]) numbers_[i] = double(std::bit_cast<std::int64_t>(numbers_[i]));
    shape_.insert(shape_.begin(), count_);
    return Tensor{std::move(shape_), std::move(numbers_)};
  }

 private:
  /// Makes a Document of each element: the next value does not fit, so the array is not a tensor.
  void convert_to_documents(Budget &budget) {
    budget.spend(std::size_t(count_));
    const std::size_t each = count_ ? numbers_.size() / std::size_t(count_) : 0;
    for (std::size_t i = 0; i < std::size_t(count_); ++i) {
      const auto first = numbers_.begin() + std::ptrdiff_t(i * each);
      if (form_ == Form::tensors)
        documents_.emplace_back(Tensor{shape_, {first, first + std::ptrdiff_t(each)}});
      else if (integers_[i])
        documents_.emplace_back(std::bit_cast<std::int64_t>(*first));
      else if (named_[i])
        documents_.emplace_back(std::isnan(*first)   ? "NaN"
                                : std::isinf(*first) ? (*first > 0 ? "Infinity" : "-Infinity")
                                                     : "-0");
      else
        documents_.emplace_back(*first);
    }
    form_ = Form::documents;
    numbers_ = {};
    integers_ = {};
    named_ = {};
  }

  enum class Form { numbers, tensors, documents } form_ = Form::numbers;
  std::int64_t count_ = 0;
  /// the numbers; an integer is stored as its bits
  std::vector<double> numbers_;
  std::vector<bool> integers_, named_;
  /// shape of each tensor
  std::vector<std::int64_t> shape_;
  Document::List documents_;
};

/// Throws for a repeated key.
Document object(Document::Object members) {
  std::vector<std::string_view> keys;
  for (const auto &[key, value] : members) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end())
    throw Error(Errc::invalid_text, message("key \"{}\" appears twice", twice->substr(0, 80)));
  return members;
}

/// Builds a Document from the parser's events.
class Builder {
 public:
  explicit Builder(std::size_t bytes_of_text) : budget_(bytes_of_text) {}

  Document document;

  void open() {
    if (levels_.size() == max_json_depth)
      throw Error(Errc::invalid_text,
                  message("JSON is nested deeper than {} levels", max_json_depth));
    levels_.emplace_back();
  }
  void close(bool array) {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    add(array ? level.elements.document() : object(std::move(level.members)));
  }
  void key(const char *name) { levels_.back().key = utf8_of_server(name); }
  void scalar(const char *token, JsonTokenType type) {
    switch (type) {
      case JSON_TOKEN_STRING: return add_scalar(utf8_of_server(token));
      case JSON_TOKEN_NUMBER: return add_scalar(number(token));
      case JSON_TOKEN_TRUE: return add(true);
      case JSON_TOKEN_FALSE: return add(false);
      default: return add({});
    }
  }

 private:
  struct Level {
    Elements elements;
    Document::Object members;
    /// inside an object: the key of the next value
    std::optional<std::string> key;
  };
  void add_scalar(Document value) {
    if (levels_.empty() || levels_.back().key)
      add(std::move(value));
    else
      levels_.back().elements.add_scalar(std::move(value), budget_);
  }
  // not inlined, or g++ 12 warns by mistake of uninitialised memory
  [[gnu::noinline]] void add(Document value) {
    if (levels_.empty()) {
      document = std::move(value);
    } else if (Level &level = levels_.back(); level.key) {
      budget_.spend();
      level.members.emplace_back(std::move(*level.key), std::move(value));
    } else {
      level.elements.add(std::move(value), budget_);
    }
  }
  std::vector<Level> levels_;
  Budget budget_;
};

// The parser's callbacks, called by C code: they raise errors as ERRORs. They free the names and
// scalars that they are given.
// What they return is a result since version 16, and nothing before.
using ParseResult = std::invoke_result_t<json_struct_action, void *>;

template <class F> void build(void *state, F step) {
  CHECK_FOR_INTERRUPTS();
  raising([state, step] { step(*static_cast<Builder *>(state)); });
}

ParseResult open(void *state) {
  build(state, [](Builder &b) { b.open(); });
  return ParseResult(JSON_SUCCESS);
}
ParseResult close_object(void *state) {
  build(state, [](Builder &b) { b.close(false); });
  return ParseResult(JSON_SUCCESS);
}
ParseResult close_array(void *state) {
  build(state, [](Builder &b) { b.close(true); });
  return ParseResult(JSON_SUCCESS);
}
ParseResult key(void *state, char *name, bool) {
  build(state, [name](Builder &b) { b.key(name); });
  pfree(name);
  return ParseResult(JSON_SUCCESS);
}
ParseResult scalar(void *state, char *token, JsonTokenType type) {
  build(state, [token, type](Builder &b) { b.scalar(token, type); });
  pfree(token);
  return ParseResult(JSON_SUCCESS);
}

/// Builds a jsonb as jsonb_in does from the text of a Document, but polls. This class checks the
/// length of texts, as callers of pushJsonbValue must; pushJsonbValue and JsonbValueToJsonb check
/// the other limits of jsonb_in.
class JsonbBuilder {
 public:
  Datum jsonb(const Document &document) {
    add(document, WJB_VALUE);
    JsonbValue *const root = parts_.whole() ? parts_.whole() : &scalar_;
    return guarded([root] { return PointerGetDatum(JsonbValueToJsonb(root)); });
  }

 private:
  /// `as`: an element of an array, or the value of a member.
  void add(const Document &document, JsonbIteratorToken as) {
    poll_here();
    if (const auto *const tensor = document.as<Tensor>()) {
      if (tensor_size(tensor->shape, std::numeric_limits<std::int64_t>::max()) !=
          std::ssize(tensor->values))
        throw Error(Errc::internal,
                    "a tensor has a number of values that does not match its shape");
      const double *at = tensor->values.data();
      add_extent(*tensor, 0, at);
    } else if (const auto *const list = document.as<Document::List>()) {
      push(WJB_BEGIN_ARRAY);
      for (const Document &each : *list) add(each, WJB_ELEM);
      push(WJB_END_ARRAY);
    } else if (const auto *const object = document.as<Document::Object>()) {
      push(WJB_BEGIN_OBJECT);
      for (const auto &[key, value] : *object) {
        JsonbValue name = string(key);
        push(WJB_KEY, &name);
        add(value, WJB_VALUE);
      }
      push(WJB_END_OBJECT);
    } else {
      JsonbValue value = scalar(document);
      push(as, &value);
    }
  }

  void add_extent(const Tensor &tensor, std::size_t dimension, const double *&at) {
    push(WJB_BEGIN_ARRAY);
    for (std::int64_t i = 0; i < tensor.shape[dimension]; ++i) {
      poll_in_loop(std::size_t(i));
      if (dimension + 1 < tensor.shape.size()) {
        add_extent(tensor, dimension + 1, at);
      } else {
        JsonbValue value = scalar(*at++);
        push(WJB_ELEM, &value);
      }
    }
    push(WJB_END_ARRAY);
  }

  JsonbValue scalar(const Document &document) {
    if (const auto *const text = document.as<std::string>()) return string(*text);
    JsonbValue out;
    if (document.is_null()) {
      out.type = jbvNull;
    } else if (const auto *const truth = document.as<bool>()) {
      out.type = jbvBool;
      out.val.boolean = *truth;
    } else {
      const std::string json = document.to_json();
      if (json[0] == '"') return string(special_name(json));
      const char *const digits = json.c_str();
      out.type = jbvNumeric;
      out.val.numeric = guarded([digits] {
        return DatumGetNumeric(DirectFunctionCall3(
            numeric_in, CStringGetDatum(digits), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
      });
    }
    return out;
  }

  /// The name, in static storage, of a double that JSON has no number for.
  static std::string_view special_name(std::string_view json) {
    for (const std::string_view each : special_names)
      if (json.substr(1, json.size() - 2) == each) return each;
    throw Error(Errc::internal, "a number has no JSON");
  }

  /// Refers to the text, which must live on.
  JsonbValue string(std::string_view text) {
    const char *const from = text.data();
    const std::size_t size = text.size();
    const char *const chars = guarded([from, size] { return server_of_utf8(from, size); });
    const std::size_t bytes = chars == from ? size : std::strlen(chars);
    // A longer one would run into the bits of the type beside its length.
    if (bytes > JENTRY_OFFLENMASK)
      throw Error(Errc::too_large, message("a text of {} bytes is too long for jsonb", bytes),
                  message("The limit is {} bytes.", JENTRY_OFFLENMASK));
    JsonbValue out;
    out.type = jbvString;
    out.val.string.val = const_cast<char *>(chars);
    out.val.string.len = int(bytes);
    return out;
  }

  void push(JsonbIteratorToken token, JsonbValue *value = nullptr) {
    if (!parts_.begun() && value) {
      scalar_ = *value;
      return;
    }
    JsonbParts *const parts = &parts_;
    guarded([parts, token, value] { parts->push(token, value); });
  }

  JsonbParts parts_;
  JsonbValue scalar_ = {};
};

void parse(const char *text, Builder *builder) {
  JsonSemAction actions = {};
  actions.semstate = builder;
  actions.object_start = open;
  actions.object_end = close_object;
  actions.array_start = open;
  actions.array_end = close_array;
  actions.object_field_start = key;
  actions.scalar = scalar;
  pg_parse_json_or_ereport(new_json_lexer(text), &actions);
}

}  // namespace

Document document_of_json(const char *text) {
  Builder builder(std::strlen(text));
  guarded([text, &builder] { parse(text, &builder); });
  return std::move(builder.document);
}

Document document_of_jsonb(Datum datum) {
  const Detoasted jsonb(datum);
  return document_of_json(text_of_jsonb(&reinterpret_cast<Jsonb *>(jsonb.get())->root).c_str());
}

Datum jsonb_of(const Document &document) { return JsonbBuilder().jsonb(document); }

std::string JsonbObject::json() const { return utf8_of_server(text_of_jsonb(root())); }

void JsonbObject::each(
    const std::function<void(std::string_view key, const JsonbValue &value)> &take) const {
  constexpr std::size_t between_polls = 4096;
  JsonbContainer *const object = root();
  JsonbIterator *iterator = guarded([object] { return JsonbIteratorInit(object); });
  const auto next = [&iterator](JsonbValue *value) {
    return guarded([&iterator, value] { return JsonbIteratorNext(&iterator, value, true); });
  };
  JsonbValue key, value;
  next(&key);  // the beginning of the object
  for (std::size_t i = 0; next(&key) == WJB_KEY; ++i) {
    if (i % between_polls == between_polls - 1) poll_interrupts();
    next(&value);
    take({key.val.string.val, std::size_t(key.val.string.len)}, value);
  }
}

std::optional<double> number_in(const JsonbValue &value) {
  if (value.type != jbvNumeric) return std::nullopt;
  const Numeric numeric = value.val.numeric;
  return guarded([numeric] {
    return DatumGetFloat8(
        DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(numeric)));
  });
}

const char *form_of(const JsonbValue &value) {
  switch (value.type) {
    case jbvNull: return "null";
    case jbvString: return "a string";
    case jbvBool: return "a boolean";
    case jbvBinary: return JsonContainerIsArray(value.val.binary.data) ? "an array" : "an object";
    default: return "not a number";
  }
}

}  // namespace bayes::pg
