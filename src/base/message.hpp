// Text formatted from a template and values, for errors and reports.
//
//   message("row {} has {} elements", row, count)
//
// Every {} is replaced by the next value; there is no other syntax. The compiler checks that their
// number is that of the values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/api.hpp"
#include "base/method.hpp"

namespace bayes {

/// A value in a message: text, a method, an integer, or a double, written with the fewest digits
/// that identify it (or as NaN, Infinity or -Infinity).
class BAYES_API MessageValue {
 public:
  MessageValue(std::string_view text) : kind_(Kind::text), text_(text) {}
  MessageValue(const char *text) : MessageValue(std::string_view(text)) {}
  MessageValue(const std::string &text) : MessageValue(std::string_view(text)) {}
  MessageValue(Method method) : MessageValue(method_name(method)) {}
  MessageValue(double number) : kind_(Kind::number), number_(number) {}
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>)
      MessageValue(T integer)
      : kind_(std::is_signed_v<T> ? Kind::integer : Kind::natural),
        integer_(std::uint64_t(integer)) {}

  void append_to(std::string &out) const;

 private:
  enum class Kind : char { text, integer, natural, number };
  Kind kind_;
  std::string_view text_;
  std::uint64_t integer_ = 0;
  double number_ = 0;
};

/// A format for `Count` values.
template <std::size_t Count> struct MessageFormat {
  consteval MessageFormat(const char *format) : text(format) {
    std::size_t placeholders = 0;
    for (const char *c = format; *c; ++c) placeholders += c[0] == '{' && c[1] == '}';
    if (placeholders != Count) throw "as many {} as values";
  }
  const char *text;
};

BAYES_API std::string message_of(const char *format, std::initializer_list<MessageValue> values);

template <class... A> std::string message(MessageFormat<sizeof...(A)> format, const A &...values) {
  return message_of(format.text, {MessageValue(values)...});
}

}  // namespace bayes
