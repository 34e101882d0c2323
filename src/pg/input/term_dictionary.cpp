#include "pg/input/term_dictionary.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bayes::pg {
namespace {

constexpr std::size_t chunk_bytes = 256 << 10;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t part = 0;
    std::memcpy(&part, text.data() + at, std::min(text.size() - at, sizeof part));
    hash = mixed(hash * 0x9e3779b97f4a7c15 + part);
  }
  return hash;
}

}  // namespace

TermDictionary::TermDictionary(std::size_t most_terms, Refuse refuse)
    : most_terms_(most_terms),
      refuse_(std::move(refuse)),
      slots_(1024, -1) {}

std::int32_t TermDictionary::number(std::string_view term) {
  const std::uint64_t hash = hash_of(term);
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const Entry &entry = entries_[std::size_t(slots_[slot])];
    if (entry.hash == hash && std::string_view(entry.text, entry.size) == term) return slots_[slot];
  }
  return closed_ ? -1 : add(term, hash, slot);
}

std::int32_t TermDictionary::add(std::string_view term, std::uint64_t hash, std::size_t slot) {
  if (term.size() > longest_term) refuse_(Excess::length, term);
  if (entries_.size() >= most_terms_) refuse_(Excess::number, term);
  if (bytes_ + term.size() > most_read_bytes) refuse_(Excess::bytes, term);
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
