// Hashes of data, and the choices that they make: a hash of all data of a fit, of single rows for
// minibatches, and of the items that are held out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "data/corpus.hpp"
#include "data/remote_rows.hpp"
#include "data/rows.hpp"
#include "document/row_columns.hpp"

namespace bayes {

// A hash of the data of a fit, by which a fit that is resumed recognises its rows.

class BAYES_API DataHash {
 public:
  /// Elements and weights; the order of the rows does not count unless `ordered`.
  void add(RowSource &rows, bool ordered, Control &control);
  /// Terms and counts; the order of the documents does not count.
  void add(Corpus &corpus, Control &control);
  /// Names, kinds and labels.
  void add(const RowColumns &columns);
  void add(std::span<const std::string> texts);
  void add(std::string_view text);

  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t word);
  std::uint64_t value_ = 0;
};

// Minibatches that are chosen by the contents of rows, so that they do not depend on the order of
// the rows, nor on where they are.

/// Which rows are in a minibatch: those for which a hash of `key` and the row is at most
/// `threshold`. Every row is with the same probability, (threshold + 1) / 2^64, independently of
/// other rows, equal ones included, and of other keys.
struct HashChoice {
  std::uint64_t key = 0, threshold = 0;
  Document message() const;
  /// Throws Error(invalid_binary) unless message() has made it.
  static HashChoice from_message(const Document &message);
};

/// The hash of an item that follows `before` equal items in the same part, which is number `part`
/// (from 0) of all parts. The first of equal items keeps `hash`; its copies get hashes of their
/// own.
BAYES_API std::uint64_t hash_of_copy(std::uint64_t hash, std::uint64_t before, std::size_t part);

/// Rows of this server, each with a hash of its elements and its weight, so that it is the same
/// wherever the row is. Copies of a row have hashes of their own, made from the number of equal
/// rows before and the number of the part; otherwise a minibatch would have all copies or none.
class BAYES_API HashedRows {
 public:
  /// `part`: the number of the rows among the parts of all rows, from 0
  HashedRows(RowSource &rows, std::size_t part, Control &control);
  /// the number of rows that are chosen
  std::int64_t count(const HashChoice &choice) const;
  /// Replaces the rows of `to`, which are weighted, by those that are chosen.
  void choose(const HashChoice &choice, MemoryRows &to) const;
  /// Memory for the hashes of this many rows; about a quarter more while they are made, if rows are
  /// not in order.
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

// Hold-out: items are left out of a fit, so that a model of the others can be evaluated on them.

/// Holds out one of every `every` items, by hashes of their contents: the same items in any order
/// and wherever they are, as numbers of hashes in intervals add up over parts of the items.
///
/// Hashes are counted in intervals of equal length. The items of the first intervals are held out,
/// of as few intervals as have one in `every` of all items, rounded down. So none is held out if
/// there are fewer than `every` items; of n items there may be about n / intervals more than
/// necessary. Equal items must have different hashes (hash_of_copy), or they are held out together.
class BAYES_API HoldOut {
 public:
  static constexpr int intervals = 4096;

  explicit HoldOut(int every) : every_(every), counts_(intervals, 0.0) {}
  int every() const { return every_; }

  void count(std::uint64_t hash) { ++counts_[std::size_t(interval(hash))]; }
  /// Counts items of these hashes, in any order, of which equal ones are copies. `part`: as for
  /// hash_of_copy.
  void count(std::vector<std::uint64_t> hashes, std::size_t part);
  /// The number of items in each interval.
  const std::vector<double> &counts() const { return counts_; }
  /// Adds the counts of a part with `items` items. Throws Error(invalid_binary) unless they sum to
  /// that.
  void add(std::span<const double> counts, std::int64_t items);

  /// Chooses, once all items are counted.
  void choose();
  /// The number of intervals whose items are held out.
  int bound() const { return bound_; }
  /// Sets the bound that was chosen elsewhere.
  void set_bound(int bound) { bound_ = bound; }
  /// the number of items that are counted and held out
  std::int64_t held_out() const;
  bool takes(std::uint64_t hash) const { return interval(hash) < bound_; }

 private:
  static int interval(std::uint64_t hash);

  int every_, bound_ = 0;
  std::vector<double> counts_;
};

// Messages about hold-out, as fields (data/pass.hpp).

/// One item in how many is held out, 2 to 1000, if any are.
template <class F> void every_field(F &f, std::optional<int> &every) {
  f.optional("hold_out", every, [&](int &value) { f.integer("hold_out", value, 2, 1000); });
}
/// HoldOut::bound()
template <class F> void bound_field(F &f, int &bound) {
  f.integer("hold_out", bound, 0, HoldOut::intervals);
}
/// HoldOut::counts()
template <class F> void counts_field(F &f, std::optional<std::vector<double>> &counts) {
  f.optional("hashes", counts, [&](std::vector<double> &all) { f.numbers("hashes", all); });
}

}  // namespace bayes
