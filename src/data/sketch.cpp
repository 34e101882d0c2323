#include "data/sketch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "data/remote_rows.hpp"
#include "data/row_order.hpp"
#include "data/sweep.hpp"

namespace bayes {
namespace {

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

void Sketch::merge(const Sketch &other) {
  incomplete_ += other.incomplete_;
  // If the other has dropped rows, it has as many below its threshold as are to be retained.
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

Sketch Sketch::of(RowSource &rows, Control &control, std::uint64_t seed, std::size_t capacity,
                  bool with_evidence) {
  if (RemoteRows *const remote = rows.remote())
    return of_remote(*remote, seed, capacity, with_evidence);
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
        total.merge(parts[std::size_t(slot)]);
        threshold.store(total.threshold_, std::memory_order_relaxed);
      });
  total.prune();
  return total;
}

Document Sketch::message() const {
  std::vector<double> elements, weights;
  for (const Entry &entry : entries_) {
    const auto from = values_.begin() + std::ptrdiff_t(entry.row);
    elements.insert(elements.end(), from, from + dimension_);
    weights.push_back(entry.weight);
  }
  Document out = Document::object();
  out.set("elements", numbers_document(elements)).set("weights", numbers_document(weights));
  out.set("threshold", std::bit_cast<std::int64_t>(threshold_)).set("incomplete", incomplete_);
  return out;
}

Sketch Sketch::of_remote(RemoteRows &rows, std::uint64_t seed, std::size_t capacity,
                         bool with_evidence) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const int d = rows.shape().dimension;
  Document request = pass_request("sketch");
  request.set("seed", std::bit_cast<std::int64_t>(seed)).set("capacity", std::int64_t(capacity));
  request.set("with_evidence", with_evidence);
  Sketch total(d, seed, capacity);
  for (const Document &answer : rows.ask(request)) {
    const PassReader part(answer);
    const std::vector<double> &weights = part.numbers("weights"),
                              &elements = part.numbers("elements", weights.size() * std::size_t(d));
    for (const double weight : weights)
      if (!(weight >= 0 && std::isfinite(weight))) PassReader::refuse();
    Sketch one(d, seed, capacity);
    one.incomplete_ = part.integer("incomplete", 0, any);
    one.threshold_ = std::bit_cast<std::uint64_t>(part.integer("threshold", -any - 1, any));
    // Blocks of the rows, for their hashes.
    std::vector<double> block(std::size_t(d) * block_rows);
    std::uint64_t hash[block_rows];
    for (std::size_t first = 0; first < weights.size(); first += block_rows) {
      const std::size_t size = std::min(std::size_t(block_rows), weights.size() - first);
      for (std::size_t b = 0; b < size; ++b)
        for (std::size_t j = 0; j < std::size_t(d); ++j)
          block[j * block_rows + b] = elements[(first + b) * std::size_t(d) + j];
      hash_block(d, seed, block.data(), hash);
      for (std::size_t b = 0; b < size; ++b)
        one.add(hash[b], block.data() + b, block_rows, weights[first + b]);
    }
    total.merge(one);
  }
  total.prune();
  return total;
}

Document answer_sketch(RowSource &rows, const Document &request, Control &control) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const PassReader given(request);
  const Sketch found =
      Sketch::of(rows, control, std::bit_cast<std::uint64_t>(given.integer("seed", -any - 1, any)),
                 std::size_t(given.integer("capacity", 1, 1 << 30)), given.flag("with_evidence"));
  rows.set_incomplete(found.incomplete());
  return found.message();
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
