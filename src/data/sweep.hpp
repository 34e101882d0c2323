// One pass over all rows, divided among threads, with the same result for any number of them.
//
// Rows are split at fixed multiples into segments, each a task (data/ordered_tasks.hpp). While
// threads compute, the main thread reads the next stretch of a spilled table.
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "data/ordered_tasks.hpp"
#include "data/rows.hpp"

namespace bayes {

/// Consecutive whole blocks of one piece; the last block may hold fewer than block_rows rows.
struct Segment {
  const double *blocks;
  std::int64_t rows;
  /// index of its first row among all rows
  std::int64_t first;
};

/// A pass over the rows. It calls process(worker, slot, segment, stop) for every segment, from up
/// to `threads` threads at a time, each with its own worker number (below threads), and then
/// merge(slot), in the order of the segments and one at a time; a slot (below slots) belongs to one
/// segment from `process` to `merge`. `process` starts afresh at each call and may return at any
/// time once stop() is true; its result is then discarded.
class BAYES_API Sweep {
 public:
  using Process =
      std::function<void(int worker, int slot, const Segment &segment, const Stop &stop)>;
  using Merge = std::function<void(int slot)>;

  Sweep(RowSource &rows, Control &control) : rows_(rows), control_(control) {}

  /// The plan for a pass with this number of operations per row and partial results of this size.
  /// Small passes are made without additional threads.
  SweepPlan plan(double operations_per_row, std::size_t part_bytes) const;

  /// Rethrows what process, merge, the rows or the control throw, after all threads are joined.
  void run(SweepPlan plan, const Process &process, const Merge &merge);

 private:
  void run_stretch(std::span<const Piece> pieces, std::int64_t first, SweepPlan plan,
                   const Process &process, const Merge &merge,
                   const std::function<void()> &meanwhile);
  RowSource &rows_;
  Control &control_;
};

}  // namespace bayes
