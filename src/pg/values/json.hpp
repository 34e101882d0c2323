// JSON and Documents.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "document/document.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {

/// Reads JSON text, a C string, with PostgreSQL's own parser. Numbers without fraction and exponent
/// become integers, others doubles; arrays of numbers that are rectangular become tensors; inside
/// them the strings "NaN", "Infinity", "-Infinity" and "-0" are numbers too. A Document written as
/// JSON is read back as the same Document. Takes a small multiple of the text's size in memory.
///
/// Throws Error(invalid_text) for text that is not JSON, is nested deeper than 32 levels, repeats a
/// key, or has too many values (not counting numbers in tensors): more than one per 12 bytes of
/// text, where the limit is at least 1 million and at most 12 million. Throws Error(numeric) for a
/// number beyond the range of doubles.
Document document_of_json(const char *text);

/// The same for a jsonb, in any varlena form.
Document document_of_jsonb(Datum jsonb);

/// A Document as jsonb.
Datum jsonb_of(const Document &document);

/// A jsonb object, member by member.
class JsonbObject {
 public:
  explicit JsonbObject(Datum jsonb) : plain_(jsonb) {}
  bool is_object() const { return JsonContainerIsObject(root()); }
  /// the kind of the value if it is not an object, for messages
  const char *form() const { return JsonContainerIsScalar(root()) ? "a single value" : "an array"; }
  /// its text, as UTF-8
  std::string json() const;
  /// Calls take(key, value) for every member of an object; keys are in the server's encoding.
  void each(const std::function<void(std::string_view key, const JsonbValue &value)> &take) const;

 private:
  JsonbContainer *root() const { return &reinterpret_cast<Jsonb *>(plain_.get())->root; }
  Detoasted plain_;
};

/// The value as a number, infinite beyond the range of doubles; nullopt if it is not a number.
std::optional<double> number_in(const JsonbValue &value);
/// The kind of a value that is not a number, for messages: "a string", "null".
const char *form_of(const JsonbValue &value);

}  // namespace bayes::pg
