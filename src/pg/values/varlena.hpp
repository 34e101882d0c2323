// New values of variable length.
#pragma once

#include <string_view>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// maximum size of the data of a PostgreSQL value, in bytes
inline constexpr std::size_t max_varlena_bytes = MaxAllocSize - VARHDRSZ;

/// Copies bytes, and polls.
void copy_bytes(char *to, std::string_view bytes);

/// A new value in CurrentMemoryContext, of `max_varlena_bytes` bytes at most.
Datum new_varlena(std::string_view bytes);

}  // namespace bayes::pg
