// Rows of numbers: packed blocks that are read many times, in total possibly larger than memory.
//
// A block holds `block_rows` rows feature by feature: feature j of row b is at data[j * block_rows
// + b], so that a vector register holds the same feature of neighbouring rows; the block's weights,
// if any, follow the d features. The unused end of the last block is filled with zeros (weight 0).
//
// Blocks come in pieces of `piece_rows(d)` rows, a power of two that depends on the shape of a row
// alone. A sweep splits the rows at fixed multiples inside the pieces; therefore results are
// bit-identical whether the pieces are in memory or are read back from a file, and for any number
// of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "base/api.hpp"
#include "base/control.hpp"

namespace bayes {

class Document;
class RemoteRows;

inline constexpr int block_rows = 128;

/// Options of a fit that concern the reading of rows, and so are needed before the first row;
/// checked with all the others.
struct RowOptions {
  /// missing = skip: rows with a NULL, NaN or infinite element are left out and counted
  bool skip_missing = false;
  /// missing = marginalize: a NULL or NaN element is stored, as NaN
  bool keep_missing = false;
};

/// Consecutive blocks in memory, the last of them possibly not full.
struct Piece {
  /// begins on a cache line
  const double *blocks;
  std::int64_t rows;
};

/// The shape of packed rows.
struct RowShape {
  /// d >= 1
  int dimension = 0;
  /// every row has a weight
  bool weighted = false;

  std::size_t block_doubles() const {
    return std::size_t(dimension + (weighted ? 1 : 0)) * block_rows;
  }

  /// Rows of a full piece: the largest power of two whose blocks fill no more than 256 KiB, at
  /// least one block.
  std::int64_t piece_rows() const {
    std::int64_t rows = block_rows;
    while (rows * 2 / block_rows * std::int64_t(block_doubles()) * 8 <= 256 * 1024) rows *= 2;
    return rows;
  }
  std::size_t piece_doubles() const {
    return std::size_t(piece_rows() / block_rows) * block_doubles();
  }
};

/// Writes one row into a piece. `piece` is the piece's zero-filled memory, `row` the row's index
/// inside the piece.
inline void pack_row(const RowShape &shape, double *piece, std::int64_t row, const double *x,
                     double weight) {
  double *at =
      piece + std::size_t(row / block_rows) * shape.block_doubles() + std::size_t(row % block_rows);
  for (int j = 0; j < shape.dimension; ++j) at[std::size_t(j) * block_rows] = x[j];
  if (shape.weighted) at[std::size_t(shape.dimension) * block_rows] = weight;
}

/// A rewindable collection of packed rows.
///
/// Rows are handed out in stretches, the units that are in memory at one time. Stretch 0 never left
/// memory; later ones are read back from a file. A stretch stays valid until the second next call
/// of stretch(), so that one can be read while threads still work on the previous one.
class BAYES_API RowSource {
 public:
  virtual ~RowSource() = default;
  const RowShape &shape() const { return shape_; }
  /// rows held, all of weight > 0
  std::int64_t rows() const { return rows_; }
  /// rows left out: NULL, weight 0 or, with missing = skip, a missing value
  std::int64_t skipped() const { return skipped_; }
  virtual std::int64_t stretches() const = 0;
  /// main thread only; may throw
  virtual std::span<const Piece> stretch(std::int64_t index) = 0;

  /// The position of a row in the input, from 0, for messages: rows may have been sorted
  /// (data/row_order.hpp).
  virtual std::int64_t number_of(std::int64_t row) const { return row; }

  /// The name of an element (from 0) in messages: "element 3", or the name of its column.
  virtual std::string name_of_element(int element) const;

  /// The number of rows with a missing element (NaN). Families of whole rows, like the multivariate
  /// normal, look for missing elements only if there are any; set by fits that allow them.
  std::int64_t incomplete() const { return incomplete_; }
  void set_incomplete(std::int64_t rows) { incomplete_ = rows; }

  /// Copies block `index` (counted over all rows) to `out` (shape().block_doubles() doubles):
  /// random access for small batches. Main thread only; may throw; leaves stretches that are in use
  /// valid.
  virtual void read_block(std::int64_t index, double *out) = 0;

  /// Not null if the rows are on other servers (data/remote_rows.hpp).
  virtual RemoteRows *remote() { return nullptr; }

 protected:
  RowShape shape_;
  std::int64_t rows_ = 0, skipped_ = 0;
  std::int64_t incomplete_ = 0;
};

/// Whether a block has a missing element (NaN).
inline bool misses_element(int dimension, const double *block) {
  bool any = false;
  for (int i = 0; i < dimension * block_rows; ++i) any |= block[i] != block[i];
  return any;
}

/// Rows in ordinary memory, for use without a server.
class BAYES_API MemoryRows final : public RowSource {
 public:
  explicit MemoryRows(RowShape shape) { shape_ = shape; }
  void append(const double *x, double weight = 1);
  /// replaces the elements of a row
  void replace(std::int64_t row, const double *x);
  std::int64_t stretches() const override { return 1; }
  std::span<const Piece> stretch(std::int64_t) override { return pieces_; }
  void read_block(std::int64_t index, double *out) override;
  /// keeps the memory
  void clear();
  /// multiplies all weights so that they sum to `total`; the rows must be weighted
  void scale_weights(double total);

 private:
  std::vector<Buffer> memory_;
  std::vector<Piece> pieces_;
};

/// Columns with a smaller variance are refused: squared differences, and fractions of the variance,
/// would underflow.
inline constexpr double min_variance = 1e-280;

// Passes that other servers make for a fit (data/pass.hpp).
struct PartOfRows;
template <class Part> struct PassOver;
extern const PassOver<PartOfRows> constant_pass, incomplete_pass;

/// For a column with a variance below min_variance: throws Error(numeric) unless it is constant,
/// apart from values that are missing (NaN) or have weight 0.
BAYES_API void require_constant(RowSource &rows, int column, Control &control);

/// The number of rows with a missing element; makes one pass over the rows.
BAYES_API std::int64_t count_incomplete(RowSource &rows, Control &control);
/// The same for the first `rows` rows of a block.
std::int64_t count_incomplete(int dimension, const double *block, std::int64_t rows);

}  // namespace bayes
