#include "pg/input/packed_collector.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/message.hpp"
#include "data/hashed_rows.hpp"
#include "data/remote_rows.hpp"

namespace bayes::pg {

void PackedCollector::sort_labels() {
  std::vector<std::vector<double>> codes = reader_.sort_labels();
  if (codes.empty()) return;
  codes.insert(codes.begin(), std::size_t(before_), {});
  rows.recode(codes);
}

void PackedCollector::recode(const std::optional<RowColumns> &all) {
  const RowColumns own = columns();
  if (own.empty()) return;
  if (!all || own.size() != all->size()) PassReader::refuse();
  std::vector<std::vector<double>> codes(std::size_t(before_) + own.size());
  for (std::size_t j = 0; j < own.size(); ++j)
    for (const std::string &label : own[j].labels) {
      const std::vector<std::string> &labels = (*all)[j].labels;
      const auto at = std::lower_bound(labels.begin(), labels.end(), label);
      if (at == labels.end() || *at != label) PassReader::refuse();
      codes[std::size_t(before_) + j].push_back(double(at - labels.begin()));
    }
  rows.recode(codes);
}

void PackedCollector::check_length(std::size_t length, int limit) {
  if (dimension_) wrong_length(length, std::size_t(dimension_), expected_by_, seen_);
  if (limit && length > std::size_t(limit))
    throw Error(Errc::too_large,
                message("row {} has {} elements, but the limit is {}", seen_, length, limit));
  dimension_ = int(length);
}

std::size_t PackedCollector::bytes() const {
  return std::size_t((rows.rows() + block_rows - 1) / block_rows) * rows.shape().block_doubles() *
         sizeof(double);
}

std::uint64_t PackedCollector::hash(Control &control) {
  DataHash out;
  out.add(columns());
  out.add(rows, false, control);
  return out.value();
}

PackedHead PackedCollector::head() {
  sort_labels();
  PackedHead out = {rows.rows(), rows.skipped(), seen_, zero_weights_, dimension_, {}};
  if (out.rows > 0 && reader_.described()) out.columns = reader_.columns();
  return out;
}

void PackedCollector::hear(const PackedHead &head, bool described) {
  count_elsewhere(head);
  if (head.rows == 0 || !described) return;
  const RowColumns known = columns();
  const auto same = [](const RowColumn &a, const RowColumn &b) { return a.name == b.name; };
  if (!head.columns || (!known.empty() && !std::ranges::equal(*head.columns, known, same)))
    PassReader::refuse();
  reader_.merge(*head.columns);
}

void PackedCollector::write_blocks(char *to) {
  for (std::int64_t i = 0; i < rows.stretches(); ++i)
    for (const Piece &piece : rows.stretch(i)) {
      const std::size_t size = std::size_t((piece.rows + block_rows - 1) / block_rows) *
                               rows.shape().block_doubles() * sizeof(double);
      std::memcpy(to, piece.blocks, size);
      to += size;
    }
}

void PackedCollector::absorb(const PackedHead &head, std::string_view blocks) {
  RowReader::Merged merged;
  if (head.columns) merged = reader_.merge(*head.columns);
  rows.skip(head.skipped);
  count_elsewhere(head);
  if (head.rows == 0) return;

  RowShape shape = rows.shape();
  shape.dimension = before_ + int(head.dimension);
  // Elements of rows that are arrays keep their places.
  if (!head.columns)
    for (std::size_t j = 0; j < std::size_t(head.dimension); ++j) merged.places.push_back(j);
  const int dimension = int(merged.places.size());
  if ((dimension_ || rows.rows() > 0) && dimension_ != dimension)
    throw Error(Errc::array_shape,
                message("rows have different lengths: {} and {} elements", dimension_, dimension),
                "All rows of one model have the same length.");
  dimension_ = dimension;

  const std::size_t block_bytes = shape.block_doubles() * sizeof(double);
  if (blocks.size() != std::size_t((head.rows + block_rows - 1) / block_rows) * block_bytes)
    throw Error(Errc::internal, "partial state of an aggregate has a wrong size");
  const char *at = blocks.data();
  const std::size_t first = std::size_t(before_);
  std::vector<double> block(shape.block_doubles()), x(first + merged.places.size());
  for (std::int64_t row = 0; row < head.rows; ++row) {
    const std::size_t inside = std::size_t(row % block_rows);
    if (inside == 0) {
      std::memcpy(block.data(), at, block_bytes);
      at += block_bytes;
    }
    const auto element = [&](std::size_t j) { return block[j * block_rows + inside]; };
    for (std::size_t j = 0; j < first; ++j) x[j] = element(j);
    for (std::size_t j = 0; j < merged.places.size(); ++j)
      x[first + j] = element(first + merged.places[j]);
    for (std::size_t j = 0; j < merged.codes.size(); ++j) {
      double &own = x[first + j];
      if (const std::vector<double> &codes = merged.codes[j]; !codes.empty() && !std::isnan(own))
        own = codes[std::size_t(own)];
    }
    rows.append(x.data(), int(x.size()),
                shape.weighted ? element(std::size_t(shape.dimension)) : 1);
  }
}

}  // namespace bayes::pg
