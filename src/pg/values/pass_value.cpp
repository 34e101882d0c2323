#include "pg/values/pass_value.hpp"

#include <string>

#include "base/message.hpp"
#include "pg/server/detoasted.hpp"
#include "pg/values/varlena.hpp"

namespace bayes::pg {
namespace {

// Base64, since postgres_fdw sends values as text: a third more than the bytes, where bytea would
// take twice as much. Byte is char or unsigned char, by the version of PostgreSQL.

template <class Byte>
std::string decoded(int (*decode)(const char *, int, Byte *, int), std::string_view text) {
  std::string out(std::size_t(pg_b64_dec_len(int(text.size()))), '\0');
  const int size =
      decode(text.data(), int(text.size()), reinterpret_cast<Byte *>(out.data()), int(out.size()));
  if (size < 0)
    throw Error(Errc::invalid_text, "invalid input syntax for type bayes_pass",
                "It is what pg_bayes sends to other servers, in base64.");
  out.resize(std::size_t(size));
  return out;
}

template <class Byte>
char *encoded(int (*encode)(const Byte *, int, char *, int), std::string_view bytes) {
  const int size = pg_b64_enc_len(int(bytes.size()));
  char *const text = guarded([size] { return static_cast<char *>(palloc(std::size_t(size) + 1)); });
  const int used =
      encode(reinterpret_cast<const Byte *>(bytes.data()), int(bytes.size()), text, size);
  text[used] = '\0';
  return text;
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
  const std::string bytes = decoded(pg_b64_decode, PG_GETARG_CSTRING(0));
  Document::from_bytes(bytes);  // throws if it is no message
  return new_varlena(bytes);
}

BAYES_FUNCTION(bayes_pass_out) {
  const Detoasted plain(PG_GETARG_DATUM(0));
  PG_RETURN_CSTRING(encoded(pg_b64_encode, bytes_of(plain)));
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
