// How long work stays answerable: cancel, progress, threads.
//
// A kernel is handed a Control and knows nothing of who stands behind it: in the server it is the
// backend's interrupt flag, in unit tests it is nothing at all.
#pragma once

#include <limits>

#include "base/api.hpp"

namespace bayes {

/// One line of progress: after an iteration of a restart.
struct Progress {
  /// as in options.method
  const char *method;
  /// from 1
  int restart;
  int restarts;
  /// from 0, the starting point (svi: from 1)
  int iteration;
  int max_iterations;
  /// what the method maximises
  double objective;
  /// of the objective since the last iteration; NaN at the first
  double change;
  /// since the fit began
  double seconds;
  /// of this restart, were every iteration used; never negative
  double seconds_left;
};

class BAYES_API Control {
 public:
  virtual ~Control() = default;

  /// Cheap, callable while worker threads run: is there anything that poll() should look at?
  virtual bool pending() const noexcept { return false; }

  /// Main thread only, with no worker thread alive: throws if the work is to stop, else returns.
  virtual void poll() {}

  /// Main thread only, with no worker thread alive.
  virtual void progress(const Progress &) {}

  /// The number of threads that a sweep may use, at least 1. Results do not depend on it.
  int threads = 1;

  /// Bytes that a fit may take beside its rows, for parameters and statistics; a fit that needs
  /// more refuses to begin.
  double memory = std::numeric_limits<double>::infinity();

  /// Bytes for what is held beside the rows in proportion to them, and for the rows: posterior
  /// draws of labels keep within it.
  double row_memory = std::numeric_limits<double>::infinity();
};

/// The same without progress, for work inside an iteration.
class BAYES_API QuietControl final : public Control {
 public:
  explicit QuietControl(Control &control) : control_(control) {
    threads = control.threads;
    memory = control.memory;
    row_memory = control.row_memory;
  }
  bool pending() const noexcept override { return control_.pending(); }
  void poll() override { control_.poll(); }

 private:
  Control &control_;
};

/// Makes a control the one that poll_here() asks, on this thread, for as long as the scope lives.
///
/// Between sweeps the families factor matrices, one for each component, which takes seconds for
/// hundreds of large ones. Their formulas stay free of a control in every signature: loops over
/// components call poll_here().
class BAYES_API PollScope {
 public:
  explicit PollScope(Control &control);
  ~PollScope();
  PollScope(const PollScope &) = delete;

 private:
  Control *before_;
};

/// Main thread of a fit only, with no worker thread alive: throws if the work is to stop. Does
/// nothing outside a PollScope.
BAYES_API void poll_here();

}  // namespace bayes
