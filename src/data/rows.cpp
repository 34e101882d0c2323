#include "data/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "data/pass.hpp"

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

/// The first value of a column that counts (NaN: there is none), and whether a later one differs.
struct FirstValue {
  double value = std::numeric_limits<double>::quiet_NaN();
  bool differs = false;

  template <class F> void fields(F &f) {
    f.number("value", value);
    f.flag("differs", differs);
  }
  void add(const FirstValue &other) {
    differs |= other.differs;
    if (std::isnan(other.value)) return;
    differs |= !std::isnan(value) && value != other.value;
    value = other.value;
  }
};

struct ConstantPass {
  static constexpr const char *name = "constant";
  using Sums = FirstValue;
  int column = 0;

  template <class F> void fields(F &f, RowSource &rows) {
    f.integer("column", column, 0, rows.shape().dimension - 1);
  }
  Sums nothing(RowSource &) const { return {}; }
  Sums here(RowSource &rows, Control &control) const {
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
};

/// The number of rows with a missing element.
struct IncompletePass {
  static constexpr const char *name = "incomplete";
  struct Sums {
    std::int64_t rows = 0, most = 0;
    template <class F> void fields(F &f) { f.integer("rows", rows, 0, most); }
    void add(const Sums &other) { rows += other.rows; }
  };

  template <class F> void fields(F &, RowSource &) {}
  Sums nothing(RowSource &rows) const { return {0, rows.rows()}; }
  Sums here(RowSource &rows, Control &control) const {
    const RowShape shape = rows.shape();
    Sums out = nothing(rows);
    for (std::int64_t s = 0; s < rows.stretches(); ++s)
      for (const Piece &piece : rows.stretch(s)) {
        control.poll();
        for (std::int64_t first = 0; first < piece.rows; first += block_rows)
          out.rows += count_incomplete(
              shape.dimension,
              piece.blocks + std::size_t(first / block_rows) * shape.block_doubles(),
              std::min<std::int64_t>(block_rows, piece.rows - first));
      }
    return out;
  }
  void answered(RowSource &rows, const Sums &sums) const { rows.set_incomplete(sums.rows); }
};

}  // namespace

const PassOver<PartOfRows> constant_pass = pass_over<PartOfRows, ConstantPass>(),
                           incomplete_pass = pass_over<PartOfRows, IncompletePass>();

void require_constant(RowSource &rows, int column, Control &control) {
  if (run(rows, ConstantPass{column}, control).differs)
    throw Error(Errc::numeric,
                message("the values of {} differ by so little that their squares underflow",
                        rows.name_of_element(column)),
                message("Their variance is below {}.", min_variance),
                "Rescale it: multiply it by a constant.");
}

std::int64_t count_incomplete(RowSource &rows, Control &control) {
  return run(rows, IncompletePass{}, control).rows;
}

std::int64_t count_incomplete(int dimension, const double *block, std::int64_t rows) {
  if (!misses_element(dimension, block)) return 0;
  bool misses[block_rows] = {};
  for (int j = 0; j < dimension; ++j)
    for (std::int64_t b = 0; b < rows; ++b)
      misses[b] |= block[j * block_rows + b] != block[j * block_rows + b];
  return std::count(misses, misses + rows, true);
}

void MemoryRows::clear() {
  pieces_.clear();
  rows_ = 0;
}

}  // namespace bayes
