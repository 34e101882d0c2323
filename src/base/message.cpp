#include "base/message.hpp"

#include <charconv>
#include <cmath>

namespace bayes {

void MessageValue::append_to(std::string &out) const {
  char digits[32];
  char *end = digits;
  switch (kind_) {
    case Kind::text: out += text_; return;
    case Kind::integer:
      end = std::to_chars(digits, digits + sizeof digits, std::int64_t(integer_)).ptr;
      break;
    case Kind::natural: end = std::to_chars(digits, digits + sizeof digits, integer_).ptr; break;
    case Kind::number:
      if (std::isnan(number_)) {
        out += "NaN";
      } else if (std::isinf(number_)) {
        out += number_ > 0 ? "Infinity" : "-Infinity";
      } else {
        // A whole number may be a count: 1000000 rows, not 1e+06.
        const bool whole = number_ == std::floor(number_) && std::fabs(number_) < 1e15;
        end = whole
                  ? std::to_chars(digits, digits + sizeof digits, number_, std::chars_format::fixed)
                        .ptr
                  : std::to_chars(digits, digits + sizeof digits, number_).ptr;
      }
      break;
  }
  out.append(digits, end);
}

std::string message_of(const char *format, std::initializer_list<MessageValue> values) {
  std::string out;
  const MessageValue *value = values.begin();
  for (const char *at = format; *at; ++at) {
    if (at[0] == '{' && at[1] == '}') {
      value++->append_to(out);
      ++at;
    } else {
      out += *at;
    }
  }
  return out;
}

}  // namespace bayes
