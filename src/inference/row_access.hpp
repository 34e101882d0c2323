// Rows one at a time, for samplers that visit them in turn. They must lie in memory.
#pragma once

#include <vector>

#include "core/error.hpp"
#include "core/rows.hpp"

namespace bayes {

class RowAccess {
 public:
  static bool possible(RowSource &rows) { return rows.stretches() <= 1; }

  /// Throws Error(too_large) if rows were spilled to a file. `method` is for the message.
  RowAccess(RowSource &rows, const char *method) : shape_(rows.shape()), rows_(rows.rows()) {
    if (!possible(rows))
      throw Error(Errc::too_large, std::string("the rows do not fit into memory, but method ") + method + " visits them one at a time",
                  std::to_string(rows_) + " rows of " + std::to_string(shape_.dimension) + " elements take more than maintenance_work_mem.",
                  "Raise maintenance_work_mem, or use method slice or vi, which read the rows in order.");
    if (rows.stretches() == 1)
      for (const Piece &piece : rows.stretch(0)) pieces_.push_back(piece.blocks);
    rows_each_ = shape_.piece_rows();
  }

  std::int64_t rows() const { return rows_; }
  int dimension() const { return shape_.dimension; }

  /// Copies row `row` (from 0) to x.
  void read(std::int64_t row, double *x) const {
    const std::int64_t inside = row % rows_each_;
    const double *const at = pieces_[std::size_t(row / rows_each_)] + std::size_t(inside / block_rows) * shape_.block_doubles() + inside % block_rows;
    for (int j = 0; j < shape_.dimension; ++j) x[j] = at[std::size_t(j) * block_rows];
  }

 private:
  RowShape shape_;
  std::int64_t rows_, rows_each_ = block_rows;
  std::vector<const double *> pieces_;
};

}  // namespace bayes
