#include "pg/server/catalog_changes.hpp"

#include "pg/server/postgres.hpp"

namespace bayes::pg {

std::uint64_t enum_changes = 0, relation_changes = 0;

void watch_catalogs() {
  CacheRegisterSyscacheCallback(
      ENUMOID, [](Datum, int, uint32) { ++enum_changes; }, Datum(0));
  CacheRegisterRelcacheCallback([](Datum, Oid) { ++relation_changes; }, Datum(0));
}

}  // namespace bayes::pg
