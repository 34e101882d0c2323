#include "pg/values/array_elements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

/// codes of integers below this are stored in an array
constexpr std::int64_t max_flat = 16384;
/// largest number of cached codes of other values
constexpr std::size_t max_others = 65536;

SequenceElements kind_of(Oid base) {
  switch (base) {
    case INT2OID:
    case INT4OID:
    case INT8OID: return SequenceElements::integers;
    case BOOLOID: return SequenceElements::booleans;
    default: return is_number_type(base) ? SequenceElements::numbers : SequenceElements::symbols;
  }
}

/// Fixed values of the settings that the text of a value may depend on: the names of dates and
/// numbers in an IMMUTABLE function must not depend on the session's settings.
constexpr const char *fixed_settings[][2] = {
    {"datestyle", "ISO, YMD"},     {"timezone", "UTC"},
    {"intervalstyle", "postgres"}, {"bytea_output", "hex"},
    {"lc_monetary", "C"},          {"extra_float_digits", "1"},
    {"search_path", ""},           {"quote_all_identifiers", "off"}};
/// the bits of these settings, in the same order; by_any: all of them
constexpr unsigned by_datestyle = 1, by_timezone = 2, by_intervalstyle = 4, by_bytea_output = 8,
                   by_monetary = 16, by_digits = 32, by_any = 255;

/// The settings that the text of a type's values depends on, as bits.
unsigned settings_of(Oid base) {
  switch (base) {
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case NAMEOID:
    case CHAROID:
    case NUMERICOID:
    case OIDOID:
    case UUIDOID:
    case INETOID:
    case CIDROID:
    case MACADDROID:
    case MACADDR8OID:
    case BITOID:
    case VARBITOID:
    case JSONOID:
    case JSONBOID:
    case UNKNOWNOID: return 0;
    case FLOAT4OID:
    case FLOAT8OID: return by_digits;
    case DATEOID:
    case TIMESTAMPOID: return by_datestyle;
    case TIMESTAMPTZOID: return by_datestyle | by_timezone;
    case INTERVALOID: return by_intervalstyle;
    case BYTEAOID: return by_bytea_output;
    case CASHOID: return by_monetary;
    default: return kind_of(base) != SequenceElements::symbols || type_is_enum(base) ? 0 : by_any;
  }
}

/// Raises: after an ERROR the end of the transaction restores the session's settings.
const char *text_under_fixed_settings(FmgrInfo *output, Datum value, unsigned settings) {
  const int level = NewGUCNestLevel();
  for (std::size_t i = 0; i < std::size(fixed_settings); ++i)
    if (settings >> i & 1)
      set_config_option(fixed_settings[i][0], fixed_settings[i][1], PGC_USERSET, PGC_S_SESSION,
                        GUC_ACTION_SAVE, true, 0, false);
  const char *const text = OutputFunctionCall(output, value);
  AtEOXact_GUC(true, level);
  return text;
}

[[noreturn]] void cut_short() {
  throw Error(Errc::internal, "array is shorter than its header says");
}

}  // namespace

OpenArray::OpenArray(Datum array) : original_(DatumGetPointer(array)) {
  array_ = guarded([array] { return DatumGetArrayTypeP(array); });
}

OpenArray::~OpenArray() {
  if (array_ != original_) pfree(array_);
}

bool OpenArray::empty() const {
  if (dimensions() == 0) return true;
  for (int i = 0; i < dimensions(); ++i)
    if (size(i) == 0) return true;
  return false;
}

void ElementType::look_up(Oid type) {
  type_ = InvalidOid;  // until the lookup is complete
  forget();
  guarded([this, type] {
    base_ = getBaseType(type);
    get_typlenbyvalalign(type, &length_, &by_value_, &align_);
    bool varlena;
    Oid output_of_text;
    getTypeOutputInfo(type, &output_function_, &varlena);
    getTypeOutputInfo(TEXTOID, &output_of_text, &varlena);
    // The text of values of these types is their bytes.
    text_ = length_ == -1 && (base_ == TEXTOID || base_ == VARCHAROID || base_ == BPCHAROID ||
                              output_function_ == output_of_text);
    settings_ = settings_of(base_);
    enum_ = type_is_enum(base_);
    output_.fn_oid = InvalidOid;
  });
  kind_ = kind_of(base_);
  type_ = type;
}

void ElementType::forget() {
  flat_.clear();
  if (!others_.empty()) others_.clear();
}

std::string ElementType::name() const {
  const Oid type = type_;
  return guarded([type] { return format_type_be(type); });
}

const double *ElementType::known_code(std::int64_t value) const {
  if (value >= 0 && value < max_flat)
    return std::size_t(value) < flat_.size() && flat_[std::size_t(value)] != unset
               ? &flat_[std::size_t(value)]
               : nullptr;
  const auto found = others_.find(value);
  return found == others_.end() ? nullptr : &found->second;
}

double ElementType::remember(std::int64_t value, double code) {
  if (value >= 0 && value < max_flat) {
    const std::size_t at = std::size_t(value);
    if (at >= flat_.size())
      flat_.resize(std::min(std::size_t(max_flat), std::max(at + 1, 2 * flat_.size())), unset);
    flat_[at] = code;
  } else {
    // nearly all values differ: caching gains nothing and takes memory
    if (others_.size() >= max_others) others_.clear();
    others_.emplace(value, code);
  }
  return code;
}

double ElementType::other_integer(std::int64_t value, SymbolCodes &codes) {
  if (const double *const code = known_code(value)) return *code;
  return remember(value, codes.code(text_of_integer(value)));
}

std::string_view ElementType::text_of_integer(std::int64_t value) {
  digits_.resize(24);
  const auto written = std::to_chars(digits_.data(), digits_.data() + digits_.size(), value);
  return {digits_.data(), std::size_t(written.ptr - digits_.data())};
}

std::string_view ElementType::text_by_output(Datum value) {
  if (scratch_) MemoryContextReset(scratch_);
  const char *const text = guarded([this, value] {
    if (!scratch_)
      scratch_ = AllocSetContextCreate(context_, "pg_bayes symbol", ALLOCSET_SMALL_SIZES);
    if (!OidIsValid(output_.fn_oid)) fmgr_info_cxt(output_function_, &output_, context_);
    const MemoryContext before = MemoryContextSwitchTo(scratch_);
    const char *const written = settings_ == 0
                                    ? OutputFunctionCall(&output_, value)
                                    : text_under_fixed_settings(&output_, value, settings_);
    MemoryContextSwitchTo(before);
    return written;
  });
  return utf8_view(text, converted_);
}

std::optional<std::string_view> ElementType::text(Datum value) {
  switch (base_) {
    case INT2OID: return text_of_integer(DatumGetInt16(value));
    case INT4OID: return text_of_integer(DatumGetInt32(value));
    case INT8OID: return text_of_integer(DatumGetInt64(value));
    case FLOAT4OID:
      if (std::isnan(DatumGetFloat4(value))) return std::nullopt;
      break;
    case FLOAT8OID:
      if (std::isnan(DatumGetFloat8(value))) return std::nullopt;
      break;
    default: break;
  }
  const auto *const datum = static_cast<const char *>(DatumGetPointer(value));
  std::string_view text =
      text_ && !VARATT_IS_EXTERNAL(datum) && !VARATT_IS_COMPRESSED(datum)
          ? utf8_view({VARDATA_ANY(datum), std::size_t(VARSIZE_ANY_EXHDR(datum))}, converted_)
          : text_by_output(value);
  if (base_ == NUMERICOID) {
    if (text == "NaN") return std::nullopt;
    if (text.find('.') != text.npos) {
      text = text.substr(0, text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.remove_suffix(1);
    }
  }
  if ((base_ == FLOAT4OID || base_ == FLOAT8OID) && text == "-0") return "0";
  // Trailing spaces of char(n) are not part of the name, as in PostgreSQL's cast to text.
  if (base_ == BPCHAROID) text.remove_suffix(text.size() - 1 - text.find_last_not_of(' '));
  return text;
}

double ElementType::symbol(Datum value, SymbolCodes &codes) {
  switch (base_) {
    case INT2OID: return integer_symbol(DatumGetInt16(value), codes);
    case INT4OID: return integer_symbol(DatumGetInt32(value), codes);
    case INT8OID: return integer_symbol(DatumGetInt64(value), codes);
    default: break;
  }
  if (enum_ && changes_ != enum_changes) {
    forget();
    changes_ = enum_changes;
  }
  if (by_value_)
    if (const double *const code = known_code(std::int64_t(value))) return *code;
  const auto name = text(value);
  const double code = name ? codes.code(*name) : code_of_nan;
  return by_value_ && name ? remember(std::int64_t(value), code) : code;
}

/// Elements whose width equals their alignment are contiguous.
template <class T, class F> void ArrayWalk::fixed(std::span<double> out, F f) {
  const auto load = [this] {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  };
  if (!nulls_) {
    if (std::size_t(end_ - at_) < out.size() * sizeof(T)) cut_short();
    for (double &x : out) x = f(load());
    return;
  }
  for (double &x : out) {
    if (next_is_null()) {
      x = missing_value;
    } else {
      if (std::size_t(end_ - at_) < sizeof(T)) cut_short();
      x = f(load());
    }
  }
}

NullableDatum ArrayWalk::next() {
  if (next_is_null()) return {Datum(0), true};
  if (at_ >= end_) cut_short();
  char *const here = const_cast<char *>(at_);
  const char *const behind =
      reinterpret_cast<const char *>(att_addlength_pointer(here, type_.length_, here));
  at_ = reinterpret_cast<const char *>(att_align_nominal(behind, type_.align_));
  return {Datum(fetch_att(here, type_.by_value_, type_.length_)), false};
}

/// Elements of any type.
template <class F> void ArrayWalk::each(std::span<double> out, F f) {
  for (double &x : out) {
    const NullableDatum element = next();
    x = element.isnull ? missing_value : f(element.value);
  }
}

std::optional<std::size_t> ArrayWalk::next(std::span<double> out) {
  const std::size_t first = index_;
  read(out);
  // Among names, a NaN in `out` may also stand for a name that the model does not know: NaN
  // elements have a code of their own.
  if (codes_) {
    const auto nan = std::find(out.begin(), out.end(), code_of_nan);
    if (nan == out.end()) return std::nullopt;
    return first + std::size_t(nan - out.begin());
  }
  bool any = false;
  for (const double x : out) any |= x != x;
  for (std::size_t i = 0; any && i < out.size(); ++i)
    if (std::isnan(out[i]) && !is_null(first + i)) return first + i;
  return std::nullopt;
}

void ArrayWalk::read(std::span<double> out) {
  ElementType &type = type_;
  if (SymbolCodes *const codes = codes_) {
    const auto integer = [&type, codes](std::int64_t value) {
      return type.integer_symbol(value, *codes);
    };
    switch (type.base()) {
      case INT2OID: return fixed<std::int16_t>(out, integer);
      case INT4OID: return fixed<std::int32_t>(out, integer);
      case INT8OID: return fixed<std::int64_t>(out, integer);
      default: return each(out, [&type, codes](Datum value) { return type.symbol(value, *codes); });
    }
  }
  const auto number = [](auto value) { return double(value); };
  switch (type.base()) {
    case FLOAT8OID: return fixed<double>(out, number);
    case FLOAT4OID: return fixed<float>(out, number);
    case INT2OID: return fixed<std::int16_t>(out, number);
    case INT4OID: return fixed<std::int32_t>(out, number);
    case INT8OID: return fixed<std::int64_t>(out, number);
    case BOOLOID: return fixed<std::int8_t>(out, number);
    default: return each(out, [&type](Datum value) { return number_of(value, type.base()); });
  }
}

}  // namespace bayes::pg
