#include "data/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "data/remote_rows.hpp"

namespace bayes {

void MemoryRows::append(const double *x, double weight) {
  const std::int64_t capacity = shape_.piece_rows();
  if (rows_ == std::int64_t(pieces_.size()) * capacity) {
    if (memory_.size() == pieces_.size()) memory_.emplace_back(shape_.piece_doubles());
    Buffer &memory = memory_[pieces_.size()];
    std::fill(memory.begin(), memory.end(), 0.0);
    pieces_.push_back({memory.data(), 0});
  }
  pack_row(shape_, memory_[pieces_.size() - 1].data(), pieces_.back().rows, x, weight);
  ++pieces_.back().rows;
  ++rows_;
}

void MemoryRows::replace(std::int64_t row, const double *x) {
  const std::int64_t capacity = shape_.piece_rows(), inside = row % capacity;
  double *const at = memory_[std::size_t(row / capacity)].data() +
                     std::size_t(inside / block_rows) * shape_.block_doubles() +
                     std::size_t(inside % block_rows);
  for (int j = 0; j < shape_.dimension; ++j) at[std::size_t(j) * block_rows] = x[j];
}

void MemoryRows::read_block(std::int64_t index, double *out) {
  const std::int64_t blocks_of_piece = shape_.piece_rows() / block_rows;
  const double *block = pieces_[std::size_t(index / blocks_of_piece)].blocks +
                        std::size_t(index % blocks_of_piece) * shape_.block_doubles();
  std::copy_n(block, shape_.block_doubles(), out);
}

void MemoryRows::scale_weights(double total) {
  double sum = 0;
  const auto each = [this](auto f) {
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      for (std::int64_t row = 0; row < pieces_[p].rows; ++row)
        f(memory_[p][std::size_t(row / block_rows) * shape_.block_doubles() +
                     std::size_t(shape_.dimension) * block_rows + std::size_t(row % block_rows)]);
  };
  each([&sum](double weight) { sum += weight; });
  if (sum != total) each([factor = total / sum](double &weight) { weight *= factor; });
}

std::string RowSource::name_of_element(int element) const {
  return message("element {}", element + 1);
}

namespace {

/// The first value of a column that counts, NaN if there is none, and whether another one differs.
struct FirstValue {
  double value = std::numeric_limits<double>::quiet_NaN();
  bool differs = false;
};

FirstValue first_value(RowSource &rows, int column, Control &control) {
  const RowShape shape = rows.shape();
  Buffer block(shape.block_doubles());
  const double *const x = block.data() + std::size_t(column) * block_rows,
                      *const weight = block.data() + std::size_t(shape.dimension) * block_rows;
  FirstValue out;
  for (std::int64_t begin = 0; begin < rows.rows() && !out.differs; begin += block_rows) {
    control.poll();
    rows.read_block(begin / block_rows, block.data());
    const std::int64_t size = std::min<std::int64_t>(block_rows, rows.rows() - begin);
    for (std::int64_t b = 0; b < size; ++b) {
      if (std::isnan(x[b]) || (shape.weighted && !(weight[b] > 0))) continue;
      if (std::isnan(out.value)) out.value = x[b];
      out.differs |= x[b] != out.value;
    }
  }
  return out;
}

}  // namespace

void require_constant(RowSource &rows, int column, Control &control) {
  FirstValue found;
  if (RemoteRows *const remote = rows.remote()) {
    Document request = pass_request("constant");
    request.set("column", column);
    for (const Document &answer : remote->ask(request)) {
      const PassReader part(answer);
      const double value = part.number("value");
      if (std::isnan(value)) continue;
      found.differs |= part.flag("differs") || (!std::isnan(found.value) && found.value != value);
      found.value = value;
    }
  } else {
    found = first_value(rows, column, control);
  }
  if (found.differs)
    throw Error(Errc::numeric,
                message("the values of {} differ by so little that their squares underflow",
                        rows.name_of_element(column)),
                message("Their variance is below {}.", min_variance),
                "Rescale it: multiply it by a constant.");
}

Document answer_constant(RowSource &rows, const Document &request, Control &control) {
  const FirstValue found = first_value(
      rows, int(PassReader(request).integer("column", 0, rows.shape().dimension - 1)), control);
  Document out = Document::object();
  out.set("value", found.value).set("differs", found.differs);
  return out;
}

std::int64_t count_incomplete(int dimension, const double *block, std::int64_t rows) {
  if (!misses_element(dimension, block)) return 0;
  bool misses[block_rows] = {};
  for (int j = 0; j < dimension; ++j)
    for (std::int64_t b = 0; b < rows; ++b)
      misses[b] |= block[j * block_rows + b] != block[j * block_rows + b];
  return std::count(misses, misses + rows, true);
}

std::int64_t count_incomplete(RowSource &rows, Control &control) {
  const RowShape shape = rows.shape();
  std::int64_t count = 0;
  if (RemoteRows *const remote = rows.remote()) {
    for (const Document &answer : remote->ask(pass_request("incomplete")))
      count += PassReader(answer).integer("rows", 0, rows.rows());
    return count;
  }
  for (std::int64_t s = 0; s < rows.stretches(); ++s)
    for (const Piece &piece : rows.stretch(s)) {
      control.poll();
      for (std::int64_t first = 0; first < piece.rows; first += block_rows)
        count += count_incomplete(
            shape.dimension, piece.blocks + std::size_t(first / block_rows) * shape.block_doubles(),
            std::min<std::int64_t>(block_rows, piece.rows - first));
    }
  return count;
}

void MemoryRows::clear() {
  pieces_.clear();
  rows_ = 0;
}

}  // namespace bayes
