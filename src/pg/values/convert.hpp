// Conversion of PostgreSQL's arrays and numbers; new values of variable length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Elements of rows must be finite with at most this absolute value, so that their squares and sums
/// of squares are finite.
inline constexpr double max_abs_element = 1e150;

/// Is this a type of numbers that number_of() reads? For a domain, pass its base type.
bool is_number_type(Oid type);
/// The number of a value; booleans are 1 and 0. May throw Pending.
double number_of(Datum value, Oid type);
/// Throws Error: elements of a row that is an array are of a type that number_of() does not read.
[[noreturn]] void refuse_elements();

/// A number for a message.
std::string format_number(double x);

/// A text (UTF-8) for a message: if it is longer than 80 bytes, its first whole characters,
/// followed by "...".
std::string abbreviated(std::string_view text);

/// Throws Error for a value that is NULL (nullopt), NaN, infinite or too large. `where`: its place
/// in words, as "element 3 of row 2"; `row`: from 1, or 0 for the only row of a scalar function.
[[noreturn]] void refuse_value(std::optional<double> x, const std::string &where, std::int64_t row);

/// The hint of errors about a NaN.
inline constexpr const char *nan_hint =
    "Missing values are NULL; use NULLIF(column, 'NaN') to convert NaN.";

/// Treatment of rows with a NULL: an error (error); the row is skipped (skip); or the element
/// becomes NaN, which kernels take as missing (keep). NaN and infinity are errors, but skip also
/// skips such rows. skip_null skips only rows with a NULL or an unknown label; a NaN is an error.
enum class Missing : char { error, skip, keep, skip_null };

/// Is every number finite, with an absolute value of at most max_abs_element?
bool all_usable(std::span<const double> x);

/// Is this an array type, or a domain over one? May throw Pending.
bool is_array_type(Oid type);
/// Has this non-null array no elements?
bool is_empty_array(Datum array);

/// Reads arrays of numbers (or booleans) as rows, one after another.
class ArrayReader {
 public:
  /// The elements of a non-null array, each checked. The span points into the datum itself or into
  /// this reader, and stays valid until the next call or until the datum is freed. nullopt if the
  /// row is to be skipped because of `missing`. Throws Error naming the element and the row (`row`:
  /// from 1; 0: the only row of a scalar function).
  std::optional<std::span<const double>> read(Datum array, std::int64_t row, Missing missing);

 private:
  std::span<const double> copy(const char *array, std::size_t size, std::int64_t row);
  void unpack(const char *array, std::size_t size);
  std::span<const double> keep_missing(std::span<const double> x, std::int64_t row);
  std::vector<double> buffer_;
  /// for every element of buffer_, whether it is NULL; empty if none is
  std::vector<bool> nulls_;
};

/// Throws Error(array_shape) naming both lengths. `expected_by` says where the expected length
/// comes from.
[[noreturn]] void wrong_length(std::size_t length, std::size_t expected, const char *expected_by,
                               std::int64_t row);

/// Checks that the caller may execute the function, as the executor does for functions named in a
/// query. Raises if not.
void require_execute(Oid function);

// New values of variable length.

/// maximum size of the data of a PostgreSQL value, in bytes
inline constexpr std::size_t max_varlena_bytes = MaxAllocSize - VARHDRSZ;

/// Copies bytes, and polls.
void copy_bytes(char *to, std::string_view bytes);

/// A new value in CurrentMemoryContext, of `max_varlena_bytes` bytes at most.
Datum new_varlena(std::string_view bytes);

}  // namespace bayes::pg
