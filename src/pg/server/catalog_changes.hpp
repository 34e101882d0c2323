// Detects changes of enums and row types: between two calls of a function a transaction may rename
// an enum's values or alter a table's columns, and caches that outlive the calls become outdated.
#pragma once

#include <cstdint>

namespace bayes::pg {

/// Number of cache invalidations for enum values that this process has received.
extern std::uint64_t enum_changes;
/// The same for tables and composite types, whatever has been changed about them.
extern std::uint64_t relation_changes;

/// Called once, when the module is loaded.
void watch_catalogs();

}  // namespace bayes::pg
