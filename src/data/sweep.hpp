// One pass over all rows, divided among threads, with the same result for any number of them.
//
// Rows are split at fixed multiples into segments, each a task. While threads compute, the main
// thread reads the next stretch of a spilled table.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "data/rows.hpp"

namespace bayes {

// Tasks divided among threads, with the same result for any number of them.
//
// A thread takes the next task and works on it alone; partial results are merged in the order of
// the tasks, whichever thread computed them. A thread need not wait for one that the scheduler has
// suspended: finished results wait in slots, of which there are more than threads. Threads live
// only inside a call, with all signals blocked, so that PostgreSQL's handlers only ever run on the
// main thread; they touch nothing of the server. The main thread works too and checks for
// interrupts; it polls only after every thread has been joined. An abandoned task is simply done
// again.

/// Whether the task is to be abandoned. Checked by workers every few milliseconds.
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

/// The number of threads of a pass, and of slots for partial results that wait to be merged.
struct SweepPlan {
  int threads = 1;
  int slots = 1;  // >= threads
};

/// The plan for work of this total number of operations, with partial results of this size. Little
/// work is done without additional threads.
BAYES_API SweepPlan plan_tasks(double operations, std::size_t part_bytes, const Control &control);

/// Calls process(worker, slot, task, stop) for every task from 0 to tasks - 1, from up to
/// `plan.threads` threads at a time, each with its own worker number (below threads), and then
/// merge(slot), in the order of the tasks and one at a time; a slot (below slots) belongs to one
/// task from `process` to `merge`. `process` starts afresh at each call and may return at any time
/// once stop() is true; its result is then discarded. poll_here() inside it does that, however deep
/// it is called. `meanwhile` is called once, on the main thread, while others work. Rethrows what
/// these or the control throw, after all threads are joined.
BAYES_API void run_in_order(
    std::size_t tasks, SweepPlan plan, Control &control,
    const std::function<void(int worker, int slot, std::size_t task, const Stop &stop)> &process,
    const std::function<void(int slot)> &merge, const std::function<void()> &meanwhile = {});

/// The same for independent tasks without results to merge.
BAYES_API void run_tasks(std::size_t tasks, int threads, Control &control,
                         const std::function<void(std::size_t task, const Stop &stop)> &process);

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
