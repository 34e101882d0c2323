// Conversion of PostgreSQL's arrays and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// A row's elements must be finite and no larger than this, so that their squares and sums of
/// squares are.
inline constexpr double largest_element = 1e150;

/// Is a value of this type a number that number_of() reads? Domains: ask for the base type.
bool is_number_type(Oid type);
/// booleans are 1 and 0; may throw Pending
double number_of(Datum value, Oid type);

/// A number in a message.
std::string format_number(double x);

/// A text in a message, UTF-8: whole characters at its beginning if it is long.
std::string abbreviated(std::string_view text);

/// Throws: a value of row `row` (from 1, 0 for the row of a scalar function), in words "element 3
/// of row 2", is NULL (none), NaN, infinite or huge.
[[noreturn]] void refuse_value(std::optional<double> x, const std::string &where, std::int64_t row);

/// For hints of errors about a NaN.
inline constexpr const char *null_of_nan =
    "Missing values are NULL; use NULLIF(column, 'NaN') to convert NaN.";

/// A row with a NULL raises an error (error), is left out (skip), or gets a NaN there (keep): that
/// is how kernels see a missing element. NaN and infinity are errors, except that skip leaves out
/// such rows too. skip_null leaves out only rows with a NULL or an unknown label; a NaN is an
/// error.
enum class Missing : char { error, skip, keep, skip_null };

/// Is every number finite and no larger than largest_element?
bool all_usable(std::span<const double> x);

/// of this type, or of its base type; may throw Pending
bool is_array_type(Oid type);
/// Has this non-null array no elements?
bool is_empty_array(Datum array);

/// Reads arrays of numbers (or booleans) as rows, one after another.
class ArrayReader {
 public:
  /// The elements of a non-null array, each checked. The span points into the datum itself or into
  /// this reader, and stays valid until the next call or until the datum goes. nullopt if an
  /// element is NULL, NaN or infinite and `missing` is skip. Throws Error naming element and row
  /// (from 1; 0: a scalar function's only row).
  std::optional<std::span<const double>> read(Datum array, std::int64_t row, Missing missing);

 private:
  std::span<const double> copy(const char *array, std::size_t size, std::int64_t row);
  void unpack(const char *array, std::size_t size);
  std::span<const double> keep_missing(std::span<const double> x, std::int64_t row);
  std::vector<double> buffer_;
  /// parallel to buffer_; empty if no element is NULL
  std::vector<bool> nulls_;
};

/// Throws Error(array_shape) naming both lengths. `expected_by` says where the expected length
/// comes from.
[[noreturn]] void wrong_length(std::size_t length, std::size_t expected, const char *expected_by,
                               std::int64_t row);

/// May the caller run this function? As the executor asks for functions that a query names. Raises.
void require_execute(Oid function);

}  // namespace bayes::pg
