#include "pg/input/row_collector.hpp"

#include "base/message.hpp"

namespace bayes::pg {
namespace {

struct Counts {
  std::int64_t dimension, rows, skipped, seen, zero_weights;
};

}  // namespace

void RowCollector::begin(const FitRequest &request, const RowPolicy &policy) {
  policy_ = policy;
  null_on_error_ = policy_.null_on_error;
  if (!request.start) return;
  dimension_ = request.start->info.dimension;
  expected_by_ = "the model";
}

void RowCollector::arrange(Control &control) {
  if (arranged_ == rows.rows()) return;
  rows.arrange(control);
  arranged_ = rows.rows();
}

void RowCollector::check_length(std::size_t length) {
  if (dimension_) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  const int limit = policy_.max_dimension;
  if (limit && length > std::size_t(limit))
    throw Error(Errc::too_large,
                message("row {} has {} elements, but the limit is {}", seen_, length, limit));
  dimension_ = int(length);
}

std::size_t RowCollector::bytes() const {
  return std::size_t((rows.rows() + block_rows - 1) / block_rows) * rows.shape().block_doubles() *
         sizeof(double);
}

void RowCollector::write_counts(std::string &out) const {
  const Counts counts = {dimension_, rows.rows(), rows.skipped(), seen_, zero_weights_};
  out.append(reinterpret_cast<const char *>(&counts), sizeof counts);
}

void RowCollector::write_blocks(char *to) {
  for (std::int64_t i = 0; i < rows.stretches(); ++i)
    for (const Piece &piece : rows.stretch(i)) {
      const std::size_t size = std::size_t((piece.rows + block_rows - 1) / block_rows) *
                               rows.shape().block_doubles() * sizeof(double);
      std::memcpy(to, piece.blocks, size);
      to += size;
    }
}

void RowCollector::absorb(const char *at, const char *end) {
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
    throw Error(
        Errc::array_shape,
        message("rows have different lengths: {} and {} elements", dimension_, shape.dimension),
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
