#include "data/row_order.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "data/sweep.hpp"

namespace bayes {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

/// The upper half of a row's hash, and the row's number below.
using Entry = std::uint64_t;
inline std::uint32_t number(Entry e) { return std::uint32_t(e); }

/// Calls process(segment) for all rows, on all threads.
template <class F>
void for_each_segment(RowSource &rows, Control &control, double cost, F process) {
  Sweep sweep(rows, control);
  sweep.run(
      sweep.plan(cost, 0),
      [&](int, int, const Segment &segment, const Stop &) { process(segment); }, [](int) {});
}

std::vector<std::uint64_t> hashes_of(RowSource &rows, Control &control) {
  const RowShape shape = rows.shape();
  const int numbers = shape.dimension + shape.weighted;
  std::vector<std::uint64_t> out(std::size_t(rows.rows()));
  for_each_segment(rows, control, 3.0 * numbers, [&](const Segment &segment) {
    std::uint64_t hash[block_rows];
    for (std::int64_t first = 0; first < segment.rows; first += block_rows) {
      hash_block(numbers, 0,
                 segment.blocks + std::size_t(first / block_rows) * shape.block_doubles(), hash);
      std::copy_n(hash, std::min<std::int64_t>(block_rows, segment.rows - first),
                  out.begin() + segment.first + first);
    }
  });
  return out;
}

/// Sorts by the upper halves, keeping the order of equal ones: by 11 bits at a time, the lowest
/// first.
void sort_entries(std::vector<Entry> &entries, Control &control) {
  constexpr std::size_t between_polls = 1 << 20;
  std::vector<Entry> sorted(entries.size());
  for (const int shift : {32, 43, 53}) {
    const auto digit = [shift](Entry e) { return std::size_t(e >> shift) % 2048; };
    std::vector<std::size_t> next(2049);
    for (const Entry e : entries) ++next[digit(e) + 1];
    for (std::size_t d = 1; d < next.size(); ++d) next[d] += next[d - 1];
    for (std::size_t first = 0; first < entries.size(); first += between_polls) {
      if (control.pending()) control.poll();
      const std::size_t end = std::min(first + between_polls, entries.size());
      for (std::size_t i = first; i < end; ++i) sorted[next[digit(entries[i])]++] = entries[i];
    }
    std::swap(entries, sorted);
  }
}

/// Sorts runs of equal upper halves by the whole hash. Most are repeated rows.
void sort_runs(std::vector<Entry> &entries, const std::vector<std::uint64_t> &hashes) {
  for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    bool equal = true;
    for (end = begin + 1; end < entries.size() && entries[end] >> 32 == entries[begin] >> 32; ++end)
      equal &= hashes[number(entries[end])] == hashes[number(entries[begin])];
    if (!equal)
      std::sort(entries.begin() + std::ptrdiff_t(begin), entries.begin() + std::ptrdiff_t(end),
                [&](Entry a, Entry b) { return hashes[number(a)] < hashes[number(b)]; });
  }
}

/// The row that is to be the first, and so on.
std::vector<std::uint32_t> canonical_order(RowSource &rows, Control &control) {
  const std::vector<std::uint64_t> hashes = hashes_of(rows, control);
  std::vector<Entry> entries(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i)
    entries[i] = (hashes[i] >> 32 << 32) + std::uint64_t(i);
  sort_entries(entries, control);
  sort_runs(entries, hashes);
  std::vector<std::uint32_t> out(entries.size());
  std::transform(entries.begin(), entries.end(), out.begin(), number);
  return out;
}

/// Row order[i] becomes row i. Two columns at a time: less memory than rows, and fewer pages are
/// touched than by one.
void permute_rows(RowSource &rows, const std::vector<std::uint32_t> &order, Control &control) {
  constexpr int at_once = 2;
  const RowShape shape = rows.shape();
  const std::span<const Piece> pieces = rows.stretch(0);
  const int numbers = shape.dimension + shape.weighted,
            shift = std::countr_zero(std::uint64_t(shape.piece_rows()));
  std::vector<double> buffer(at_once * order.size());
  for (int j = 0; j < numbers; j += at_once) {
    const int columns = std::min(at_once, numbers - j);
    for_each_segment(rows, control, 20, [&](const Segment &segment) {
      double *to = buffer.data() + at_once * segment.first;
      for (std::int64_t i = segment.first; i < segment.first + segment.rows; ++i, to += at_once) {
        const std::size_t row = order[std::size_t(i)],
                          inside = row & ((std::size_t(1) << shift) - 1);
        const double *const from = pieces[row >> shift].blocks +
                                   inside / block_rows * shape.block_doubles() +
                                   inside % block_rows + std::size_t(j) * block_rows;
        for (int c = 0; c < columns; ++c) to[c] = from[c * block_rows];
      }
    });
    for_each_segment(rows, control, 4, [&](const Segment &segment) {
      const double *from = buffer.data() + at_once * segment.first;
      for (std::int64_t i = 0; i < segment.rows; ++i, from += at_once) {
        double *const to = const_cast<double *>(segment.blocks) +
                           std::size_t(i / block_rows) * shape.block_doubles() +
                           std::size_t(i % block_rows) + std::size_t(j) * block_rows;
        for (int c = 0; c < columns; ++c) to[c * block_rows] = from[c];
      }
    });
  }
}

}  // namespace

void hash_block(int numbers, std::uint64_t seed, const double *block, std::uint64_t *out) {
  for (int b = 0; b < block_rows; ++b) out[b] = seed * odd + 0x632be59bd9b4e019;
  for (int j = 0; j < numbers; ++j) {
    const double *at = block + std::size_t(j) * block_rows;
    for (int b = 0; b < block_rows; ++b) {
      const double x = at[b] == at[b] ? at[b] + 0.0 : std::numeric_limits<double>::quiet_NaN();
      const std::uint64_t h = (out[b] ^ std::bit_cast<std::uint64_t>(x)) * odd;
      out[b] = h ^ (h >> 29);
    }
  }
  // The finaliser of SplitMix64: every input bit reaches every output bit.
  for (int b = 0; b < block_rows; ++b) {
    std::uint64_t h = out[b];
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
    h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
    out[b] = h ^ (h >> 31);
  }
}

std::vector<std::uint32_t> arrange_rows(RowSource &rows, Control &control) {
  std::vector<std::uint32_t> order = canonical_order(rows, control);
  if (std::is_sorted(order.begin(), order.end())) return {};
  permute_rows(rows, order, control);
  return order;
}

}  // namespace bayes
