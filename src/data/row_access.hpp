// Rows one at a time, for MCMC samplers that visit them in turn. They must be in memory.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/aligned.hpp"
#include "base/control.hpp"
#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"
#include "data/rows.hpp"

namespace bayes {

class RowAccess {
 public:
  static bool possible(RowSource &rows) { return rows.stretches() <= 1; }

  /// Throws Error(too_large) if rows were spilled to a file. `method` is for the message.
  RowAccess(RowSource &rows, const char *method) : shape_(rows.shape()), rows_(rows.rows()) {
    if (!possible(rows))
      throw Error(
          Errc::too_large,
          message("the rows do not fit into memory, but method {} visits them one at a time",
                  method),
          message("{} rows of {} elements take more than maintenance_work_mem.", rows_,
                  shape_.dimension),
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
    const double *const at = pieces_[std::size_t(row / rows_each_)] +
                             std::size_t(inside / block_rows) * shape_.block_doubles() +
                             inside % block_rows;
    for (int j = 0; j < shape_.dimension; ++j) x[j] = at[std::size_t(j) * block_rows];
  }

 private:
  RowShape shape_;
  std::int64_t rows_, rows_each_ = block_rows;
  std::vector<const double *> pieces_;
};

/// Copies rows, from memory or file, to the columns of `out`. Files are read in whole blocks, each
/// once.
inline void gather_rows(RowSource &rows, const std::vector<std::int64_t> &which, Matrix &out,
                        Control &control) {
  const RowShape shape = rows.shape();
  out.resize(shape.dimension, Eigen::Index(which.size()));
  if (RowAccess::possible(rows)) {
    const RowAccess access(rows, "");
    for (std::size_t r = 0; r < which.size(); ++r)
      access.read(which[r], out.col(Eigen::Index(r)).data());
    return;
  }
  std::vector<std::size_t> order(which.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return which[a] < which[b]; });
  Buffer block(shape.block_doubles());
  std::int64_t held = -1;
  for (const std::size_t r : order) {
    if (control.pending()) control.poll();
    if (which[r] / block_rows != held) rows.read_block(held = which[r] / block_rows, block.data());
    for (int j = 0; j < shape.dimension; ++j)
      out(j, Eigen::Index(r)) =
          block[std::size_t(j) * block_rows + std::size_t(which[r] % block_rows)];
  }
}

}  // namespace bayes
