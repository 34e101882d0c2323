#include "data/sketch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "data/pass.hpp"
#include "data/row_order.hpp"
#include "data/sweep.hpp"

namespace bayes {
namespace {

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max(), lowest = -highest - 1;

bool misses_all(int dimension, const double *x) {
  for (int j = 0; j < dimension; ++j)
    if (x[std::size_t(j) * block_rows] == x[std::size_t(j) * block_rows]) return false;
  return true;
}

}  // namespace

void Sketch::add(std::uint64_t hash, const double *x, std::size_t stride, double weight) {
  if (hash > threshold_) return;
  const auto [at, fresh] = index_.try_emplace(hash, entries_.size());
  if (!fresh) {
    entries_[at->second].weight += weight;
    return;
  }
  entries_.push_back({hash, values_.size(), weight});
  for (int j = 0; j < dimension_; ++j) values_.push_back(x[std::size_t(j) * stride]);
  if (entries_.size() >= 2 * capacity_) prune();
}

void Sketch::prune() {
  if (entries_.size() <= capacity_) return;
  const auto nth = entries_.begin() + std::ptrdiff_t(capacity_);
  std::nth_element(entries_.begin(), nth, entries_.end(),
                   [](const Entry &a, const Entry &b) { return a.hash < b.hash; });
  entries_.erase(nth, entries_.end());
  std::vector<double> retained;
  retained.reserve(2 * capacity_ * std::size_t(dimension_));
  index_.clear();
  threshold_ = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry &entry = entries_[i];
    const auto from = values_.begin() + std::ptrdiff_t(entry.row);
    entry.row = retained.size();
    retained.insert(retained.end(), from, from + dimension_);
    index_.emplace(entry.hash, i);
    threshold_ = std::max(threshold_, entry.hash);
  }
  values_ = std::move(retained);
}

void Sketch::add(const Sketch &other) {
  incomplete_ += other.incomplete_;
  // A sketch that has dropped rows has as many below its threshold as a sketch retains.
  threshold_ = std::min(threshold_, other.threshold_);
  for (const Entry &entry : other.entries_)
    add(entry.hash, other.values_.data() + entry.row, 1, entry.weight);
}

void Sketch::clear() {
  index_.clear();
  entries_.clear();
  values_.clear();
  threshold_ = ~std::uint64_t(0);
  incomplete_ = 0;
}

struct Sketch::Pass {
  static constexpr const char *name = "sketch";
  using Sums = Sketch;
  std::uint64_t seed = 0;
  std::size_t capacity = 1;
  bool with_evidence = false;

  template <class F> void fields(F &f, RowSource &) {
    auto bits = std::bit_cast<std::int64_t>(seed);
    f.integer("seed", bits, lowest, highest);
    seed = std::bit_cast<std::uint64_t>(bits);
    f.integer("capacity", capacity, 1, 1 << 30);
    f.flag("with_evidence", with_evidence);
  }
  Sketch nothing(RowSource &rows) const { return {rows.shape().dimension, seed, capacity}; }
  Sketch here(RowSource &rows, Control &control) const;
  void answered(RowSource &rows, const Sketch &sums) const {
    rows.set_incomplete(sums.incomplete());
  }
};

const PassOver<PartOfRows> Sketch::pass = pass_over<PartOfRows, Sketch::Pass>();

Sketch Sketch::of(RowSource &rows, Control &control, std::uint64_t seed, std::size_t capacity,
                  bool with_evidence) {
  Sketch out = run(rows, Pass{seed, capacity, with_evidence}, control);
  out.prune();
  return out;
}

Sketch Sketch::Pass::here(RowSource &rows, Control &control) const {
  Sketch total(rows.shape().dimension, seed, capacity);
  Sweep sweep(rows, control);
  const RowShape shape = rows.shape();
  const SweepPlan plan =
      sweep.plan(4.0 * shape.dimension, std::size_t(8 * shape.dimension) *
                                            std::min(capacity, std::size_t(shape.piece_rows())));
  std::vector<Sketch> parts(std::size_t(plan.slots), total);
  // The threshold of the rows merged so far avoids collecting rows that the merge would drop; an
  // outdated value only costs time.
  std::atomic<std::uint64_t> threshold{total.threshold_};
  sweep.run(
      plan,
      [&](int, int slot, const Segment &segment, const Stop &stop) {
        Sketch &part = parts[std::size_t(slot)];
        part.clear();
        part.threshold_ = threshold.load(std::memory_order_relaxed);
        std::uint64_t hash[block_rows];
        for (std::int64_t first = 0; first < segment.rows && !stop(); first += block_rows) {
          const double *block =
              segment.blocks + std::size_t(first / block_rows) * shape.block_doubles();
          hash_block(shape.dimension, part.seed_, block, hash);
          const int end = int(std::min<std::int64_t>(block_rows, segment.rows - first));
          const std::int64_t misses = count_incomplete(shape.dimension, block, end);
          part.incomplete_ += misses;
          for (int b = 0; b < end; ++b) {
            if (misses && with_evidence && misses_all(shape.dimension, block + b)) continue;
            part.add(hash[b], block + b, block_rows,
                     shape.weighted
                         ? block[std::size_t(shape.dimension) * block_rows + std::size_t(b)]
                         : 1);
          }
        }
      },
      [&](int slot) {
        total.add(parts[std::size_t(slot)]);
        threshold.store(total.threshold_, std::memory_order_relaxed);
      });
  total.prune();
  return total;
}

template <class F> void Sketch::fields(F &f) {
  const std::size_t d = std::size_t(dimension_);
  std::vector<double> elements, weights;
  for (const Entry &entry : entries_) {
    const auto from = values_.begin() + std::ptrdiff_t(entry.row);
    elements.insert(elements.end(), from, from + dimension_);
    weights.push_back(entry.weight);
  }
  f.numbers("weights", weights);
  f.numbers("elements", elements, weights.size() * d);
  for (const double weight : weights) f.require(weight >= 0 && std::isfinite(weight));
  auto bits = std::bit_cast<std::int64_t>(threshold_);
  f.integer("threshold", bits, lowest, highest);
  f.integer("incomplete", incomplete_, 0, highest);
  if constexpr (F::reading) {
    threshold_ = std::bit_cast<std::uint64_t>(bits);
    // Blocks of the rows, for their hashes.
    std::vector<double> block(d * block_rows);
    std::uint64_t hash[block_rows];
    for (std::size_t first = 0; first < weights.size(); first += block_rows) {
      const std::size_t size = std::min(std::size_t(block_rows), weights.size() - first);
      for (std::size_t b = 0; b < size; ++b)
        for (std::size_t j = 0; j < d; ++j)
          block[j * block_rows + b] = elements[(first + b) * d + j];
      hash_block(dimension_, seed_, block.data(), hash);
      for (std::size_t b = 0; b < size; ++b)
        add(hash[b], block.data() + b, block_rows, weights[first + b]);
    }
  }
}

MemoryRows Sketch::sorted() const {
  std::vector<const Entry *> order;
  for (const Entry &entry : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const Entry *a, const Entry *b) { return a->hash < b->hash; });
  MemoryRows out({dimension_, true});
  out.set_incomplete(incomplete_);
  for (const Entry *entry : order) out.append(values_.data() + entry->row, entry->weight);
  return out;
}

}  // namespace bayes
