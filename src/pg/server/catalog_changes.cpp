#include "pg/server/catalog_changes.hpp"

#include "pg/server/postgres.hpp"

namespace bayes::pg {

std::uint64_t enum_changes = 0, relation_changes = 0;

void watch_catalogs() {
  // auto: the type of a cache's number depends on PostgreSQL's version
  CacheRegisterSyscacheCallback(
      ENUMOID, [](Datum, auto, uint32) { ++enum_changes; }, Datum(0));
  CacheRegisterRelcacheCallback([](Datum, Oid) { ++relation_changes; }, Datum(0));
}

}  // namespace bayes::pg
