#include "pg/json.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace bayes::pg {
namespace {

constexpr int deepest = 32;  // as in a Document's byte form

Document number(Numeric numeric) {
  char *const text = guarded([numeric] { return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(numeric))); });
  const char *const end = text + std::strlen(text);
  std::int64_t integer = 0;
  const auto [stop, error] = std::from_chars(text, end, integer);
  const bool whole = error == std::errc() && stop == end;
  const double real = whole ? 0 : std::strtod(text, nullptr);
  const std::string shown = std::isfinite(real) ? std::string() : std::string(text, std::min<std::size_t>(20, std::size_t(end - text)));
  const std::ptrdiff_t digits = end - text;
  pfree(text);
  if (!std::isfinite(real)) throw Error(Errc::numeric, "number " + shown + "... has " + std::to_string(digits) + " digits and is too large for double precision");
  return whole ? Document(integer) : Document(real);
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
      if (&item == &items.front()) tensor.shape.insert(tensor.shape.end(), inner->shape.begin(), inner->shape.end());
      else if (!std::equal(tensor.shape.begin() + 1, tensor.shape.end(), inner->shape.begin(), inner->shape.end())) return items;
      tensor.values.insert(tensor.values.end(), inner->values.begin(), inner->values.end());
    } else if (const auto x = as_number(item); x && tensor.shape.size() == 1) {
      tensor.values.push_back(*x);
    } else {
      return items;
    }
  }
  return tensor;
}

/// Walks a jsonb. Every step of PostgreSQL's iterator may raise (it allocates), so every step is guarded.
class Walk {
 public:
  explicit Walk(Jsonb *jsonb) : iterator_(guarded([jsonb] { return JsonbIteratorInit(&jsonb->root); })) {}

  Document whole() {
    const bool raw_scalar = next() == WJB_BEGIN_ARRAY && value_.val.array.rawScalar;
    if (raw_scalar) {
      next();
      return scalar();
    }
    return container(1);
  }

 private:
  JsonbIteratorToken next() {
    return token_ = guarded([this] { return JsonbIteratorNext(&iterator_, &value_, false); });
  }

  Document scalar() {
    switch (value_.type) {
      case jbvBool: return value_.val.boolean;
      case jbvString: return text();
      case jbvNumeric: return number(value_.val.numeric);
      default: return {};
    }
  }

  std::string text() const { return std::string(value_.val.string.val, std::size_t(value_.val.string.len)); }

  Document element(int depth) { return token_ == WJB_BEGIN_ARRAY || token_ == WJB_BEGIN_OBJECT ? container(depth + 1) : scalar(); }

  Document container(int depth) {
    if (depth > deepest) throw Error(Errc::invalid_text, "JSON is nested deeper than " + std::to_string(deepest) + " levels");
    if (token_ == WJB_BEGIN_ARRAY) {
      Document::List items;
      while (next() != WJB_END_ARRAY) items.push_back(element(depth));
      return list(std::move(items));
    }
    Document::Object members;
    while (next() != WJB_END_OBJECT) {
      std::string key = text();
      next();
      members.emplace_back(std::move(key), element(depth));
    }
    return members;
  }

  JsonbIterator *iterator_;
  JsonbValue value_;
  JsonbIteratorToken token_;
};

}  // namespace

Document document_of_jsonb(Datum datum) {
  return Walk(guarded([datum] { return DatumGetJsonbP(datum); })).whole();
}

Datum jsonb_of(const Document &document) {
  const std::string text = document.to_json();
  const char *const chars = text.c_str();
  return guarded([chars] { return DirectFunctionCall1(jsonb_in, CStringGetDatum(chars)); });
}

}  // namespace bayes::pg
