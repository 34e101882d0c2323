// Whether enums have been changed: a transaction may give their values other names between two
// calls of a function, whose caches outlive that.
#pragma once

#include <cstdint>

namespace bayes::pg {

/// How often this process has heard of a change of any enum.
extern std::uint64_t enum_changes;

/// Called once, when the module is loaded.
void watch_enums();

}  // namespace bayes::pg
