// The Control of a PostgreSQL backend: cancel, timeouts, progress, number of threads.
#pragma once

#include "base/control.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/fit_progress.hpp"

namespace bayes::pg {

/// The upper limit of the settings of threads.
inline constexpr int max_threads_limit = 64;
/// The number of processors that this process may use, clamped to the range of the settings.
int usable_processors();

/// The settings pg_bayes.threads, pg_bayes.max_threads and pg_bayes.progress.
extern int threads_setting, max_threads_setting;
extern bool progress_setting;

class ServerControl final : public Control {
 public:
  /// `fit`: shows the fit to other sessions; nullptr for other computations.
  explicit ServerControl(FitProgress *fit = nullptr);
  bool pending() const noexcept override { return InterruptPending != 0; }

  /// InterruptPending is also set for harmless things (barriers, logging of memory contexts):
  /// ProcessInterrupts decides.
  void poll() override { poll_interrupts(); }
  void begins(Method method, double max_seconds) override {
    if (fit_) fit_->begins(method, max_seconds);
  }
  void progress(const Progress &line) override;

 private:
  /// time of the last progress line, in seconds since the fit began; -1 before the first one
  double last_line_ = -1;
  FitProgress *fit_;
};

}  // namespace bayes::pg
