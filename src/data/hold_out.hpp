// Which items of all are held out of a fit, so that a model of the others can be evaluated on them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// Holds out one of so many items, by hashes of what they are: the same ones in any order and
/// wherever they are, as numbers of hashes in intervals add up over parts of the items.
///
/// Hashes are counted in intervals of equal length. Held out are the items of the first intervals,
/// as few of these as have a `every`-th of all items, rounded down. So none is if there are fewer
/// than `every` items; of n items there may be about n / intervals more than necessary. Equal items
/// must have different hashes (hash_of_copy), or they are held out together.
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
  /// Adds the counts of a part that has so many items. Throws Error(invalid_binary) for others.
  void add(std::span<const double> counts, std::int64_t items);

  /// Chooses, once all items are counted.
  void choose();
  /// The number of intervals whose items are held out.
  int bound() const { return bound_; }
  /// As it was chosen elsewhere.
  void set_bound(int bound) { bound_ = bound; }
  /// the number of items that are counted and held out
  std::int64_t held_out() const;
  bool takes(std::uint64_t hash) const { return interval(hash) < bound_; }

 private:
  static int interval(std::uint64_t hash);

  int every_, bound_ = 0;
  std::vector<double> counts_;
};

// What servers tell each other of it, as fields (data/fields.hpp).

/// Every how many items one is held out, 2 to 1000, if any are.
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
