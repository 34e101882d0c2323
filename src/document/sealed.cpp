#include "document/sealed.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/control.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

/// Two 64-bit hashes of the same bytes side by side, under different keys: eight bytes at a time,
/// each step a bijection of the state, so that no earlier byte loses its influence. Guards against
/// accidents, not against malice.
struct Fingerprint {
  static constexpr std::size_t between_polls = 1 << 20;
  std::uint64_t a = 0x243f6a8885a308d3, b = 0x13198a2e03707344;

  static std::uint64_t mix(std::uint64_t x, std::uint64_t k1, std::uint64_t k2) {
    x = (x ^ x >> 32) * k1;
    return (x ^ x >> 29) * k2;
  }

  void step(std::uint64_t word) {
    a = mix(a ^ word, 0x9e3779b97f4a7c15, 0xd1b54a32d192ed03);
    b = mix(b + std::rotl(word, 23), 0xbf58476d1ce4e5b9, 0x94d049bb133111eb);
  }

  explicit Fingerprint(std::string_view bytes) {
    const std::size_t size = bytes.size();
    while (bytes.size() >= 8) {
      std::string_view part = bytes.substr(0, between_polls);
      part.remove_suffix(part.size() % 8);
      bytes.remove_prefix(part.size());
      for (; !part.empty(); part.remove_prefix(8)) step(word(part));
      poll_here();
    }
    step(word(bytes));
    step(size);
    step(a ^ std::rotl(b, 32));
    a ^= a >> 31;
    b ^= b >> 31;
  }

  /// Up to eight bytes as a little-endian number.
  static std::uint64_t word(std::string_view bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
  }
};

void put(char *at, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = static_cast<char>(number >> (8 * i));
}

}  // namespace

Error newer_format(Errc code, const Seal &seal, std::int64_t format) {
  return Error(code,
               message("unsupported {}: its format is {}, but this version of pg_bayes reads "
                       "formats up to {}",
                       seal.what, format, seal.format),
               {}, "It was made by a newer version of pg_bayes: upgrade this one to read it.");
}

void seal(std::string &bytes, const Seal &seal, bool trailer) {
  std::string_view content = std::string_view(bytes).substr(sealed_header_bytes);
  if (trailer) content.remove_suffix(seal.trailer);
  const Fingerprint fingerprint(content);
  std::memcpy(bytes.data(), seal.magic, 4);
  put(bytes.data() + 4, std::uint64_t(seal.format), 2);
  put(bytes.data() + 6, trailer ? seal.trailer : 0, 2);
  put(bytes.data() + 8, fingerprint.a, 8);
  put(bytes.data() + 16, fingerprint.b, 8);
}

std::string_view unsealed(std::string_view bytes, const Seal &seal) {
  const auto fail = [&seal](const std::string &why) {
    throw Error(Errc::invalid_binary, message("invalid {} bytes", seal.what), why);
  };
  if (bytes.size() < sealed_header_bytes) fail("They end too early.");
  if (std::memcmp(bytes.data(), seal.magic, 4) != 0)
    fail(message("They do not start as a {} does.", seal.what));
  const std::uint64_t format = Fingerprint::word(bytes.substr(4, 2));
  if (format > std::uint64_t(seal.format))
    throw newer_format(Errc::invalid_binary, seal, std::int64_t(format));
  const std::uint64_t trailer = Fingerprint::word(bytes.substr(6, 2));
  if (format < 1 || (trailer != 0 && trailer != seal.trailer)) fail("The header is wrong.");
  if (bytes.size() < sealed_header_bytes + trailer) fail("They end too early.");
  const std::string_view content =
      bytes.substr(sealed_header_bytes, bytes.size() - sealed_header_bytes - trailer);
  const Fingerprint fingerprint(content);
  if (fingerprint.a != Fingerprint::word(bytes.substr(8, 8)) ||
      fingerprint.b != Fingerprint::word(bytes.substr(16, 8)))
    fail("The fingerprint does not match the content: some of it was changed or lost.");
  return content;
}

bool has_trailer(std::string_view bytes) {
  return bytes.size() >= sealed_header_bytes && (bytes[6] != 0 || bytes[7] != 0);
}

}  // namespace bayes
