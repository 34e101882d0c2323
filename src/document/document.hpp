// A JSON-like value with exact doubles and tensors.
//
// Options are read from a Document, and models are written as one. Its byte form is flat,
// little-endian and checked on reading; its text form is JSON in which every double has the fewest
// digits that read back to the same bits, and the doubles that JSON lacks are the strings "NaN",
// "Infinity", "-Infinity" and "-0".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// Numbers in a rectangular array, the last index running fastest.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  bool operator==(const Tensor &) const = default;
};

class BAYES_API Document {
 public:
  using Member = std::pair<std::string, Document>;
  using Object = std::vector<Member>;  // in the order of insertion; keys are unique
  using List = std::vector<Document>;

  // Out of line: many files make documents, and each would compile the variant anew.
  Document();  // null
  Document(bool value);
  Document(std::int64_t value);
  Document(int value);
  Document(double value);
  Document(const char *value);
  Document(std::string value);
  Document(Tensor value);
  Document(List value);
  Document(Object value);
  Document(const Document &);
  Document(Document &&) noexcept;
  Document &operator=(const Document &);
  Document &operator=(Document &&) noexcept;
  ~Document();
  static Document object();

  bool is_null() const { return value_.index() == 0; }
  // bool, int64_t, double, string, Tensor, List, Object
  template <class T> const T *as() const;

  /// The member of an object, or nullptr (also if this is no object).
  const Document *find(std::string_view key) const;
  /// Adds or replaces a member; a null Document becomes an object first.
  Document &set(std::string_view key, Document value);
  /// Sets every member of an object.
  Document &set_all(const Document &members);

  /// "null", "boolean", "integer", "number", "string", "array of numbers", "array" or "object".
  const char *kind() const;

  std::string to_json() const;
  /// The size of to_json() in bytes in a COPY file, where backslashes are doubled.
  std::size_t copied_json_size() const;

  /// Appends the byte form.
  void to_bytes(std::string &out) const;
  /// Reads the byte form. Throws Error(invalid_binary) for anything that to_bytes cannot have
  /// written; takes time and memory in proportion to the input, whatever sizes it claims; nesting
  /// is limited to 32.
  static Document from_bytes(std::string_view bytes);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor, List, Object>
      value_;
};

/// Appends a text as a string of JSON; bytes beyond ASCII are copied. Polls.
BAYES_API void append_json(std::string &out, std::string_view text);

extern template const bool *Document::as() const;
extern template const std::int64_t *Document::as() const;
extern template const double *Document::as() const;
extern template const std::string *Document::as() const;
extern template const Tensor *Document::as() const;
extern template const Document::List *Document::as() const;
extern template const Document::Object *Document::as() const;

// Lists in their byte form, which are put together without being read.

/// The beginning of the byte form of a list, before its elements.
using ListHead = std::array<char, 8>;
/// The beginning of the list that has the elements of both of these, which follow it as they are.
/// Throws Error(invalid_binary) unless both begin as lists do; elements are not looked at.
BAYES_API ListHead joined_list_head(std::string_view first, std::string_view second);

// The number of values of a tensor.

/// The number of values in a tensor of this shape; -1 if the shape is invalid or its size above
/// `most`.
inline std::int64_t tensor_size(const std::vector<std::int64_t> &shape, std::int64_t most) {
  if (shape.size() == 1 && shape[0] == 0) return 0;
  std::int64_t size = shape.empty() ? -1 : 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || extent > most / size) return -1;
    size *= extent;
  }
  return size;
}

}  // namespace bayes
