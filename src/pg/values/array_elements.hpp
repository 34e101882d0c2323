// Reads the elements of arrays of any type as numbers, without making a Datum for each.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "markov/hmm.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/catalog_changes.hpp"

namespace bayes::pg {

inline constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();
/// The code of a NaN among names: it is neither a name nor a missing value.
inline constexpr double code_of_nan = std::numeric_limits<double>::infinity();

/// A non-null array, detoasted if necessary.
class OpenArray {
 public:
  explicit OpenArray(Datum array);
  ~OpenArray();
  OpenArray(const OpenArray &) = delete;
  OpenArray &operator=(const OpenArray &) = delete;

  Oid element_type() const { return ARR_ELEMTYPE(array_); }
  int dimensions() const { return ARR_NDIM(array_); }
  /// the extent of a dimension, which counts from 0
  int size(int dimension) const { return ARR_DIMS(array_)[dimension]; }
  bool empty() const;
  const char *data() const { return ARR_DATA_PTR(array_); }
  const char *end() const { return reinterpret_cast<const char *>(array_) + VARSIZE(array_); }
  /// nullptr if no element is NULL
  const uint8 *null_bitmap() const { return ARR_NULLBITMAP(array_); }

 private:
  const void *original_;
  ArrayType *array_;
};

/// Maps names (UTF-8) to codes; NaN for a name without a code.
class SymbolCodes {
 public:
  virtual ~SymbolCodes() = default;
  virtual double code(std::string_view name) = 0;
};

/// The element type of arrays, and the names of its values: the text of its output function, with
/// DateStyle ISO, IntervalStyle postgres, TimeZone UTC, extra_float_digits 1, bytea_output hex,
/// lc_monetary C, an empty search_path and quote_all_identifiers off, whatever the session's
/// settings are. Equal numbers have one name: numeric 1.0 is 1, and -0 is 0.
///
/// Codes of pass-by-value elements are cached, those of enums until an enum is changed: call
/// forget() before using other codes.
class ElementType {
 public:
  /// PostgreSQL's allocations go below `context`, which must outlive this.
  explicit ElementType(MemoryContext context) : context_(context) {}
  ElementType(const ElementType &) = delete;
  ElementType &operator=(const ElementType &) = delete;

  void use(Oid type) {
    if (type != type_) look_up(type);
  }
  void forget();
  SequenceElements kind() const { return kind_; }
  /// the type, or the base type of a domain
  Oid base() const { return base_; }
  /// for messages
  std::string name() const;

  /// A value's name, UTF-8, valid until the next call; nullopt for a NaN.
  std::optional<std::string_view> text(Datum value);
  /// the name of a value of an integer type, valid until the next call
  std::string_view text_of_integer(std::int64_t value);
  /// The code of a value's name; code_of_nan for a NaN.
  double symbol(Datum value, SymbolCodes &codes);
  double integer_symbol(std::int64_t value, SymbolCodes &codes) {
    if (value >= 0 && std::size_t(value) < flat_.size() && flat_[std::size_t(value)] != unset)
      return flat_[std::size_t(value)];
    return other_integer(value, codes);
  }

 private:
  friend class ArrayWalk;
  static constexpr double unset = -1;
  void look_up(Oid type);
  double other_integer(std::int64_t value, SymbolCodes &codes);
  std::string_view text_by_output(Datum value);
  const double *known_code(std::int64_t value) const;
  double remember(std::int64_t value, double code);

  MemoryContext context_, scratch_ = nullptr;
  Oid type_ = InvalidOid, base_ = InvalidOid;
  SequenceElements kind_ = SequenceElements::symbols;
  std::int16_t length_ = 0;
  bool by_value_ = false, text_ = false, enum_ = false;
  /// enum_changes when codes were last forgotten
  std::uint64_t changes_ = 0;
  /// the settings that the text of the type's values depends on, as bits
  unsigned settings_ = 0;
  char align_ = 0;
  Oid output_function_ = InvalidOid;
  FmgrInfo output_ = {};
  std::string digits_, converted_;

  /// codes of small integers
  std::vector<double> flat_;
  /// codes of other values
  std::unordered_map<std::int64_t, double> others_;
};

/// Iterates over an array's elements.
class ArrayWalk {
 public:
  /// `type`: the element type of the array. `codes`: if given, elements are names, which it maps to
  /// codes; else they must be numbers or booleans.
  ArrayWalk(const OpenArray &array, ElementType &type, SymbolCodes *codes)
      : type_(type),
        codes_(codes),
        at_(array.data()),
        end_(array.end()),
        nulls_(array.null_bitmap()) {}

  /// Reads the next out.size() elements, which must exist; a NULL becomes NaN. Returns the index in
  /// the array of the first element that is a NaN itself, if there is one.
  std::optional<std::size_t> next(std::span<double> out);
  /// The next element as a Datum; there must be one.
  NullableDatum next();

 private:
  bool is_null(std::size_t index) const {
    return nulls_ && !(nulls_[index / 8] & (1 << (index % 8)));
  }
  bool next_is_null() { return is_null(index_++); }
  void read(std::span<double> out);
  template <class T, class F> void fixed(std::span<double> out, F f);
  template <class F> void each(std::span<double> out, F f);

  ElementType &type_;
  SymbolCodes *codes_;
  const char *at_, *end_;
  const uint8 *nulls_;
  std::size_t index_ = 0;
};

}  // namespace bayes::pg
