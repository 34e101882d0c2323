#include "pg/server/encoding.hpp"

#include <algorithm>

namespace bayes::pg {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 128; });
}

}  // namespace

std::string utf8_of_server(std::string_view text) {
  if (server_is_utf8() || text.empty()) return std::string(text);
  const char *const from = text.data();
  const int size = int(text.size());
  // Returns its argument, which need not end in a zero byte, if there is nothing to convert.
  const char *const to = guarded([from, size] { return pg_server_to_any(from, size, PG_UTF8); });
  if (to == from) return std::string(text);
  std::string out = to;
  pfree(const_cast<char *>(to));
  return out;
}

std::string_view utf8_view(std::string_view text, std::string &buffer) {
  if (server_is_utf8() || is_ascii(text)) return text;
  buffer = utf8_of_server(text);
  return buffer;
}

const char *server_of_utf8(const char *text, std::size_t size) {
  if (size == 0) return "";
  return pg_any_to_server(text, int(size), PG_UTF8);
}

Datum text_datum(const std::string &text) {
  const char *const chars = text.c_str();
  const std::size_t size = text.size();
  return guarded([chars, size] {
    const char *const converted = server_of_utf8(chars, size);
    return CStringGetDatum(converted == chars ? pstrdup(chars) : converted);
  });
}

// Raises.
void message_for_server(char *text, std::size_t size) {
  const int length = int(std::strlen(text));
  if (server_is_utf8() || GetDatabaseEncoding() == PG_SQL_ASCII || !IsTransactionState() ||
      pg_is_ascii(text) || !pg_verify_mbstr(PG_UTF8, text, length, true))
    return;
  const Oid conversion = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding());
  if (!OidIsValid(conversion)) return;
  auto *const from = reinterpret_cast<unsigned char *>(pstrdup(text));
  pg_do_encoding_conversion_buf(conversion, PG_UTF8, GetDatabaseEncoding(), from, length,
                                reinterpret_cast<unsigned char *>(text), int(size), true);
  pfree(from);
}

}  // namespace bayes::pg
