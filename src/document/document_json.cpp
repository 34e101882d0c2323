// Documents as JSON.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "document/document.hpp"
#include "document/tensor_size.hpp"

namespace bayes {
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
