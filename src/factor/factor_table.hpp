// Tables of numbers by row and column, as factorizations see them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/corpus.hpp"

namespace bayes {

/// A model holds a number for every key and factor, and every key.
inline constexpr std::int32_t factor_max_keys = 10'000'000;
inline constexpr int factor_max_factors = 1000;

/// What the keys of a table are.
enum class Side : char { row, column };
inline Side other(Side side) { return side == Side::row ? Side::column : Side::row; }

/// The keys of one side. Copies share them: a table and the models that are fitted to it have them
/// in memory once.
class Keys {
 public:
  Keys() : Keys(std::vector<std::string>()) {}
  Keys(std::vector<std::string> keys)
      : keys_(std::make_shared<std::vector<std::string>>(std::move(keys))) {}

  const std::vector<std::string> &all() const { return *keys_; }
  std::size_t size() const { return keys_->size(); }
  const std::string &operator[](std::size_t i) const { return (*keys_)[i]; }
  /// In memory, in the document of a model, and in its bytes.
  static constexpr double copies = 3;
  /// what they take in memory
  BAYES_API double bytes() const;
  /// Leaves out those that are marked; called before there are copies.
  BAYES_API void leave_out(const std::vector<char> &marked);

 private:
  std::shared_ptr<std::vector<std::string>> keys_;
};

/// A table that is mostly empty, by lines: of the two sides that with more keys; of equally many
/// that whose list of keys comes first, or, if they are the same, one that follows from the cells,
/// so that a transposed table gives the same lines. A line is a document of a corpus, whose terms
/// are the keys of the other side, ascending, with the numbers of their cells. Zeros are absent
/// where absent means zero. Lines without a cell are there.
struct FactorTable {
  Corpus &lines;
  /// the same table by the other side; null unless it was asked for
  Corpus *transposed = nullptr;
  /// what lines are
  Side of_lines = Side::row;
  /// keys of both sides, in the order of their bytes, or of rows of arrays and their elements by
  /// number
  Keys line_keys, other_keys;
  /// cells that were left out: a key or the number NULL
  std::int64_t skipped = 0;
  /// Of every line its key, an index into line_keys, if lines are shuffled; empty if they are in
  /// the order of their keys.
  std::vector<std::int32_t> key_of_line = {};

  std::size_t key_of(std::size_t line) const {
    return key_of_line.empty() ? line : std::size_t(key_of_line[line]);
  }
};

/// The number of cells that count.
inline double cells_of(const CorpusTotals &totals, bool missing) {
  return missing ? double(totals.entries) : double(totals.documents) * totals.vocabulary;
}

/// How a fit wants its table read, known before the first cell is.
struct FactorTableOptions {
  enum class Repeated : char { add, refuse, average, last };
  /// cells that occur more than once
  Repeated repeated = Repeated::add;
  /// the numbers must not be negative
  bool non_negative = false;
  /// absent cells are missing, and zeros are kept
  bool missing = false;
  /// Lines are in the order of a hash of their keys, so that neighbours are as good as drawn at
  /// random; not with `transposed`.
  bool shuffled = false;
  /// the table by both sides is needed
  bool transposed = false;
  /// on_error = null
  bool null_on_error = false;
  /// of the model and the fit for each key, in bytes; more keys than memory allows are refused as
  /// soon as they are read
  double bytes_of_key = 0;
};

}  // namespace bayes
