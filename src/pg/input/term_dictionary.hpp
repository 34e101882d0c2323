// Terms of documents, or keys of tables, while they are collected, numbered in order of appearance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace bayes::pg {

/// limit of the bytes of all distinct terms together
inline constexpr std::size_t max_read_bytes = 256 << 20;
/// limit of the bytes of a term, as models hold every term
inline constexpr std::size_t max_term_bytes = 10000;

/// Numbers distinct terms (UTF-8). Takes about 40 bytes for each, besides its text.
class TermDictionary {
 public:
  /// Why a term is refused: it is too long, or there would be too many terms, or too many bytes in
  /// total.
  enum class Excess : char { length, number, bytes };
  /// Throws Error(too_large).
  using Refuse = std::function<void(Excess, std::string_view term)>;

  TermDictionary(std::size_t max_terms, Refuse refuse);

  /// The number of a term. A new term gets the next number or, after close(), -1; it is refused if
  /// it exceeds a limit.
  std::int32_t number(std::string_view term);
  /// New terms get no number from now on.
  void close() { closed_ = true; }

  std::int32_t size() const { return std::int32_t(entries_.size()); }
  /// memory in bytes
  double bytes() const {
    return double(bytes_ + entries_.size() * sizeof(Entry) + slots_.size() * sizeof(std::int32_t));
  }
  std::string_view term(std::int32_t number) const {
    const Entry &entry = entries_[std::size_t(number)];
    return {entry.text, entry.size};
  }
  /// hash of the term's text, the same in every fit
  std::uint64_t hash(std::int32_t number) const { return entries_[std::size_t(number)].hash; }
  std::int64_t documents(std::int32_t number) const {
    return entries_[std::size_t(number)].documents;
  }
  /// Adds to the number of documents with this term.
  void count_document(std::int32_t number, std::int64_t documents = 1) {
    entries_[std::size_t(number)].documents += documents;
  }

 private:
  struct Entry {
    const char *text;
    std::uint64_t hash;
    std::int64_t documents;
    std::uint32_t size;
  };
  std::int32_t add(std::string_view term, std::uint64_t hash, std::size_t slot);
  void grow();

  std::size_t max_terms_;
  Refuse refuse_;
  std::vector<Entry> entries_;
  /// hash table of term numbers with open addressing, -1 for empty slots; its size is a power of
  /// two, and at most half of the slots are used
  std::vector<std::int32_t> slots_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t left_in_chunk_ = 0, bytes_ = 0;
  char *free_ = nullptr;
  bool closed_ = false;
};

}  // namespace bayes::pg
