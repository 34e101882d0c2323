// A small representative sample of the distinct rows, for starting points.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"

namespace bayes {

/// The distinct rows with the smallest content hashes (a bottom-m sketch), each with the sum of its
/// weights over the whole table.
///
/// Which rows it retains depends only on the set of distinct rows and the seed, not on their order,
/// threads or parallel plans; hence neither do starting points. A repeated row counts like one with
/// a larger weight.
class BAYES_API Sketch {
 public:
  Sketch(int dimension, std::uint64_t seed, std::size_t capacity)
      : dimension_(dimension),
        seed_(seed),
        capacity_(capacity) {}

  /// Reads all rows once. Capacity: the largest number of rows retained, >= 1. `with_evidence`:
  /// rows without any element are left out.
  static Sketch of(RowSource &rows, Control &control, std::uint64_t seed, std::size_t capacity,
                   bool with_evidence = false);

  /// Distinct rows retained: all of them if they are fewer than the capacity. (Two rows with equal
  /// 64-bit hashes count as one.)
  std::size_t size() const { return entries_.size(); }
  /// Whether all distinct rows are retained.
  bool complete() const { return threshold_ == ~std::uint64_t(0); }
  /// number of rows of the table with a missing element
  std::int64_t incomplete() const { return incomplete_; }

  /// The weighted rows, in an order that depends on their contents only.
  MemoryRows sorted() const;

  // The sums of a pass (data/pass.hpp).
  template <class F> void fields(F &f);
  void add(const Sketch &other);
  /// After this pass the rows know how many of them miss an element.
  static const PassOver<PartOfRows> pass;

 private:
  struct Pass;
  struct Entry {
    std::uint64_t hash;
    std::size_t row;  // into values_
    double weight;
  };
  void add(std::uint64_t hash, const double *x, std::size_t stride, double weight);
  void prune();
  void clear();

  int dimension_;
  std::uint64_t seed_;
  std::size_t capacity_;
  std::uint64_t threshold_ = ~std::uint64_t(0);  // rows with larger hashes are dropped
  std::int64_t incomplete_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<Entry> entries_;
  std::vector<double> values_;
};

}  // namespace bayes
