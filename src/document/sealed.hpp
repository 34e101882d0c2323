// The byte form of a value: a header that says what it is, its format and a 128-bit fingerprint of
// what follows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/api.hpp"
#include "base/error.hpp"

namespace bayes {

struct Seal {
  /// four bytes
  const char *magic;
  /// the newest that this version reads, from 1
  int format;
  /// the type, for messages
  const char *what;
};

inline constexpr int sealed_header_bytes = 24;

/// Overwrites the first sealed_header_bytes of `bytes` with the header of what follows them.
BAYES_API void seal(std::string &bytes, const Seal &seal);

/// What follows the header. Throws Error(invalid_binary) unless the header is right and its
/// fingerprint that of the rest.
BAYES_API std::string_view unsealed(std::string_view bytes, const Seal &seal);

/// The error for a format newer than this version reads.
Error newer_format(Errc code, const Seal &seal, std::int64_t format);

}  // namespace bayes
