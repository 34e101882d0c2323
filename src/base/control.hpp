// The control of a computation: polls, limits of memory, threads and time. A kernel gets a Control
// and does not depend on its implementation: in the server it checks the backend's interrupt flag,
// in unit tests it does nothing.
#pragma once

#include <cstddef>
#include <limits>

#include "base/api.hpp"
#include "base/checkpoint.hpp"
#include "base/method.hpp"

namespace bayes {

// The time that work may take.

/// A clock that runs from construction, and a limit, in seconds.
class BAYES_API Budget {
 public:
  /// seconds since some moment
  using Clock = double (*)();
  /// a clock of the machine that only goes forward
  static double steady();

  explicit Budget(double limit = std::numeric_limits<double>::infinity(), Clock clock = steady)
      : clock_(clock),
        began_(clock()),
        limit_(limit) {}

  double seconds() const { return clock_() - began_; }
  double limit() const { return limit_; }
  bool limited() const { return limit_ < std::numeric_limits<double>::infinity(); }
  /// what is left of the time; 0 if it is over
  double left() const;
  bool over() const { return limited() && seconds() >= limit_; }

  /// The same clock with another limit, which is not later.
  Budget until(double limit) const;
  /// A clock that begins now, and has a limit of its own or what is left here, whichever is less.
  Budget from_now(double limit) const;
  /// The same clock; its limit is when this share of what is left is over.
  Budget share(double of_left) const { return until(seconds() + of_left * left()); }

 private:
  Clock clock_;
  double began_, limit_;
};

/// One progress report, after an iteration of a restart.
struct Progress {
  /// as in options.method
  const char *method;
  /// from 1
  int restart;
  int restarts;
  /// from 0, the starting point (svi: from 1)
  int iteration;
  int max_iterations;
  /// the quantity that the method maximises
  double objective;
  /// change of the objective since the previous iteration; NaN at the first
  double change;
  /// elapsed since the fit began
  double seconds;
  /// estimate for the rest of this restart if it uses all its iterations; never negative
  double seconds_left;
  /// the restart is a chain of a sampler, the iteration a draw
  bool draw = false;
};

class BAYES_API Control {
 public:
  virtual ~Control() = default;

  /// Does poll() have anything to look at? Cheap, and callable while worker threads run.
  virtual bool pending() const noexcept { return false; }

  /// Main thread only, with no worker thread alive: throws if the work is to stop, else returns.
  virtual void poll() {}

  /// A fit by this method begins, before its search for starting points; it may take max_seconds
  /// (infinity: no limit). Main thread only, with no worker thread alive.
  virtual void begins(Method, double /* max_seconds */) {}

  /// Main thread only, with no worker thread alive.
  virtual void progress(const Progress &) {}

  /// The number of threads that a sweep may use, at least 1. Results do not depend on it.
  int threads = 1;

  /// Bytes that a fit may use in addition to its rows, for parameters and statistics; a fit that
  /// needs more refuses to start.
  double memory = std::numeric_limits<double>::infinity();

  /// Bytes for the rows and whatever grows with them, such as posterior draws of labels.
  double row_memory = std::numeric_limits<double>::infinity();

  /// The time that a fit may take (option max_seconds), and its clock.
  Budget budget;
  /// Is the time over? Ask only where work is left out in that case: the fit then counts as cut
  /// short, and its result as unfinished.
  bool out_of_time() {
    if (!time_is_over()) return false;
    cut_short();
    return true;
  }
  /// The same, without counting the fit as cut short.
  bool time_is_over() const { return budget.over() && !repeats(); }
  /// Records that work was left out for lack of time.
  virtual void cut_short() {
    is_cut_short = true;
    if (checkpoint) checkpoint->freeze();
  }
  bool is_cut_short = false;

  /// The record of a fit that can be resumed, or null.
  Checkpoint *checkpoint = nullptr;
  /// Does a resumed fit still repeat what its checkpoint has?
  virtual bool repeats() const { return checkpoint && checkpoint->repeats(); }
};

/// Narrows the time while the scope lives.
class BudgetScope {
 public:
  BudgetScope(Control &control, const Budget &budget) : control_(control), before_(control.budget) {
    control.budget = budget;
  }
  ~BudgetScope() { control_.budget = before_; }
  BudgetScope(const BudgetScope &) = delete;

 private:
  Control &control_;
  const Budget before_;
};

/// Forwards to another control, without progress reports and records: for work inside an iteration.
class BAYES_API QuietControl final : public Control {
 public:
  explicit QuietControl(Control &control) : control_(control) {
    threads = control.threads;
    memory = control.memory;
    row_memory = control.row_memory;
    budget = control.budget;
  }
  bool pending() const noexcept override { return control_.pending(); }
  void poll() override { control_.poll(); }
  void cut_short() override {
    is_cut_short = true;
    control_.cut_short();
  }
  bool repeats() const override { return control_.repeats(); }

 private:
  Control &control_;
};

/// While the scope lives, poll_here() on this thread polls this control.
///
/// Between sweeps the families factor one matrix per component, which takes seconds for hundreds of
/// large ones. Loops over components call poll_here(), so that formulas need no control in their
/// signatures.
class BAYES_API PollScope {
 public:
  explicit PollScope(Control &control);
  ~PollScope();
  PollScope(const PollScope &) = delete;

 private:
  Control *before_;
};

/// Throws if the work is to stop: on the main thread of a fit, with no worker thread alive; or on
/// any thread inside a task, which is then abandoned (data/sweep.hpp). Does nothing outside
/// a PollScope.
BAYES_API void poll_here();

/// Calls poll_here() in every 4096th step i of a loop whose steps are too short to poll in each.
inline void poll_in_loop(std::size_t i) {
  if (i % 4096 == 4095) poll_here();
}

/// Polls after a fixed amount of work, for loops whose steps differ in length.
class WorkPoll {
 public:
  /// Adds this many arithmetic operations to the work since the last poll, and polls when it is
  /// due.
  void operator()(std::size_t operations) {
    if ((work_ += operations) < between_polls) return;
    work_ = 0;
    poll_here();
  }

 private:
  /// a few milliseconds
  static constexpr std::size_t between_polls = 1 << 21;
  std::size_t work_ = 0;
};

}  // namespace bayes
