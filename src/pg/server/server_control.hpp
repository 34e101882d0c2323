// The Control of a PostgreSQL backend: cancel, timeouts, number of threads, and progress, as
// messages and as other sessions see it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/control.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/postgres.hpp"

namespace bayes::pg {

// What other sessions see of a running fit, in the view bayes_progress.
//
// Every backend has a slot of shared memory for the progress of its command: a number that tells
// which command it is, and 20 counters, whose meaning depends on it. PostgreSQL's own commands
// (VACUUM, COPY and others) are shown by the views pg_stat_progress_*; a fit writes into the slot
// if none of them does. The abort of a transaction clears the slot, and so does that of a
// subtransaction, after which the fit writes again as it goes on; and the end of the process.

enum class Phase : std::uint8_t { reading, starting_points, fitting, writing };

/// The state of a fit, in the form in which it fills counters of the slot. Names end with zeros.
struct RunningFit {
  using Name = std::array<char, 16>;

  /// distinguishes our counters from those of another extension
  std::uint32_t magic = current_magic;
  Phase phase = Phase::reading;
  /// Are run and step a chain and a draw of a sampler? 0 or 1
  std::uint8_t draws = 0;
  std::uint16_t unused = 0;
  /// as in ModelInfo::family, and as in options.method or empty
  Name family = {}, method = {};
  /// rows, sequences, documents or cells that have been read
  std::int64_t items = 0;
  /// fits that have ended in this statement
  std::int64_t fits_ended = 0;
  /// the restart or chain, from 1, and how many there are; 0 before the first one
  std::int32_t run = 0, runs = 0;
  /// the iteration or draw in it, and how many there are at most
  std::int32_t step = 0, steps = 0;
  /// of the last iteration, NaN if unknown
  double objective = std::numeric_limits<double>::quiet_NaN();
  double change = std::numeric_limits<double>::quiet_NaN();
  TimestampTz began = 0;
  /// when option max_seconds ends the fit; 0 without it
  TimestampTz deadline = 0;

  static constexpr std::uint32_t current_magic = 0x62617901;
};

/// The fit that runs in the backend with this slot, if there is one.
std::optional<RunningFit> running_fit(const PgBackendStatus &slot);

/// While data are read, their number is shown after so many more items. A power of 2.
inline constexpr std::int64_t items_between_shown = 256;

/// Shows one fit to other sessions. Nothing is shown before begin(). Main thread only.
class FitProgress {
 public:
  FitProgress() = default;
  ~FitProgress() { withdraw(); }
  FitProgress(const FitProgress &) = delete;
  FitProgress &operator=(const FitProgress &) = delete;

  /// The fit of a model of this family begins to read its data.
  void begin(std::string_view family);
  /// So many items have been read: 1, or items_between_shown more than before.
  void read(std::int64_t items);
  /// All items have been read, so many.
  void has_read(std::int64_t items) { state_.items = items; }
  /// The model has been fitted, and becomes a value.
  void writing();
  /// As Control::begins.
  void begins(Method method, double max_seconds);
  /// As Control::progress.
  void progress(const Progress &line);
  /// The fit has ended; another one may begin, or the same data may be fitted again.
  void end();

 private:
  void show();
  /// Takes the fit out of the slot if it is there; returns whether it was.
  bool withdraw();

  RunningFit state_;
  /// of the queries around the fit (QueryOfFit); -1 before begin()
  int level_ = -1;
  /// Is the method a sampler? Its iterations before the first draw look for a starting point.
  bool samples_ = false;
  /// Progress::seconds of the iteration that was shown last
  double last_ = 0;
};

/// Lives while a query runs that gives data to a fit. Fits inside of the query are shown instead of
/// that fit; when they end, it is shown again.
class QueryOfFit {
 public:
  QueryOfFit();
  ~QueryOfFit();
  QueryOfFit(const QueryOfFit &) = delete;
};

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
