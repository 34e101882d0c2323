#include "pg/values/varlena.hpp"

#include <algorithm>

namespace bayes::pg {

Datum new_varlena(std::string_view bytes) {
  return guarded([bytes] {
    auto *const value = static_cast<struct varlena *>(palloc(bytes.size() + VARHDRSZ));
    SET_VARSIZE(value, bytes.size() + VARHDRSZ);
    constexpr std::size_t between_polls = 1 << 20;
    for (std::size_t at = 0; at < bytes.size(); at += between_polls) {
      CHECK_FOR_INTERRUPTS();
      std::memcpy(VARDATA(value) + at, bytes.data() + at,
                  std::min(between_polls, bytes.size() - at));
    }
    return PointerGetDatum(value);
  });
}

}  // namespace bayes::pg
