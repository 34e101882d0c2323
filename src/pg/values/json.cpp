#include "pg/values/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.hpp"
#include "pg/server/encoding.hpp"

namespace bayes::pg {
namespace {

/// as in a Document's byte form
constexpr std::size_t deepest = 32;

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

std::optional<double> as_number(const Document &value) {
  if (const auto *x = value.as<double>()) return *x;
  if (const auto *x = value.as<std::int64_t>()) return double(*x);
  if (const auto *x = value.as<std::string>()) {
    if (*x == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*x == "Infinity") return std::numeric_limits<double>::infinity();
    if (*x == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (*x == "-0") return -0.0;
  }
  return std::nullopt;
}

/// A list of numbers, or of tensors of one shape, as a tensor.
Document list(Document::List items) {
  Tensor tensor;
  tensor.shape = {std::int64_t(items.size())};
  for (const Document &item : items) {
    if (const Tensor *inner = item.as<Tensor>()) {
      if (&item == &items.front())
        tensor.shape.insert(tensor.shape.end(), inner->shape.begin(), inner->shape.end());
      else if (!std::equal(tensor.shape.begin() + 1, tensor.shape.end(), inner->shape.begin(),
                           inner->shape.end()))
        return items;
      tensor.values.insert(tensor.values.end(), inner->values.begin(), inner->values.end());
    } else if (const auto x = as_number(item); x && tensor.shape.size() == 1) {
      tensor.values.push_back(*x);
    } else {
      return items;
    }
  }
  return tensor;
}

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
  Document document;

  void open() {
    if (levels_.size() == deepest)
      throw Error(Errc::invalid_text, message("JSON is nested deeper than {} levels", deepest));
    levels_.emplace_back();
  }
  void close(bool array) {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    add(array ? list(std::move(level.items)) : object(std::move(level.members)));
  }
  void key(const char *name) { levels_.back().key = utf8_of_server(name); }
  void scalar(const char *token, JsonTokenType type) {
    switch (type) {
      case JSON_TOKEN_STRING: return add(utf8_of_server(token));
      case JSON_TOKEN_NUMBER: return add(number(token));
      case JSON_TOKEN_TRUE: return add(true);
      case JSON_TOKEN_FALSE: return add(false);
      default: return add({});
    }
  }

 private:
  struct Level {
    Document::List items;
    Document::Object members;
    /// inside an object
    std::optional<std::string> key;
  };
  // if it is inlined, g++ 12 warns of uninitialised memory that is not there
  [[gnu::noinline]] void add(Document value) {
    if (levels_.empty())
      document = std::move(value);
    else if (Level &level = levels_.back(); level.key)
      level.members.emplace_back(std::move(*level.key), std::move(value));
    else
      level.items.push_back(std::move(value));
  }
  std::vector<Level> levels_;
};

// The parser's callbacks, called by C code: errors leave them as ERRORs.
#if PG_VERSION_NUM >= 160000
using ParseResult = JsonParseErrorType;
constexpr ParseResult parsed = JSON_SUCCESS;
#else
using ParseResult = void;
#define parsed
#endif

template <class F> void build(void *state, F step) {
  CHECK_FOR_INTERRUPTS();
  raising([state, step] { step(*static_cast<Builder *>(state)); });
}

ParseResult open(void *state) {
  build(state, [](Builder &b) { b.open(); });
  return parsed;
}
ParseResult close_object(void *state) {
  build(state, [](Builder &b) { b.close(false); });
  return parsed;
}
ParseResult close_array(void *state) {
  build(state, [](Builder &b) { b.close(true); });
  return parsed;
}
ParseResult key(void *state, char *name, bool) {
  build(state, [name](Builder &b) { b.key(name); });
  return parsed;
}
ParseResult scalar(void *state, char *token, JsonTokenType type) {
  build(state, [token, type](Builder &b) { b.scalar(token, type); });
  return parsed;
}
#undef parsed

void parse(const char *text, Builder *builder) {
  JsonSemAction actions = {};
  actions.semstate = builder;
  actions.object_start = open;
  actions.object_end = close_object;
  actions.array_start = open;
  actions.array_end = close_array;
  actions.object_field_start = key;
  actions.scalar = scalar;
  const int length = int(std::strlen(text));
#if PG_VERSION_NUM >= 170000
  JsonLexContext *const lexer =
      makeJsonLexContextCstringLen(nullptr, text, std::size_t(length), GetDatabaseEncoding(), true);
#else
  JsonLexContext *const lexer =
      makeJsonLexContextCstringLen(const_cast<char *>(text), length, GetDatabaseEncoding(), true);
#endif
  pg_parse_json_or_ereport(lexer, &actions);
}

}  // namespace

Document document_of_json(const char *text) {
  Builder builder;
  guarded([text, &builder] { parse(text, &builder); });
  return std::move(builder.document);
}

Document document_of_jsonb(Datum datum) {
  char *const text = guarded([datum] {
    Jsonb *const jsonb = DatumGetJsonbP(datum);
    return JsonbToCString(nullptr, &jsonb->root, int(VARSIZE(jsonb)));
  });
  Document document = document_of_json(text);
  pfree(text);
  return document;
}

Datum jsonb_of(const Document &document) {
  const std::string text = document.to_json();
  const char *const chars = text.c_str();
  const std::size_t size = text.size();
  return guarded([chars, size] {
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(server_of_utf8(chars, size)));
  });
}

}  // namespace bayes::pg
