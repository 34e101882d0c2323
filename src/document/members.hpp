// Reading a model's document: a member that is absent, of the wrong type or out of range is named
// in an Error.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.hpp"

namespace bayes {

/// A number or integer as a double; with `specials` also the strings "NaN", "Infinity", "-Infinity"
/// and "-0", which a document read from JSON has in place of the numbers.
BAYES_API std::optional<double> to_number(const Document &value, bool specials);

/// An integer, or a whole number within its range.
BAYES_API std::optional<std::int64_t> to_integer(const Document &value);

/// A tensor, or a rectangular nested array of what to_number accepts. An empty array is the tensor
/// of shape {0}.
BAYES_API std::optional<Tensor> to_tensor(const Document &value, bool specials);

/// Appends numbers, polling on the way.
void append_numbers(std::vector<double> &to, std::span<const double> from);

/// A value for an error message, abbreviated if it is long.
BAYES_API std::string describe(const Document &value);
/// A number as users write it: 2, not 2.0.
BAYES_API std::string describe_number(double x);
/// "an array of 2 x 3 numbers"; an extent of -1 reads "d".
BAYES_API std::string describe_shape(const std::vector<std::int64_t> &shape);

/// Reads the members of an object in a model's document. Every getter throws Error(invalid_text)
/// naming the member where it is absent, of the wrong type or out of range.
class BAYES_API MemberReader {
 public:
  /// `document` an object, alive as long as the reader; `path` is put before member names in
  /// messages ("prior.").
  explicit MemberReader(const Document &document, std::string path = {});

  /// present and not null
  bool has(std::string_view key) const;
  /// a member of any type; throws only if it is absent
  const Document &value(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) const;
  /// finite and in range
  double number(std::string_view key, double low, double high, bool low_open = false) const;
  /// finite or NaN
  double number_or_nan(std::string_view key) const;
  bool boolean(std::string_view key) const;
  /// not empty
  std::string text(std::string_view key) const;
  /// An array of at least one string; `what`, such as "key", says in messages what each of them is.
  /// Polls.
  std::vector<std::string> texts(std::string_view key, const char *what) const;
  /// The same, in strictly ascending order of bytes.
  std::vector<std::string> rising_texts(std::string_view key, const char *what) const;
  /// Finite numbers with exactly this shape; an extent given as -1 may have any size, including 0.
  Tensor tensor(std::string_view key, const std::vector<std::int64_t> &shape) const;
  MemberReader object(std::string_view key) const;
  /// An object of arbitrary content that the byte form can store; JSON text may have others.
  Document any_object(std::string_view key) const;

  /// For checks beyond those of the getters: throws `member "<path><key>" <what>`.
  [[noreturn]] void reject(std::string_view key, const std::string &what) const;

 private:
  [[noreturn]] void must_be(std::string_view key, const Document &value,
                            const std::string &constraint) const;
  const Document &document_;
  std::string path_;
};

}  // namespace bayes
