#include "pg/input/row_intake.hpp"

#include <cmath>

namespace bayes::pg {
namespace {

struct Counts {
  std::int64_t dimension, rows, skipped, seen, zero_weights;
};

}  // namespace

bool RowIntake::admit(double weight, bool null) {
  if (null) {
    rows.skip();
    return false;
  }
  if (!(weight >= 0) || weight > largest_element) {
    throw Error(Errc::invalid_argument,
                "weight of row " + std::to_string(seen_) + " is " + shown(weight),
                "A weight is a finite number, not negative: how many times the row counts.");
  }
  if (weight > 0) return true;
  ++zero_weights_;
  rows.skip();
  return false;
}

void RowIntake::check_length(std::size_t length) {
  if (dimension_) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  if (max_dimension && length > std::size_t(max_dimension))
    throw Error(Errc::too_large, "row " + std::to_string(seen_) + " has " + std::to_string(length) +
                                     " elements, but the limit is " +
                                     std::to_string(max_dimension));
  dimension_ = int(length);
}

std::size_t RowIntake::bytes() const {
  return std::size_t((rows.rows() + block_rows - 1) / block_rows) * rows.shape().block_doubles() *
         sizeof(double);
}

void RowIntake::write_counts(std::string &out) const {
  const Counts counts = {dimension_, rows.rows(), rows.skipped(), seen_, zero_weights_};
  out.append(reinterpret_cast<const char *>(&counts), sizeof counts);
}

void RowIntake::write_blocks(char *to) {
  for (std::int64_t i = 0; i < rows.stretches(); ++i)
    for (const Piece &piece : rows.stretch(i)) {
      const std::size_t size = std::size_t((piece.rows + block_rows - 1) / block_rows) *
                               rows.shape().block_doubles() * sizeof(double);
      std::memcpy(to, piece.blocks, size);
      to += size;
    }
}

void RowIntake::absorb(const char *at, const char *end) {
  Counts counts;
  if (std::size_t(end - at) < sizeof counts)
    throw Error(Errc::internal, "partial state of an aggregate is cut short");
  std::memcpy(&counts, at, sizeof counts);
  at += sizeof counts;
  rows.skip(counts.skipped);
  seen_ += counts.seen;
  zero_weights_ += counts.zero_weights;
  if (counts.rows == 0) return;

  RowShape shape = rows.shape();
  shape.dimension = int(counts.dimension);
  if (dimension_ && dimension_ != shape.dimension)
    throw Error(Errc::array_shape,
                "rows have different lengths: " + std::to_string(dimension_) + " and " +
                    std::to_string(shape.dimension) + " elements",
                "All rows of one model have the same length.");
  dimension_ = shape.dimension;

  const std::size_t block_bytes = shape.block_doubles() * sizeof(double);
  if (std::size_t(end - at) !=
      std::size_t((counts.rows + block_rows - 1) / block_rows) * block_bytes)
    throw Error(Errc::internal, "partial state of an aggregate has a wrong size");
  std::vector<double> block(shape.block_doubles()), x(std::size_t(shape.dimension));
  for (std::int64_t row = 0; row < counts.rows; ++row) {
    const std::size_t inside = std::size_t(row % block_rows);
    if (inside == 0) {
      std::memcpy(block.data(), at, block_bytes);
      at += block_bytes;
    }
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = block[j * block_rows + inside];
    rows.append(x.data(), shape.dimension,
                shape.weighted ? block[x.size() * block_rows + inside] : 1);
  }
}

}  // namespace bayes::pg
