// One pass over all rows, divided among threads, with the same result for any number of them.
//
// Rows are split at fixed multiples into segments. A thread takes the next segment and works on it
// alone; partial results are merged in the order of the segments, whichever thread computed them. A
// thread need not wait for one that the scheduler has suspended: finished results wait in slots, of
// which there are more than threads. Threads live only inside the pass, with all signals blocked,
// so that PostgreSQL's handlers only ever run on the main thread; they touch nothing of the server.
// While they compute, the main thread reads the next stretch of a spilled table and checks for
// interrupts; it polls only after every thread has been joined. An abandoned segment is simply done
// again.
#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"

namespace bayes {

/// Consecutive whole blocks of one piece; the last block may hold fewer than block_rows rows.
struct Segment {
  const double *blocks;
  std::int64_t rows;
  /// index of its first row among all rows
  std::int64_t first;
};

/// Is the segment to be abandoned? Checked by workers every few milliseconds.
class Stop {
 public:
  Stop(std::atomic<bool> &flag, const Control *control) : flag_(flag), control_(control) {}
  bool operator()() const {
    if (control_ && control_->pending()) flag_.store(true, std::memory_order_relaxed);
    return flag_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> &flag_;
  const Control *control_;  // null except on the main thread
};

/// The threads of a pass, and its slots for partial results that wait to be merged.
struct SweepPlan {
  int threads = 1;
  int slots = 1;  // >= threads
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

  /// The plan for a pass with this much arithmetic per row and partial results of this size: small
  /// passes are not worth a thread.
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

/// Calls process(job, stop) for jobs 0, 1, ... below `jobs`, from up to `threads` threads at a
/// time. What holds of a sweep's segments holds of jobs, except that nothing is merged: they must
/// not depend on each other, and one that was abandoned is done again.
BAYES_API void run_jobs(Control &control, int threads, std::size_t jobs,
                        const std::function<void(std::size_t job, const Stop &stop)> &process);

}  // namespace bayes
