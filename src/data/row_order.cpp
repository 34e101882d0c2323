#include "data/row_order.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/random.hpp"
#include "data/sweep.hpp"

namespace bayes {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

/// Prefetches, for writing, the memory that follows `place` in a stream of writes.
template <class T> void prefetch_next(T *place) {
  __builtin_prefetch(reinterpret_cast<char *>(place) + cache_line + cache_line / 4, 1);
}

/// Sorts rows in passes that access memory in order, or in one stream for each bucket, since random
/// accesses would take longer than everything else. First, hashes are distributed to buckets by
/// their highest bits, and every bucket is sorted in the cache. Then columns are moved, two at a
/// time, first to the buckets and from there to their final places. (Moving more at a time takes
/// more memory and is no faster.)
class Arrangement {
 public:
  Arrangement(RowSource &rows, Control &control)
      : control_(control),
        shape_(rows.shape()),
        pieces_(rows.stretch(0)),
        rows_(std::size_t(rows.rows())),
        threads_(plan_tasks(20 * double(rows.rows()), 0, control).threads),
        bits_(std::clamp(int(std::bit_width(rows_ / rows_of_bucket)), 1, max_bits)),
        pieces_of_chunk_((pieces_.size() + max_chunks - 1) / max_chunks),
        chunks_((pieces_.size() + pieces_of_chunk_ - 1) / pieces_of_chunk_),
        position_(rows_),
        buffer_(2 * rows_) {}

  /// The former index of every row; empty if the rows are in order already.
  RowNumbers run() {
    if (hash_rows()) return {};
    source_.resize(rows_);
    fill_buckets();
    sort_buckets();
    const int numbers = shape_.dimension + shape_.weighted;
    for (int j = 0; j < numbers; j += 2)
      if (j + 1 < numbers)
        move_columns<2>(j);
      else
        move_columns<1>(j);
    move_numbers();
    return std::move(position_);
  }

 private:
  static constexpr std::size_t rows_of_bucket = 2048, max_chunks = 64;
  static constexpr int max_bits = 12;  // the streams of more buckets would not fit into caches

  std::size_t buckets() const { return std::size_t(1) << bits_; }
  std::size_t bucket_of(std::uint64_t hash) const { return hash >> (64 - bits_); }

  /// Calls process(chunk, first, piece) for the pieces of every chunk, in order, on all threads;
  /// `first`: the index of the piece's first row.
  template <class Begin, class Process> void for_each_piece(Begin begin, Process process) {
    run_tasks(chunks_, threads_, control_, [&](std::size_t chunk, const Stop &stop) {
      auto state = begin(chunk);
      const std::size_t end = std::min((chunk + 1) * pieces_of_chunk_, pieces_.size());
      for (std::size_t p = chunk * pieces_of_chunk_; p < end && !stop(); ++p)
        process(state, p * std::size_t(shape_.piece_rows()), pieces_[p]);
    });
  }
  template <class Process> void for_each_piece(Process process) {
    for_each_piece([](std::size_t) { return 0; },
                   [&](int, std::size_t first, const Piece &piece) { process(first, piece); });
  }

  /// Calls process(block, first, rows) for the blocks of a piece whose first row has index `first`.
  template <class Process>
  void for_each_block(std::size_t first, const Piece &piece, Process process) const {
    double *block = const_cast<double *>(piece.blocks);
    for (std::int64_t at = 0; at < piece.rows; at += block_rows, block += shape_.block_doubles())
      process(block, first + std::size_t(at),
              int(std::min<std::int64_t>(block_rows, piece.rows - at)));
  }
  template <class Process> void for_each_block(Process process) {
    for_each_piece(
        [&](std::size_t first, const Piece &piece) { for_each_block(first, piece, process); });
  }

  /// Writes the hashes to the first half of the buffer, and counts them by chunk and bucket.
  /// Returns whether they are in order.
  bool hash_rows() {
    counts_.resize(chunks_ * buckets());
    struct State {
      std::uint64_t last;
      std::size_t chunk;
    };
    // whether the hashes of each chunk are in order
    std::vector<char> sorted(chunks_);
    for_each_piece(
        [&](std::size_t chunk) {
          std::fill_n(counts_.begin() + std::ptrdiff_t(chunk * buckets()), buckets(), 0U);
          sorted[chunk] = true;
          return State{0, chunk};
        },
        [&](State &state, std::size_t first, const Piece &piece) {
          std::uint32_t *const counts = counts_.data() + state.chunk * buckets();
          bool ordered = true;
          for_each_block(first, piece, [&](const double *block, std::size_t row, int rows) {
            std::uint64_t hash[block_rows];
            hash_block(shape_.dimension + shape_.weighted, 0, block, hash);
            for (int b = 0; b < rows; ++b) {
              ordered &= hash[b] >= state.last;
              state.last = hash[b];
              ++counts[bucket_of(hash[b])];
            }
            std::copy_n(hash, rows, hashes() + row);
          });
          if (!ordered) sorted[state.chunk] = false;
        });
    for (std::size_t chunk = 1; chunk < chunks_; ++chunk) {
      const std::size_t first = chunk * pieces_of_chunk_ * std::size_t(shape_.piece_rows());
      sorted[0] &= sorted[chunk] && hashes()[first] >= hashes()[first - 1];
    }
    return sorted[0];
  }

  /// Writes the hashes to their buckets, in the second half of the buffer; those of a bucket keep
  /// their order.
  void fill_buckets() {
    // Replaces every count by the place of the first hash of its chunk and bucket.
    starts_.assign(buckets() + 1, 0);
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
      for (std::size_t b = 0; b < buckets(); ++b) starts_[b + 1] += counts_[chunk * buckets() + b];
    for (std::size_t b = 0; b < buckets(); ++b) starts_[b + 1] += starts_[b];
    std::vector<std::size_t> next = starts_;
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
      for (std::size_t b = 0; b < buckets(); ++b) {
        const std::size_t count = counts_[chunk * buckets() + b];
        counts_[chunk * buckets() + b] = std::uint32_t(next[b]);
        next[b] += count;
      }
    for_each_piece(
        [&](std::size_t chunk) {
          const auto begin = counts_.begin() + std::ptrdiff_t(chunk * buckets());
          return std::vector<std::uint32_t>(begin, begin + std::ptrdiff_t(buckets()));
        },
        [&](std::vector<std::uint32_t> &places, std::size_t first, const Piece &piece) {
          std::uint32_t *const next = places.data();
          for (std::size_t row = first; row < first + std::size_t(piece.rows); ++row) {
            const std::uint64_t hash = hashes()[row];
            const std::uint32_t place = next[bucket_of(hash)]++;
            keys()[place] = hash;
            prefetch_next(keys() + place);
            position_[row] = place;
          }
        });
  }

  void sort_buckets() {
    const std::size_t at_once = (buckets() + max_chunks - 1) / max_chunks;
    run_tasks((buckets() + at_once - 1) / at_once, threads_, control_,
              [&](std::size_t task, const Stop &stop) {
                std::vector<std::uint32_t> bins;
                const std::size_t end = std::min((task + 1) * at_once, buckets());
                for (std::size_t b = task * at_once; b < end && !stop(); ++b)
                  sort_bucket(starts_[b], starts_[b + 1], bins);
              });
  }

  /// Distributes the hashes of a bucket to bins by their next bits, which leaves few moves for an
  /// insertion sort.
  void sort_bucket(std::size_t begin, std::size_t end, std::vector<std::uint32_t> &bins) {
    const std::size_t size = end - begin;
    const int width = std::clamp(int(std::bit_width(size)) + 1, 1, 16);
    const auto bin = [&](std::size_t i) { return (keys()[i] << bits_) >> (64 - width); };
    bins.assign((std::size_t(1) << width) + 1, 0);
    for (std::size_t i = begin; i < end; ++i) ++bins[bin(i) + 1];
    std::uint32_t total = std::uint32_t(begin);
    for (std::uint32_t &b : bins) b = total += b;
    std::uint32_t *const source = source_.data();
    for (std::size_t i = begin; i < end; ++i) source[bins[bin(i)]++] = std::uint32_t(i);

    std::size_t moves = 0;
    std::uint64_t previous = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t from = source[i];
      const std::uint64_t key = keys()[from];
      if (key >= previous) {
        previous = key;
        continue;
      }
      std::size_t to = i;
      for (; to > begin && keys()[source[to - 1]] > key; --to) source[to] = source[to - 1];
      source[to] = from;
      moves += i - to;
      // With many repeated rows, insertion may take quadratic time.
      if (moves > 32 * size)
        return std::stable_sort(
            source + begin, source + end,
            [this](std::uint32_t a, std::uint32_t b) { return keys()[a] < keys()[b]; });
    }
  }

  /// Moves columns j, ..., j + count - 1.
  template <int count> void move_columns(int j) {
    const std::size_t column = std::size_t(j) * block_rows;
    for_each_block([&](const double *block, std::size_t first, int rows) {
      const double *const from = block + column;
      const std::uint32_t *const position = position_.data() + first;
      for (int b = 0; b < rows; ++b) {
        double *const to = buffer_.data() + count * std::size_t(position[b]);
        for (int c = 0; c < count; ++c) to[c] = from[c * block_rows + b];
        prefetch_next(to);
      }
    });
    for_each_block([&](double *block, std::size_t first, int rows) {
      double *const to = block + column;
      const std::uint32_t *const source = source_.data() + first;
      for (int b = 0; b < rows; ++b) {
        const double *const from = buffer_.data() + count * std::size_t(source[b]);
        for (int c = 0; c < count; ++c) to[c * block_rows + b] = from[c];
      }
    });
  }

  /// Moves the former indices in the same way as columns; they overwrite the positions.
  void move_numbers() {
    std::uint32_t *const buffer = reinterpret_cast<std::uint32_t *>(buffer_.data());
    for_each_piece([&](std::size_t first, const Piece &piece) {
      for (std::size_t row = first; row < first + std::size_t(piece.rows); ++row) {
        buffer[position_[row]] = std::uint32_t(row);
        prefetch_next(buffer + position_[row]);
      }
    });
    for_each_piece([&](std::size_t first, const Piece &piece) {
      for (std::size_t row = first; row < first + std::size_t(piece.rows); ++row)
        position_[row] = buffer[source_[row]];
    });
  }

  std::uint64_t *hashes() { return reinterpret_cast<std::uint64_t *>(buffer_.data()); }
  std::uint64_t *keys() { return hashes() + rows_; }

  Control &control_;
  const RowShape shape_;
  const std::span<const Piece> pieces_;
  const std::size_t rows_;
  const int threads_;
  /// number of highest bits of a hash that are the index of its bucket
  const int bits_;
  /// a chunk is a range of consecutive pieces, processed by one thread
  const std::size_t pieces_of_chunk_, chunks_;
  /// [chunk][bucket]
  std::vector<std::uint32_t> counts_;
  /// where each bucket begins, and where the last one ends
  std::vector<std::size_t> starts_;
  /// The place of each row in the buckets; at the end, its former index.
  RowNumbers position_;
  /// The place in the buckets from which each sorted row comes.
  RowNumbers source_;
  std::vector<double, Untouched<double>> buffer_;
};

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
  for (int b = 0; b < block_rows; ++b) out[b] = split_mix(out[b]);
}

std::uint64_t hash_row(std::span<const double> x, std::uint64_t seed) {
  std::vector<double> block(x.size() * block_rows, 0.0);
  for (std::size_t j = 0; j < x.size(); ++j) block[j * block_rows] = x[j];
  std::uint64_t hashes[block_rows];
  hash_block(int(x.size()), seed, block.data(), hashes);
  return hashes[0];
}

RowNumbers arrange_rows(RowSource &rows, Control &control) {
  if (rows.rows() == 0) return {};
  return Arrangement(rows, control).run();
}

}  // namespace bayes
