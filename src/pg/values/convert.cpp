#include "pg/values/convert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/message.hpp"
#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

/// An array's header, which may lie at any address: a short varlena is not aligned.
struct Header {
  int dimensions;
  /// 0 if there is no null bitmap
  int data_offset;
  Oid element_type;
  /// extent of the first dimension
  int length;
};

/// `body` is what follows the varlena header; offsets in an array count from 4 bytes before it.
Header read_header(const char *body, std::size_t size) {
  struct {
    std::int32_t dimensions, data_offset;
    Oid element_type;
  } raw;
  if (size < sizeof raw) throw Error(Errc::internal, "array is shorter than its header");
  std::memcpy(&raw, body, sizeof raw);
  Header header = {raw.dimensions, raw.data_offset, raw.element_type, 0};
  if (header.dimensions >= 1) std::memcpy(&header.length, body + sizeof raw, sizeof(std::int32_t));
  return header;
}

std::string name_of_row(std::int64_t row) {
  return row > 0 ? message("row {}", row) : std::string("the array");
}

void check_shape(const Header &header, std::int64_t row) {
  if (header.dimensions == 1 && header.length >= 1) return;
  if (header.dimensions == 0 || header.length == 0)
    throw Error(Errc::array_shape, message("{} is an empty array", name_of_row(row)),
                "A row of numbers has at least one element.");
  throw Error(Errc::array_shape,
              message("{} is an array of {} dimensions", name_of_row(row), header.dimensions),
              "A row of numbers is a one-dimensional array.");
}

/// Copies contiguous elements of fixed size at any address.
template <class T>
bool copy_elements(const char *from, std::size_t bytes, std::vector<double> &out) {
  if (bytes < out.size() * sizeof(T))
    throw Error(Errc::internal, "array is shorter than its header says");
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof value);
    out[i] = double(value);
  }
  return true;
}

/// False for a type that only PostgreSQL's functions can read.
bool copy_elements(Oid type, const char *from, std::size_t bytes, std::vector<double> &out) {
  switch (type) {
    case FLOAT8OID: return copy_elements<double>(from, bytes, out);
    case FLOAT4OID: return copy_elements<float>(from, bytes, out);
    case INT2OID: return copy_elements<std::int16_t>(from, bytes, out);
    case INT4OID: return copy_elements<std::int32_t>(from, bytes, out);
    case INT8OID: return copy_elements<std::int64_t>(from, bytes, out);
    case BOOLOID: return copy_elements<std::int8_t>(from, bytes, out);
    default: return false;
  }
}

/// `x`: nullopt for NULL; `element`: from 0
void check_element(std::optional<double> x, std::size_t element, std::int64_t row) {
  if (!x || !(std::fabs(*x) <= max_abs_element))
    refuse_value(x, message("element {} of {}", element + 1, name_of_row(row)), row);
}

bool any_missing(std::span<const double> x) {
  for (const double v : x)
    if (!std::isfinite(v)) return true;
  return false;
}

}  // namespace

bool is_number_type(Oid type) {
  return type == FLOAT8OID || type == FLOAT4OID || type == INT2OID || type == INT4OID ||
         type == INT8OID || type == NUMERICOID;
}

double number_of(Datum value, Oid type) {
  switch (type) {
    case FLOAT8OID: return DatumGetFloat8(value);
    case FLOAT4OID: return double(DatumGetFloat4(value));
    case INT2OID: return DatumGetInt16(value);
    case INT4OID: return DatumGetInt32(value);
    case INT8OID: return double(DatumGetInt64(value));
    case BOOLOID: return DatumGetBool(value) ? 1 : 0;
    case UNKNOWNOID:  // a literal within ROW(...)
      return guarded([value] { return DatumGetFloat8(DirectFunctionCall1(float8in, value)); });
    case NUMERICOID:
      return guarded([value] {
        // Detoasting copies a stored numeric. The copy is freed here, as a window function's memory
        // context may last for a whole partition.
        struct varlena *const plain = PG_DETOAST_DATUM(value);
        const double x =
            DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PointerGetDatum(plain)));
        if (PointerGetDatum(plain) != value) pfree(plain);
        return x;
      });
    default: refuse_elements();
  }
}

void refuse_elements() {
  throw Error(Errc::invalid_argument, "elements of an array must be numbers",
              "Rows that contain texts are given as records.",
              "Give a record: SELECT f(r) FROM (SELECT a, b FROM t) AS r.");
}

std::string format_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  // Six digits would round large whole numbers, such as codes and counts.
  if (x == std::floor(x) && std::fabs(x) < 1e15) return message("{}", x);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

std::string abbreviated(std::string_view text) {
  constexpr std::size_t most = 80;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

void refuse_value(std::optional<double> x, const std::string &where, std::int64_t row) {
  if (!x || !std::isfinite(*x))
    throw Error(x ? Errc::invalid_argument : Errc::null_value,
                message("{} is {}", where, x ? format_number(*x) : "NULL"), {},
                x && std::isinf(*x) ? "Leave such rows out with WHERE."
                : x                 ? nan_hint
                : row > 0
                    ? "Use option missing = marginalize (if the model has it) or missing = skip."
                    : "Fit the model without option missing = error; a regression gives NULL for "
                      "such rows.");
  throw Error(Errc::numeric,
              message("{} is {}, too large to compute with", where, format_number(*x)),
              "The largest absolute value that a row may hold is 1e150.",
              "Choose another unit of measurement.");
}

void wrong_length(std::size_t length, std::size_t expected, const char *expected_by,
                  std::int64_t row) {
  const auto elements = [](std::size_t n) {
    return message("{} {}", n, n == 1 ? "element" : "elements");
  };
  throw Error(Errc::array_shape,
              message("{} has {}, but {} has {}", name_of_row(row), elements(length), expected_by,
                      expected),
              "All rows of one model have the same length.");
}

std::optional<std::span<const double>> ArrayReader::read(Datum array, std::int64_t row,
                                                         Missing missing) {
  const auto *const datum = static_cast<const char *>(DatumGetPointer(array));
  std::span<const double> x;
  nulls_.clear();
  if (VARATT_IS_4B_U(datum)) {
    const char *const body = VARDATA_4B(datum);
    const std::size_t size = VARSIZE_4B(datum) - VARHDRSZ;
    const Header header = read_header(body, size);
    const char *const data = datum + ARR_OVERHEAD_NONULLS(1);
    const bool in_place = header.element_type == FLOAT8OID && header.dimensions == 1 &&
                          header.length >= 1 && header.data_offset == 0 &&
                          reinterpret_cast<std::uintptr_t>(data) % alignof(double) == 0;
    x = in_place ? std::span(reinterpret_cast<const double *>(data), std::size_t(header.length))
                 : copy(body, size, row);
  } else if (VARATT_IS_1B(datum) && !VARATT_IS_1B_E(datum)) {
    x = copy(VARDATA_1B(datum), VARSIZE_1B(datum) - VARHDRSZ_SHORT, row);
  } else {
    auto *const plain = guarded([array] { return PG_DETOAST_DATUM(array); });
    struct Free {
      void *pointer;
      ~Free() { pfree(pointer); }
    } free{plain};
    x = copy(VARDATA_4B(plain), VARSIZE_4B(plain) - VARHDRSZ, row);
  }
  if (nulls_.empty() && all_usable(x)) return x;

  if (missing == Missing::skip && (!nulls_.empty() || any_missing(x))) return std::nullopt;
  if (missing == Missing::skip_null && !nulls_.empty()) return std::nullopt;
  if (missing == Missing::keep) return keep_missing(x, row);
  for (std::size_t i = 0; i < x.size(); ++i)
    check_element(!nulls_.empty() && nulls_[i] ? std::optional<double>() : x[i], i, row);
  return x;
}

// The bits of non-negative doubles, as integers, are in the order of the numbers, with NaN the
// largest: one comparison of integers finds numbers too large, infinity and NaN.
bool all_usable(std::span<const double> x) {
  constexpr auto largest = std::bit_cast<std::int64_t>(max_abs_element);
  constexpr auto magnitude = std::numeric_limits<std::int64_t>::max();
  std::int64_t negative = 0;
  for (const double v : x) negative |= largest - (std::bit_cast<std::int64_t>(v) & magnitude);
  return negative >= 0;
}

bool is_array_type(Oid type) {
  return OidIsValid(type) &&
         guarded([type] { return OidIsValid(get_element_type(getBaseType(type))); });
}

bool is_empty_array(Datum array) {
  const auto *const datum = static_cast<const char *>(DatumGetPointer(array));
  // expanded arrays are, for example, variables of PL/pgSQL
  if (VARATT_IS_EXTERNAL_EXPANDED(datum))
    return guarded([array] { return AARR_NDIM(DatumGetAnyArrayP(array)) == 0; });
  // An empty array has only a header, which is never compressed or stored out of line.
  constexpr std::size_t header = sizeof(ArrayType) - VARHDRSZ;
  if (VARATT_IS_EXTENDED(datum) && !VARATT_IS_SHORT(datum)) return false;
  return VARSIZE_ANY_EXHDR(datum) == header;
}

/// Replaces NULL by NaN; checks other elements.
std::span<const double> ArrayReader::keep_missing(std::span<const double> x, std::int64_t row) {
  if (x.data() != buffer_.data()) buffer_.assign(x.begin(), x.end());
  for (std::size_t i = 0; i < buffer_.size(); ++i) {
    if (!nulls_.empty() && nulls_[i])
      buffer_[i] = std::numeric_limits<double>::quiet_NaN();
    else
      check_element(buffer_[i], i, row);
  }
  return buffer_;
}

/// Copies the elements to buffer_.
std::span<const double> ArrayReader::copy(const char *body, std::size_t size, std::int64_t row) {
  const Header header = read_header(body, size);
  check_shape(header, row);
  constexpr std::size_t offset = ARR_OVERHEAD_NONULLS(1) - VARHDRSZ;
  if (header.data_offset == 0 && size >= offset) {
    buffer_.resize(std::size_t(header.length));
    if (copy_elements(header.element_type, body + offset, size - offset, buffer_)) return buffer_;
  }
  unpack(body, size);
  return buffer_;
}

/// The general case: another element type, or a null bitmap.
void ArrayReader::unpack(const char *body, std::size_t size) {
  struct {
    void *aligned;
    Datum *values;
    bool *nulls;
    int count;
    Oid type;
  } a = {};
  guarded([&a, body, size] {
    a.aligned = palloc(size + VARHDRSZ);
    SET_VARSIZE(a.aligned, size + VARHDRSZ);
    std::memcpy(VARDATA(a.aligned), body, size);
    auto *const array = static_cast<ArrayType *>(a.aligned);
    a.type = ARR_ELEMTYPE(array);
    std::int16_t length;
    bool by_value;
    char align;
    get_typlenbyvalalign(a.type, &length, &by_value, &align);
    deconstruct_array(array, a.type, length, by_value, align, &a.values, &a.nulls, &a.count);
    a.type = getBaseType(a.type);
  });
  buffer_.assign(std::size_t(a.count), 0.0);
  for (int i = 0; i < a.count; ++i) {
    if (!a.nulls[i])
      buffer_[std::size_t(i)] = number_of(a.values[i], a.type);
    else {
      nulls_.resize(std::size_t(a.count));
      nulls_[std::size_t(i)] = true;
    }
  }
  pfree(a.values);
  pfree(a.nulls);
  pfree(a.aligned);
}

// Raises.
void require_execute(Oid function) {
  const AclResult result = may_execute(function, GetUserId());
  if (result != ACLCHECK_OK) aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
  InvokeFunctionExecuteHook(function);
}

void copy_bytes(char *to, std::string_view bytes) {
  constexpr std::size_t between_polls = 1 << 20;
  for (std::size_t at = 0; at < bytes.size(); at += between_polls) {
    poll_interrupts();
    std::memcpy(to + at, bytes.data() + at, std::min(between_polls, bytes.size() - at));
  }
}

Datum new_varlena(std::string_view bytes) {
  auto *const value = guarded([bytes] {
    auto *const out = static_cast<struct varlena *>(palloc(bytes.size() + VARHDRSZ));
    SET_VARSIZE(out, bytes.size() + VARHDRSZ);
    return out;
  });
  copy_bytes(VARDATA(value), bytes);
  return PointerGetDatum(value);
}

}  // namespace bayes::pg
