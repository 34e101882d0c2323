// Sparse tables of numbers by row and column, the data of factorizations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/corpus.hpp"

namespace bayes {

class Document;
class MemberReader;

/// Limits of the size of a model, which holds every key, and a number for every key and factor.
inline constexpr std::int32_t factor_max_keys = 10'000'000;
inline constexpr int factor_max_factors = 1000;

/// A side of a table: its rows or its columns.
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
  /// Number of max_copies of the keys during a fit: in memory, in the document of the model, and in
  /// its bytes.
  static constexpr double max_copies = 3;
  /// size in memory
  BAYES_API double bytes() const;
  /// Removes the marked keys. To be called before the keys are shared.
  BAYES_API void remove(const std::vector<char> &marked);

 private:
  std::shared_ptr<std::vector<std::string>> keys_;
};

/// Serialisation of the keys of a side.
Document write_keys(const std::vector<std::string> &keys);

/// Reads member "keys" of a side: 1 to factor_max_keys texts; if `sorted`, in the order of their
/// bytes.
std::vector<std::string> read_keys(const MemberReader &side, bool sorted);

/// A sparse table, stored as a corpus. The documents are the side with more keys, the terms the
/// other side; the counts of a document are the numbers of its cells. If both sides have equally
/// many keys, the documents are the side whose list of keys is smaller; if the lists are equal, a
/// hash of the cells decides. So a transposed table has the same documents. Zeros are not stored
/// where absent means zero. Documents may be empty.
struct FactorTable {
  Corpus &documents;
  /// the transposed table: its documents are the terms of `documents`; null unless requested
  Corpus *transposed = nullptr;
  /// whether documents are rows or columns of the table
  Side document_side = Side::row;
  /// keys of both sides, in the order of their bytes; for rows that are arrays, row and element
  /// numbers in numerical order
  Keys document_keys, term_keys;
  /// number of cells that were skipped because a key or the number is NULL
  std::int64_t skipped = 0;
  /// The key of every document, as an index into document_keys, if documents are shuffled; empty if
  /// they are in the order of their keys.
  std::vector<std::int32_t> key_of_document = {};

  std::size_t key_of(std::size_t document) const {
    return key_of_document.empty() ? document : std::size_t(key_of_document[document]);
  }
};

/// The number of cells that are fitted.
inline double fitted_cells(const CorpusTotals &totals, bool missing) {
  return missing ? double(totals.entries) : double(totals.documents) * totals.vocabulary;
}

/// How a fit reads its table; known before the first cell is read.
struct FactorTableOptions {
  enum class Repeated : char { add, refuse, average, last };
  /// treatment of cells that occur more than once
  Repeated repeated = Repeated::add;
  /// negative numbers are errors
  bool non_negative = false;
  /// absent cells are missing values, and zeros are stored
  bool missing = false;
  /// Documents are in the order of a hash of their keys, so that neighbours are as good as a random
  /// sample; not with `transposed`.
  bool shuffled = false;
  /// the transposed table is needed too
  bool transposed = false;
  /// memory of the model and the fit for each key, in bytes; reading fails as soon as there are
  /// more keys than memory allows
  double bytes_of_key = 0;
};

}  // namespace bayes
