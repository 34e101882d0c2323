#include "pg/values/pass_value.hpp"

#include <algorithm>
#include <string>

#include "base/message.hpp"
#include "document/document.hpp"
#include "pg/server/context.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

// Base64, since postgres_fdw sends values as text: a third more than the bytes, where bytea would
// take twice as much. Byte is char or unsigned char, by the version of PostgreSQL.

template <class Byte>
std::string decoded(int (*decode)(const char *, int, Byte *, int), std::string_view text) {
  std::string out(text.size() / 4 * 3 + 3, '\0');  // pg_b64_dec_len() overflows
  const int size =
      decode(text.data(), int(text.size()), reinterpret_cast<Byte *>(out.data()), int(out.size()));
  if (size < 0)
    throw Error(Errc::invalid_text, "invalid input syntax for type bayes_pass",
                "It is what pg_bayes sends to other servers, in base64.");
  out.resize(std::size_t(size));
  return out;
}

/// As text, a message may have no more bytes than a value.
void require_size(std::size_t size, const char *what) {
  if (size > max_varlena_bytes / 4 * 3)
    throw Error(Errc::too_large, message("{} {} bytes, more than a value can have", what, size), {},
                "Use a smaller k, or leave option push_down out.");
}

template <class Byte>
char *encoded(int (*encode)(const Byte *, int, char *, int), std::string_view bytes) {
  require_size(bytes.size(), "a message to another server has");
  const std::size_t size = (bytes.size() + 2) / 3 * 4;  // pg_b64_enc_len() overflows
  char *const text = guarded([size] { return static_cast<char *>(palloc(size + 1)); });
  const int used =
      encode(reinterpret_cast<const Byte *>(bytes.data()), int(bytes.size()), text, int(size));
  text[used] = '\0';
  return text;
}

// The state of an aggregate that joins answers is the list so far and room for more: a copy for
// each answer would take time that grows with the square of their number. The room is part of the
// value, since Citus keeps states only as plain values. The value begins with a word that begins no
// document, and the size of the list.

struct Room {
  static constexpr std::uint64_t mark = 0xff;
  std::uint64_t word, used;
};

std::string_view data_of(const Detoasted &plain) {
  return {VARDATA(plain.get()), std::size_t(VARSIZE(plain.get())) - VARHDRSZ};
}

/// The message in a value. Throws Error(invalid_binary) if it claims to be larger than the value.
std::string_view bytes_of(const Detoasted &plain) {
  const std::string_view data = data_of(plain);
  Room room;
  if (data.size() < sizeof room) return data;
  std::memcpy(&room, data.data(), sizeof room);
  if (room.word != Room::mark) return data;
  if (room.used > data.size() - sizeof room)
    throw Error(Errc::invalid_binary, "invalid bytes of a bayes_pass",
                "The message is larger than the value that has it.");
  return data.substr(sizeof room, std::size_t(room.used));
}

}  // namespace

Datum pass_value(const Document &given) {
  std::string bytes;
  given.to_bytes(bytes);
  require_size(bytes.size(), "a message to another server takes");
  return new_varlena(bytes);
}

Datum joined_pass_value(Datum first, Datum second, bool state) {
  const Detoasted one(first), other(second);
  const std::string_view before = bytes_of(one), added = bytes_of(other);
  const ListHead head = joined_list_head(before, added);
  const std::size_t size = before.size() + added.size() - head.size();
  require_size(size, "the answers of shards together take");
  const bool has_room = state && PointerGetDatum(one.get()) == first &&
                        before.data() != VARDATA(one.get()) &&
                        sizeof(Room) + size <= data_of(one).size();
  // Large states grow by less, as all of their memory is written.
  constexpr std::size_t doubled = 64 << 20;
  const std::size_t room_for_more = !state ? 0 : size < doubled ? size : size / 4;
  const std::size_t capacity = std::min(max_varlena_bytes, sizeof(Room) + size + room_for_more);
  char *const value = has_room ? reinterpret_cast<char *>(one.get()) : guarded([capacity] {
    auto *const out = static_cast<struct varlena *>(palloc0(VARHDRSZ + capacity));
    SET_VARSIZE(out, VARHDRSZ + capacity);
    return reinterpret_cast<char *>(out);
  });
  char *const list = VARDATA(value) + sizeof(Room);
  if (!has_room) copy_bytes(list, before);
  copy_bytes(list + before.size(), added.substr(head.size()));
  std::memcpy(list, head.data(), head.size());
  const Room room = {Room::mark, size};
  std::memcpy(VARDATA(value), &room, sizeof room);
  return PointerGetDatum(value);
}

Document document_of_pass(Datum value) {
  const Detoasted plain(value);
  return Document::from_bytes(bytes_of(plain));
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

// Bytes are checked to be a message once, when the message is read.

BAYES_FUNCTION(bayes_pass_in) {
  const std::string bytes = decoded(pg_b64_decode, PG_GETARG_CSTRING(0));
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
  return new_varlena(bytes);
}

BAYES_FUNCTION(bayes_pass_send) {
  const Detoasted plain(PG_GETARG_DATUM(0));
  return new_varlena(bytes_of(plain));
}
