// One pass over all rows, shared out among threads, with the same result for any number of them.
//
// Rows are split at fixed multiples into segments. A thread takes the next segment and works on it
// alone; what it found is merged in the order of the segments, whoever made it. A thread that is
// ahead does not wait for one that the machine has put aside: finished parts wait in slots, of
// which there are more than threads. Threads live only inside the pass, with all signals blocked,
// so that PostgreSQL's handlers only ever run on the main thread; they touch nothing of the server.
// While they compute, the main thread reads the next stretch of a spilled table and looks out for
// interrupts; it polls only when every thread has been joined. A segment abandoned on the way is
// simply done again.
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
  /// number of its first row among all rows, from 0
  std::int64_t first;
};

/// Asked by workers every few milliseconds of work: is the segment to be abandoned?
class Stop {
 public:
  Stop(std::atomic<bool> &flag, const Control *control) : flag_(flag), control_(control) {}
  bool operator()() const {
    if (control_ && control_->pending()) flag_.store(true, std::memory_order_relaxed);
    return flag_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> &flag_;
  const Control *control_;  // only the main thread's asks it
};

/// How many share in a pass: threads, and places for parts that wait for their turn to be merged.
struct SweepPlan {
  int threads = 1;
  int slots = 1;  // >= threads
};

/// A pass over the rows. It calls process(worker, slot, segment, stop) for every segment, from up
/// to `threads` threads at a time, each with a worker number of its own (below threads), and
/// merge(slot) after it, in the order of the segments and never two at a time; a slot (below slots)
/// belongs to one segment from `process` to `merge`. `process` starts afresh at each call and may
/// return at any time once stop() is true: what it did is then forgotten.
class BAYES_API Sweep {
 public:
  using Process =
      std::function<void(int worker, int slot, const Segment &segment, const Stop &stop)>;
  using Merge = std::function<void(int slot)>;

  Sweep(RowSource &rows, Control &control) : rows_(rows), control_(control) {}

  /// What a pass with so much arithmetic a row, and parts of so many bytes, should use: small
  /// passes are not worth a thread.
  SweepPlan plan(double operations_per_row, std::size_t part_bytes) const;

  /// Throws whatever process, merge, the rows or the control throw, after all threads are joined.
  void run(SweepPlan plan, const Process &process, const Merge &merge);

 private:
  void run_stretch(std::span<const Piece> pieces, std::int64_t first, SweepPlan plan,
                   const Process &process, const Merge &merge,
                   const std::function<void()> &meanwhile);
  RowSource &rows_;
  Control &control_;
};

}  // namespace bayes
