#include "pg/values/varlena.hpp"

#include <algorithm>

namespace bayes::pg {

void copy_bytes(char *to, std::string_view bytes) {
  constexpr std::size_t between_polls = 1 << 20;
  for (std::size_t at = 0; at < bytes.size(); at += between_polls) {
    poll_interrupts();
    std::memcpy(to + at, bytes.data() + at, std::min(between_polls, bytes.size() - at));
  }
}

Datum new_varlena(std::string_view bytes) {
  auto *const value = guarded([bytes] {
    auto *const out = static_cast<struct varlena *>(palloc(bytes.size() + VARHDRSZ));
    SET_VARSIZE(out, bytes.size() + VARHDRSZ);
    return out;
  });
  copy_bytes(VARDATA(value), bytes);
  return PointerGetDatum(value);
}

}  // namespace bayes::pg
