// Terms of documents, or keys of tables, while they are collected, numbered in order of appearance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace bayes::pg {

/// of all distinct terms together
inline constexpr std::size_t max_read_bytes = 256 << 20;
/// in bytes, limited because models hold every term
inline constexpr std::size_t longest_term = 10000;

/// Mixes 64 bits well.
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// The terms, which are UTF-8, in about 40 bytes each besides their text.
class TermDictionary {
 public:
  /// Why a term is not taken: it is too long, or with it terms are too many or take too much.
  enum class Excess : char { length, number, bytes };
  /// Throws Error(too_large).
  using Refuse = std::function<void(Excess, std::string_view term)>;

  TermDictionary(std::size_t max_terms, Refuse refuse);

  /// The number of a term; a new one gets the next, unless no more are taken: then -1. Refuses a
  /// term too long, or one too many.
  std::int32_t number(std::string_view term);
  /// Takes no more terms.
  void close() { closed_ = true; }

  std::int32_t size() const { return std::int32_t(entries_.size()); }
  /// in memory
  double bytes() const {
    return double(bytes_ + entries_.size() * sizeof(Entry) + slots_.size() * sizeof(std::int32_t));
  }
  std::string_view term(std::int32_t number) const {
    const Entry &entry = entries_[std::size_t(number)];
    return {entry.text, entry.size};
  }
  /// of its text alone, the same in every fit
  std::uint64_t hash(std::int32_t number) const { return entries_[std::size_t(number)].hash; }
  std::int64_t documents(std::int32_t number) const {
    return entries_[std::size_t(number)].documents;
  }
  /// Notes one more document with this term.
  void count_document(std::int32_t number) { ++entries_[std::size_t(number)].documents; }

 private:
  struct Entry {
    const char *text;
    std::uint64_t hash;
    std::int64_t documents;
    std::uint32_t size;
  };
  std::int32_t add(std::string_view term, std::uint64_t hash, std::size_t slot);
  void grow();

  std::size_t most_terms_;
  Refuse refuse_;
  std::vector<Entry> entries_;
  /// open addressing: numbers, -1 for none; a power of two, at most half of them used
  std::vector<std::int32_t> slots_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t left_in_chunk_ = 0, bytes_ = 0;
  char *free_ = nullptr;
  bool closed_ = false;
};

}  // namespace bayes::pg
