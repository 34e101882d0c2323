#include "pg/values/pass_value.hpp"

#include <array>
#include <string>

#include "base/message.hpp"
#include "pg/server/detoasted.hpp"
#include "pg/values/varlena.hpp"

namespace bayes::pg {
namespace {

// Base64, since postgres_fdw sends values as text: a third more than the bytes, where bytea would
// take twice as much.

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> values = [] {
  std::array<signed char, 256> out{};
  out.fill(-1);
  for (int i = 0; i < 64; ++i) out[std::size_t(static_cast<unsigned char>(digits[i]))] = char(i);
  return out;
}();

/// Writes 4 digits for every 3 bytes; returns the end.
char *encode(std::string_view bytes, char *to) {
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t b = 0; b < 3; ++b)
      group = group << 8 | (b < left ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    for (int digit = 0; digit < 4; ++digit)
      *to++ = std::size_t(digit) <= left ? digits[group >> (18 - 6 * digit) & 63] : '=';
  }
  return to;
}

[[noreturn]] void refuse_text() {
  throw Error(Errc::invalid_text, "invalid input syntax for type bayes_pass",
              "It is what pg_bayes sends to other servers, in base64.");
}

std::string decode(std::string_view text) {
  if (text.size() % 4 != 0) refuse_text();
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t padding = 0;
    if (i + 4 == text.size()) padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    std::uint32_t group = 0;
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const int value = digit < 4 - padding
                            ? values[std::size_t(static_cast<unsigned char>(text[i + digit]))]
                            : 0;
      if (value < 0) refuse_text();
      group = group << 6 | std::uint32_t(value);
    }
    for (std::size_t b = 0; b < 3 - padding; ++b) out.push_back(char(group >> (16 - 8 * b) & 255));
  }
  return out;
}

std::string_view bytes_of(const Detoasted &plain) {
  return {VARDATA(plain.get()), std::size_t(VARSIZE(plain.get())) - VARHDRSZ};
}

}  // namespace

Datum pass_value(const Document &given) {
  std::string bytes;
  given.to_bytes(bytes);
  if (bytes.size() > max_varlena_bytes / 4 * 3)
    throw Error(Errc::too_large,
                message("a message to another server takes {} bytes, more than a value can have",
                        bytes.size()),
                {}, "Use a smaller k, or leave option push_down out.");
  return new_varlena(bytes);
}

Document document_of_pass(Datum value) {
  const Detoasted plain(value);
  return Document::from_bytes(bytes_of(plain));
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

BAYES_FUNCTION(bayes_pass_in) {
  const std::string bytes = decode(PG_GETARG_CSTRING(0));
  Document::from_bytes(bytes);  // throws if it is no message
  return new_varlena(bytes);
}

BAYES_FUNCTION(bayes_pass_out) {
  const Detoasted plain(PG_GETARG_DATUM(0));
  const std::string_view bytes = bytes_of(plain);
  const std::size_t size = (bytes.size() + 2) / 3 * 4;
  char *const text = guarded([size] { return static_cast<char *>(palloc(size + 1)); });
  *encode(bytes, text) = '\0';
  PG_RETURN_CSTRING(text);
}

BAYES_FUNCTION(bayes_pass_recv) {
  auto *const message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = message->len - message->cursor;
  const std::string_view bytes(guarded([message, size] { return pq_getmsgbytes(message, size); }),
                               std::size_t(size));
  Document::from_bytes(bytes);  // throws if it is no message
  return new_varlena(bytes);
}

BAYES_FUNCTION(bayes_pass_send) {
  const Detoasted plain(PG_GETARG_DATUM(0));
  return new_varlena(bytes_of(plain));
}
