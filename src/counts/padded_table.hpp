// Tables of numbers whose rows are padded to whole vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/control.hpp"

namespace bayes {

/// Rows are padded to a multiple of this length: whole vectors at every instruction set level.
inline constexpr int row_lanes = 8;
inline int padded_size(int columns) { return (columns + row_lanes - 1) / row_lanes * row_lanes; }

/// Appends zeros up to a size. Polls, since the first touch of much memory takes a while.
template <class T> void grow(std::vector<T, CacheAligned<T>> &values, std::size_t size) {
  constexpr std::size_t step = 1 << 20;
  values.reserve(size);
  while (values.size() < size) {
    poll_here();
    values.resize(std::min(size, values.size() + step), T(0));
  }
}

/// A matrix, stored row by row; the padding is 0. A row is a term or a key, a column a component
/// (a topic, a factor, an element of a vector).
template <class T> class PaddedTable {
 public:
  PaddedTable() = default;
  PaddedTable(std::int32_t rows, int columns)
      : rows_(rows),
        columns_(columns),
        stride_(padded_size(columns)) {
    grow(values_, std::size_t(rows) * std::size_t(stride_));
  }
  std::int32_t rows() const { return rows_; }
  int columns() const { return columns_; }
  /// the length of a row with its padding
  int stride() const { return stride_; }
  T *row(std::int32_t index) { return values_.data() + std::size_t(index) * std::size_t(stride_); }
  const T *row(std::int32_t index) const {
    return values_.data() + std::size_t(index) * std::size_t(stride_);
  }
  std::vector<T, CacheAligned<T>> &values() { return values_; }
  const std::vector<T, CacheAligned<T>> &values() const { return values_; }

 private:
  std::int32_t rows_ = 0;
  int columns_ = 0, stride_ = 0;
  std::vector<T, CacheAligned<T>> values_;
};

using PaddedMatrix = PaddedTable<double>;
/// n_kw: the number of tokens of each term that have each topic
using CountMatrix = PaddedTable<std::int32_t>;

class Document;
class PassReader;
/// The numbers of a table without the padding, as a member of a message (data/remote_rows.hpp).
Document rows_document(const PaddedMatrix &table);
/// Reads them into a table of their size; throws Error(invalid_binary) for other sizes.
void read_rows(const PassReader &from, const char *key, PaddedMatrix &to);

/// Calls f(row) for all rows of a table, with polls.
template <class T, class F> void each_row(const PaddedTable<T> &table, F f) {
  WorkPoll poll;
  for (std::int32_t row = 0; row < table.rows(); ++row) {
    f(row);
    poll(2 * std::size_t(table.columns()));
  }
}

}  // namespace bayes
