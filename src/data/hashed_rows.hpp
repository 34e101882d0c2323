// Minibatches that are chosen by the contents of rows, so that they do not depend on the order of
// the rows, nor on where they are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "data/remote_rows.hpp"
#include "data/rows.hpp"

namespace bayes {

/// Which rows are in a minibatch: those for which a hash of `key` and the row is at most
/// `threshold`. Every row is with the same probability, (threshold + 1) / 2^64, independently of
/// other rows, equal ones included, and of other keys.
struct HashChoice {
  std::uint64_t key = 0, threshold = 0;
  Document message() const;
  /// Throws Error(invalid_binary) unless message() has made it.
  static HashChoice from_message(const Document &message);
};

/// The hash of an item before which as many equal ones are in the same part, whose number among the
/// parts of all items is from 0: that of the item for the first one, and hashes of their own for
/// the others.
BAYES_API std::uint64_t hash_of_copy(std::uint64_t hash, std::uint64_t before, std::size_t part);

/// Rows of this server with a hash of each: of its elements and its weight, so that it is the same
/// wherever the row is. Of equal rows, the first one has that; the others have hashes of their own,
/// of how many came before and of the number of the part, or all copies would be in a minibatch or
/// none.
class BAYES_API HashedRows {
 public:
  /// `part`: the number of the rows among the parts of all rows, from 0
  HashedRows(RowSource &rows, std::size_t part, Control &control);
  /// the number of rows that are chosen
  std::int64_t count(const HashChoice &choice) const;
  /// Replaces the rows of `to`, which are weighted, by those that are chosen.
  void choose(const HashChoice &choice, MemoryRows &to) const;
  /// The memory that the hashes of so many rows take. While they are made it is about a quarter
  /// more, if rows are not in order.
  static double bytes(std::int64_t rows) { return 8.0 * double(rows); }

 private:
  void tell_apart(std::size_t part);

  RowSource &rows_;
  std::vector<std::uint64_t> hashes_;
};

/// A minibatch of rows elsewhere: passes are made over the rows that are chosen.
class RemoteBatch final : public RemoteRows {
 public:
  explicit RemoteBatch(RemoteRows &all) : all_(all) {
    shape_ = all.shape();
    rows_ = all.rows();
    set_incomplete(all.incomplete());
  }
  void choose(const HashChoice &choice) { choice_ = choice; }
  std::vector<Document> ask(const Document &request) override;
  const std::vector<std::int64_t> &rows_of_parts() const override { return all_.rows_of_parts(); }

 private:
  RemoteRows &all_;
  HashChoice choice_;
};

}  // namespace bayes
