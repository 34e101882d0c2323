#include "pg/input/term_dictionary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/random.hpp"

namespace bayes::pg {
namespace {

constexpr std::size_t chunk_bytes = 256 << 10;

constexpr std::size_t word = sizeof(std::uint64_t);

template <class T> std::uint64_t bits_at(const char *text) {
  T out;
  std::memcpy(&out, text, sizeof out);
  return out;
}

// Texts are mostly short: calling memcpy() or memcmp() for each would take longer than everything
// else.

/// The last bytes of a text, from `at`: fewer than a word, padded with zeros.
std::uint64_t rest_of(std::string_view text, std::size_t at) {
  const std::size_t rest = text.size() - at;
  const char *const from = text.data() + at;
  std::uint64_t out = 0;
  if (std::endian::native != std::endian::little)
    std::memcpy(&out, from, rest);
  else if (at > 0)
    out = bits_at<std::uint64_t>(from + rest - word) >> 8 * (word - rest);
  else if (rest >= 4)
    out = bits_at<std::uint32_t>(from) | bits_at<std::uint32_t>(from + rest - 4) << 8 * (rest - 4);
  else
    out = bits_at<std::uint8_t>(from) | bits_at<std::uint8_t>(from + rest / 2) << 8 * (rest / 2) |
          bits_at<std::uint8_t>(from + rest - 1) << 8 * (rest - 1);
  return out;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  const auto add = [&hash](std::uint64_t part) {
    hash = split_mix(hash * 0x9e3779b97f4a7c15 + part);
  };
  std::size_t at = 0;
  for (; at + word <= text.size(); at += word) add(bits_at<std::uint64_t>(text.data() + at));
  if (at < text.size()) add(rest_of(text, at));
  return hash;
}

/// Are two texts with equal hashes equal? Texts of at most a word are, if their sizes are, since
/// hash_of() is invertible for one word.
bool equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.size() <= word) return true;
  const auto word_at = [](const char *at) { return bits_at<std::uint64_t>(at); };
  for (std::size_t at = 0; at + word < a.size(); at += word)
    if (word_at(a.data() + at) != word_at(b.data() + at)) return false;
  return word_at(a.data() + a.size() - word) == word_at(b.data() + b.size() - word);
}

}  // namespace

TermDictionary::TermDictionary(std::size_t max_terms, Refuse refuse)
    : max_terms_(max_terms),
      refuse_(std::move(refuse)),
      slots_(1024, -1) {}

std::int32_t TermDictionary::number(std::string_view term) {
  const std::uint64_t hash = hash_of(term);
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const Entry &entry = entries_[std::size_t(slots_[slot])];
    if (entry.hash == hash && equal({entry.text, entry.size}, term)) return slots_[slot];
  }
  return closed_ ? -1 : add(term, hash, slot);
}

std::int32_t TermDictionary::add(std::string_view term, std::uint64_t hash, std::size_t slot) {
  if (term.size() > max_term_bytes) refuse_(Excess::length, term);
  if (entries_.size() >= max_terms_) refuse_(Excess::number, term);
  if (bytes_ + term.size() > max_read_bytes) refuse_(Excess::bytes, term);
  if (term.size() > left_in_chunk_) {
    left_in_chunk_ = entries_.empty() ? std::max<std::size_t>(4096, term.size()) : chunk_bytes;
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_in_chunk_));
    free_ = chunks_.back().get();
  }
  std::memcpy(free_, term.data(), term.size());
  entries_.push_back({free_, hash, 0, std::uint32_t(term.size())});
  free_ += term.size();
  left_in_chunk_ -= term.size();
  bytes_ += term.size();
  slots_[slot] = size() - 1;
  if (2 * entries_.size() > slots_.size()) grow();
  return size() - 1;
}

void TermDictionary::grow() {
  slots_.assign(2 * slots_.size(), -1);
  for (std::int32_t i = 0; i < size(); ++i) {
    std::size_t slot = hash(i) & (slots_.size() - 1);
    while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = i;
  }
}

}  // namespace bayes::pg
