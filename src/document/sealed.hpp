// The byte form of a value: a header with a magic number, the format and a 128-bit fingerprint of
// the content; then the content; then, optionally, a trailer of fixed length, for data that belong
// to the value but do not identify it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/api.hpp"
#include "base/error.hpp"

namespace bayes {

struct Seal {
  /// four bytes
  const char *magic;
  /// the newest format that this version reads, from 1
  int format;
  /// the name of the type, for messages
  const char *what;
  /// bytes of a trailer
  std::size_t trailer = 0;
};

inline constexpr int sealed_header_bytes = 24;

/// Overwrites the first sealed_header_bytes of `bytes` with the header for the bytes that follow:
/// the content and, if `trailer`, the trailer.
BAYES_API void seal(std::string &bytes, const Seal &seal, bool trailer = false);

/// The content, between the header and the trailer. Throws Error(invalid_binary) unless the header
/// is right and its fingerprint that of the content.
BAYES_API std::string_view unsealed(std::string_view bytes, const Seal &seal);

/// Does the header, which is not checked, say that a trailer follows the content?
BAYES_API bool has_trailer(std::string_view bytes);

/// The error for a format newer than this version reads.
Error newer_format(Errc code, const Seal &seal, std::int64_t format);

}  // namespace bayes
