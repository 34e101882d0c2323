// The byte form: every value starts with one little-endian word, its tag in the low byte and a
// count above it. Then follow
//   null            nothing (count 0)
//   boolean         nothing (count 0 or 1 is the value)
//   integer, number one word (count 0)
//   string          count bytes of UTF-8 without NUL
//   tensor          count words of shape, then the values, one word each
//   list            count values
//   object          count times: a word with the length of the key, the key, a value
// Each document has exactly one byte form: NaN has one bit pattern (text could not keep others), a
// dimension of size zero is allowed only as the shape {0}, and keys are unique. As every element
// takes at least eight bytes, hostile input cannot make the reader allocate more than a small
// multiple of its own size.

#include "document/document.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"

namespace bayes {
namespace {

enum Tag : std::uint8_t {
  tag_null,
  tag_boolean,
  tag_integer,
  tag_number,
  tag_string,
  tag_tensor,
  tag_list,
  tag_object
};

// nesting depth of arrays and objects; a tensor counts one level per dimension
constexpr int max_nesting = 32;
constexpr std::uint64_t nan_bits = 0x7ff8000000000000;

static_assert(std::numeric_limits<double>::is_iec559);

std::uint64_t little_endian(std::uint64_t word) {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

std::uint64_t load_word(const char *at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return little_endian(word);
}

void store_word(char *at, std::uint64_t word) {
  word = little_endian(word);
  std::memcpy(at, &word, 8);
}

/// UTF-8 (shortest forms only, no surrogates) without NUL, which PostgreSQL's text cannot hold.
bool is_text(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  for (std::size_t i = 0; i < s.size();) {
    const unsigned char lead = byte(i);
    if (lead < 0x80) {
      if (lead == 0) return false;
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || length > s.size() - i) return false;
    for (std::size_t j = 1; j < length; ++j)
      if ((byte(i + j) & 0xc0) != 0x80) return false;
    const unsigned char next = byte(i + 1);
    if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f)) return false;
    if ((lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) return false;
    i += length;
  }
  return true;
}

bool has_repeated_key(const Document::Object &object) {
  std::vector<std::string_view> keys;
  keys.reserve(object.size());
  for (const auto &member : object) keys.push_back(member.first);
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

class Writer {
 public:
  explicit Writer(std::string &out) : out_(out) {}

  void value(const Document &document, int depth) {
    poll_here();
    if (document.is_null()) {
      head(tag_null, 0);
    } else if (const auto *boolean = document.as<bool>()) {
      head(tag_boolean, *boolean ? 1 : 0);
    } else if (const auto *integer = document.as<std::int64_t>()) {
      head(tag_integer, 0);
      word(static_cast<std::uint64_t>(*integer));
    } else if (const auto *number = document.as<double>()) {
      head(tag_number, 0);
      numbers({number, 1});
    } else if (const auto *string = document.as<std::string>()) {
      head(tag_string, string->size());
      text(*string);
    } else if (const auto *tensor = document.as<Tensor>()) {
      check_nesting(depth +
                    static_cast<int>(std::min<std::size_t>(tensor->shape.size(), max_nesting + 1)));
      const auto size = static_cast<std::int64_t>(tensor->values.size());
      if (tensor_size(tensor->shape, std::numeric_limits<std::int64_t>::max()) != size)
        throw Error(Errc::internal,
                    "a tensor has a number of values that does not match its shape");
      head(tag_tensor, tensor->shape.size());
      for (const std::int64_t extent : tensor->shape) word(static_cast<std::uint64_t>(extent));
      numbers(tensor->values);
    } else if (const auto *list = document.as<Document::List>()) {
      check_nesting(depth + 1);
      head(tag_list, list->size());
      for (const Document &element : *list) value(element, depth + 1);
    } else if (const auto *object = document.as<Document::Object>()) {
      check_nesting(depth + 1);
      if (has_repeated_key(*object))
        throw Error(Errc::internal, "an object has the same key twice");
      head(tag_object, object->size());
      for (const auto &[key, element] : *object) {
        word(key.size());
        text(key);
        value(element, depth + 1);
      }
    }
  }

 private:
  static void check_nesting(int depth) {
    if (depth > max_nesting)
      throw Error(Errc::too_large, "arrays and objects are nested deeper than 32 levels");
  }

  char *grow(std::size_t bytes) {
    const std::size_t at = out_.size();
    out_.resize(at + bytes);
    return out_.data() + at;
  }
  void word(std::uint64_t word) { store_word(grow(8), word); }
  void head(Tag tag, std::uint64_t count) { word(tag | count << 8); }

  void text(const std::string &string) {
    if (!is_text(string))
      throw Error(Errc::invalid_argument, "a text is not valid UTF-8 or contains a zero byte");
    out_ += string;
  }

  void numbers(std::span<const double> values) {
    // In parts, since growing the buffer takes a while too.
    constexpr std::size_t most = 4096;
    while (!values.empty()) {
      const auto part = values.first(std::min(values.size(), most));
      values = values.subspan(part.size());
      char *at = grow(part.size() * 8);
      for (const double x : part) {
        store_word(at, std::isnan(x) ? nan_bits : std::bit_cast<std::uint64_t>(x));
        at += 8;
      }
      if (part.size() == most) poll_here();
    }
  }

  std::string &out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  Document document() {
    Document result = value(0);
    if (!rest_.empty()) fail("There are bytes after the end.");
    return result;
  }

 private:
  [[noreturn]] static void fail(const char *why) {
    throw Error(Errc::invalid_binary, "invalid document bytes", why);
  }

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) fail("They end too early.");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t word() { return load_word(take(8).data()); }

  std::string text(std::uint64_t size) {
    const std::string_view taken = take(size);
    if (!is_text(taken)) fail("A string is not valid UTF-8 or contains a zero byte.");
    return std::string(taken);
  }

  static double number(std::uint64_t bits) {
    const double value = std::bit_cast<double>(bits);
    if (std::isnan(value) && bits != nan_bits) fail("A NaN is not in canonical form.");
    return value;
  }

  Tensor tensor(std::uint64_t rank, int depth) {
    if (rank > std::uint64_t(max_nesting - depth)) fail("They are nested too deeply.");
    Tensor result;
    result.shape.resize(rank);
    for (std::int64_t &extent : result.shape) extent = static_cast<std::int64_t>(word());
    const std::int64_t size =
        tensor_size(result.shape, static_cast<std::int64_t>(rest_.size() / 8));
    if (size < 0) fail("A tensor has an impossible shape or ends too early.");
    const std::string_view taken = take(std::uint64_t(size) * 8);
    result.values.reserve(std::size_t(size));
    for (std::size_t i = 0; i < std::size_t(size); ++i) {
      poll_in_loop(i);
      result.values.push_back(number(load_word(taken.data() + 8 * i)));
    }
    return result;
  }

  // Containers grow as elements are read: a claimed count reserves nothing.
  Document::List list(std::uint64_t count, int depth) {
    Document::List result;
    for (; count > 0; --count) result.push_back(value(depth));
    return result;
  }

  Document::Object object(std::uint64_t count, int depth) {
    Document::Object result;
    for (; count > 0; --count) {
      std::string key = text(word());
      result.emplace_back(std::move(key), value(depth));
    }
    if (has_repeated_key(result)) fail("An object has the same key twice.");
    return result;
  }

  Document value(int depth) {
    poll_here();
    const std::uint64_t head = word();
    const std::uint64_t count = head >> 8;
    const auto tag = static_cast<std::uint8_t>(head);
    if (tag == tag_boolean                                             ? count > 1
        : tag < tag_boolean || tag == tag_integer || tag == tag_number ? count != 0
                                                                       : false)
      fail("A value of fixed size claims another size.");
    if ((tag == tag_list || tag == tag_object) && depth == max_nesting)
      fail("They are nested too deeply.");
    switch (tag) {
      case tag_null: return {};
      case tag_boolean: return count == 1;
      case tag_integer: return static_cast<std::int64_t>(word());
      case tag_number: return number(word());
      case tag_string: return text(count);
      case tag_tensor: return tensor(count, depth);
      case tag_list: return list(count, depth + 1);
      case tag_object: return object(count, depth + 1);
      default: fail("A value has an unknown tag.");
    }
  }

  std::string_view rest_;
};

}  // namespace

Document::Document() = default;
Document::Document(bool value) : value_(value) {}
Document::Document(std::int64_t value) : value_(value) {}
Document::Document(int value) : value_(std::int64_t(value)) {}
Document::Document(double value) : value_(value) {}
Document::Document(const char *value) : value_(std::string(value)) {}
Document::Document(std::string value) : value_(std::move(value)) {}
Document::Document(Tensor value) : value_(std::move(value)) {}
Document::Document(List value) : value_(std::move(value)) {}
Document::Document(Object value) : value_(std::move(value)) {}
Document::Document(const Document &) = default;
Document::Document(Document &&) noexcept = default;
Document &Document::operator=(const Document &) = default;
Document &Document::operator=(Document &&) noexcept = default;
Document::~Document() = default;
Document Document::object() { return Object{}; }

template <class T> const T *Document::as() const { return std::get_if<T>(&value_); }
template const bool *Document::as() const;
template const std::int64_t *Document::as() const;
template const double *Document::as() const;
template const std::string *Document::as() const;
template const Tensor *Document::as() const;
template const Document::List *Document::as() const;
template const Document::Object *Document::as() const;

const Document *Document::find(std::string_view key) const {
  if (const auto *object = as<Object>())
    for (const auto &[name, value] : *object)
      if (name == key) return &value;
  return nullptr;
}

Document &Document::set(std::string_view key, Document value) {
  if (is_null()) value_ = Object{};
  auto *object = std::get_if<Object>(&value_);
  if (object == nullptr)
    throw Error(Errc::internal, "a member was set in a document that is not an object");
  for (auto &member : *object)
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  object->emplace_back(key, std::move(value));
  return *this;
}

Document &Document::set_all(const Document &members) {
  for (const auto &[key, value] : std::get<Object>(members.value_)) set(key, value);
  return *this;
}

const char *Document::kind() const {
  static constexpr const char *names[] = {"null",   "boolean",          "integer", "number",
                                          "string", "array of numbers", "array",   "object"};
  return names[value_.index()];
}

void Document::to_bytes(std::string &out) const { Writer(out).value(*this, 0); }

Document Document::from_bytes(std::string_view bytes) { return Reader(bytes).document(); }

ListHead joined_list_head(std::string_view first, std::string_view second) {
  std::uint64_t count = 0;
  for (const std::string_view each : {first, second}) {
    const std::uint64_t word = each.size() < 8 ? std::uint64_t(tag_null) : load_word(each.data());
    if (Tag(word & 0xff) != tag_list)
      throw Error(Errc::invalid_binary, "invalid document bytes", "They are no list.");
    count += word >> 8;
  }
  ListHead out;
  store_word(out.data(), count << 8 | tag_list);
  return out;
}

// Documents as JSON.

namespace {

class JsonWriter {
 public:
  /// `count`: only the size is computed; the text is not kept.
  explicit JsonWriter(bool count) : count_(count) {}

  void value(const Document &document) {
    poll_here();
    if (count_) count();
    if (document.is_null()) {
      out += "null";
    } else if (const auto *boolean = document.as<bool>()) {
      out += *boolean ? "true" : "false";
    } else if (const auto *integer = document.as<std::int64_t>()) {
      char buffer[24];
      out.append(buffer, std::to_chars(buffer, std::end(buffer), *integer).ptr);
    } else if (const auto *real = document.as<double>()) {
      number(*real);
    } else if (const auto *string = document.as<std::string>()) {
      text(*string);
    } else if (const auto *tensor = document.as<Tensor>()) {
      const auto size = static_cast<std::int64_t>(tensor->values.size());
      if (tensor_size(tensor->shape, std::numeric_limits<std::int64_t>::max()) != size)
        throw Error(Errc::internal,
                    "a tensor has a number of values that does not match its shape");
      const double *at = tensor->values.data();
      extent(*tensor, 0, at);
    } else if (const auto *list = document.as<Document::List>()) {
      sequence('[', *list, ']', [&](const Document &element) { value(element); });
    } else if (const auto *object = document.as<Document::Object>()) {
      sequence('{', *object, '}', [&](const Document::Member &member) {
        text(member.first);
        out += ": ";
        value(member.second);
      });
    }
  }

  /// the text; when counting, the part that is not counted yet
  std::string out;

  /// the size so far, with every backslash counted twice
  std::size_t count() {
    size_ += out.size() + std::size_t(std::count(out.begin(), out.end(), '\\'));
    out.clear();
    return size_;
  }

 private:
  template <class Range, class Write>
  void sequence(char open, const Range &range, char close, Write write) {
    out += open;
    bool first = true;
    for (const auto &element : range) {
      if (!first) out += ", ";
      first = false;
      write(element);
    }
    out += close;
  }

  void extent(const Tensor &tensor, std::size_t dimension, const double *&at) {
    out += '[';
    for (std::int64_t i = 0; i < tensor.shape[dimension]; ++i) {
      poll_in_loop(std::size_t(i));
      if (count_ && out.size() > max_uncounted) count();
      if (i > 0) out += ", ";
      if (dimension + 1 < tensor.shape.size())
        extent(tensor, dimension + 1, at);
      else
        number(*at++);
    }
    out += ']';
  }

  void number(double x) {
    if (std::isnan(x)) {
      out += "\"NaN\"";
    } else if (std::isinf(x)) {
      out += x > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    } else if (x == 0 && std::signbit(x)) {
      out += "\"-0\"";  // a detour through jsonb would lose the sign of zero
    } else {
      // Whole numbers within an integer's range are written out: jsonb would turn 1e+05 into
      // 100000, an integer.
      const bool whole = std::fabs(x) < 9223372036854775808.0 && x == std::trunc(x);
      char buffer[40];
      const auto end = whole ? std::to_chars(buffer, std::end(buffer), x, std::chars_format::fixed)
                             : std::to_chars(buffer, std::end(buffer), x);
      const std::string_view digits(buffer, std::size_t(end.ptr - buffer));
      out += digits;
      if (digits.find_first_of(".e") == digits.npos) out += ".0";  // a double stays a double
    }
  }

  void text(std::string_view string) { append_json(out, string); }

  static constexpr std::size_t max_uncounted = 4096;
  const bool count_;
  std::size_t size_ = 0;
};

}  // namespace

void append_json(std::string &out, std::string_view text) {
  constexpr std::size_t between_polls = 1 << 20;
  const auto is_plain = [](char c) {
    return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
  };
  out += '"';
  for (std::size_t i = 0, polled = 0; i < text.size(); ++i) {
    if (i - polled >= between_polls) {
      poll_here();
      polled = i;
    }
    const std::size_t first = i, end = std::min(text.size(), polled + between_polls);
    while (i < end && is_plain(text[i])) ++i;
    out += text.substr(first, i - first);
    if (i == text.size()) break;
    switch (const char c = text[i]) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (is_plain(c)) {
          out += c;
        } else {
          constexpr char digits[] = "0123456789abcdef";
          out += "\\u00";
          out += digits[c >> 4];
          out += digits[c & 15];
        }
    }
  }
  out += '"';
}

std::string Document::to_json() const {
  JsonWriter writer(false);
  writer.value(*this);
  return std::move(writer.out);
}

std::size_t Document::copied_json_size() const {
  JsonWriter counter(true);
  counter.value(*this);
  return counter.count();
}

}  // namespace bayes
