// Whether enums or row types have been changed: a transaction may give the values of an enum other
// names, or a table other columns, between two calls of a function, whose caches outlive that.
#pragma once

#include <cstdint>

namespace bayes::pg {

/// How often this process has heard of a change of any enum.
extern std::uint64_t enum_changes;
/// The same of the columns of any table or composite type, or of anything else about them.
extern std::uint64_t relation_changes;

/// Called once, when the module is loaded.
void watch_catalogs();

}  // namespace bayes::pg
