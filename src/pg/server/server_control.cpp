#include "pg/server/server_control.hpp"

#include <sched.h>
#include <algorithm>
#include <bit>
#include <cmath>

namespace bayes::pg {
namespace {

/// The number of our command, which is none of PostgreSQL's: "pgba".
constexpr std::uint32_t our_command = 0x70676261;

// The counters that a fit uses. PostgreSQL's COPY, whose command the abort of a subtransaction ends
// although it goes on, keeps writing into the first seven.
using Counters = std::array<std::int64_t, 13>;
constexpr std::array<int, 13> counter_numbers = {7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
static_assert(sizeof(RunningFit) == sizeof(Counters));
static_assert(counter_numbers.back() == PGSTAT_NUM_PROGRESS_PARAM - 1);

/// Iterations are shown this many seconds apart, and the first one of a fit that has lasted a tenth
/// of that: many small fits should not take longer for being shown.
constexpr double seconds_between = 0.01;
constexpr double before_first = seconds_between / 10 - seconds_between;

constexpr int max_level = 7;
/// The number of queries of fits that run around what is running now.
int level = 0;
/// By level, the fit that was shown last and has not ended.
std::array<FitProgress *, max_level + 1> of_level = {};
/// The fit that was shown last, at any level, unless it has been withdrawn.
FitProgress *shown = nullptr;

int place_of(int of) { return std::min(of, max_level); }

/// The command in a slot. (ProgressCommandType has no value for ours.)
std::uint32_t command_of(const PgBackendStatus &slot) {
  return std::bit_cast<std::uint32_t>(slot.st_progress_command);
}

/// The number of fits that have ended in this statement.
std::int64_t &fits_ended() {
  static TimestampTz statement = 0;
  static std::int64_t count = 0;
  const TimestampTz now = GetCurrentStatementStartTimestamp();
  if (now != statement) count = 0;
  statement = now;
  return count;
}

RunningFit::Name name_of(std::string_view text) {
  RunningFit::Name name = {};
  std::copy_n(text.begin(), std::min(text.size(), name.size() - 1), name.begin());
  return name;
}

/// Any bytes may be in a slot that another extension has written.
bool is_name(const RunningFit::Name &name) {
  const auto end = std::find(name.begin(), name.end(), '\0');
  return end != name.end() && std::all_of(name.begin(), end, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::optional<RunningFit> running_fit(const PgBackendStatus &slot) {
  if (slot.st_procpid <= 0 || command_of(slot) != our_command) return std::nullopt;
  Counters counters;
  std::copy_n(slot.st_progress_param + counter_numbers[0], counters.size(), counters.begin());
  const RunningFit fit = std::bit_cast<RunningFit>(counters);
  const bool ours = fit.magic == RunningFit::current_magic && fit.phase <= Phase::writing &&
                    is_name(fit.family) && is_name(fit.method);
  return ours ? std::optional(fit) : std::nullopt;
}

void FitProgress::begin(std::string_view family) {
  state_ = {.family = name_of(family), .began = GetCurrentTimestamp()};
  level_ = level;
}

void FitProgress::read(std::int64_t items) {
  state_.items = items;
  state_.phase = Phase::reading;
  // Of many small groups each is shown when it is fitted.
  if (items > 1 || fits_ended() == 0) show();
}

void FitProgress::writing() {
  if (state_.phase == Phase::starting_points) return;  // a small fit
  state_.phase = Phase::writing;
  show();
}

void FitProgress::begins(Method method, double max_seconds) {
  state_.phase = method == Method::exact ? Phase::fitting : Phase::starting_points;
  state_.method = name_of(method_name(method));
  samples_ = is_sampler(method);
  state_.run = state_.runs = state_.step = state_.steps = 0;
  state_.objective = state_.change = std::numeric_limits<double>::quiet_NaN();
  state_.deadline =
      std::isfinite(max_seconds) ? GetCurrentTimestamp() + std::int64_t(max_seconds * 1e6) : 0;
  last_ = before_first;
  show();
}

void FitProgress::progress(const Progress &line) {
  // Chains have a clock of their own.
  if (line.seconds >= last_ && line.seconds < last_ + seconds_between) return;
  last_ = line.seconds;
  state_.phase = samples_ && !line.draw ? Phase::starting_points : Phase::fitting;
  state_.draws = line.draw;
  state_.run = line.restart;
  state_.runs = line.restarts;
  state_.step = line.iteration;
  state_.steps = line.max_iterations;
  state_.objective = line.objective;
  state_.change = line.change;
  if (state_.method[0] == '\0') state_.method = name_of(line.method);
  show();
}

void FitProgress::end() {
  ++fits_ended();
  state_ = {.family = state_.family, .items = state_.items, .began = state_.began};
  if (!withdraw()) return;
  for (int outer = level_; outer-- > 0;)
    if (FitProgress *const fit = of_level[std::size_t(place_of(outer))]) return fit->show();
}

void FitProgress::show() {
  if (level_ < 0 || !MyBEEntry) return;
  of_level[std::size_t(place_of(level_))] = this;
  const std::uint32_t running = command_of(*MyBEEntry);
  if (running != our_command) {
    if (running != PROGRESS_COMMAND_INVALID) return;
    pgstat_progress_start_command(std::bit_cast<ProgressCommandType>(our_command), InvalidOid);
  }
  state_.fits_ended = fits_ended();
  const auto counters = std::bit_cast<Counters>(state_);
  pgstat_progress_update_multi_param(int(counters.size()), counter_numbers.data(), counters.data());
  shown = this;
}

bool FitProgress::withdraw() {
  for (FitProgress *&each : of_level)
    if (each == this) each = nullptr;
  if (shown != this) return false;
  shown = nullptr;
  if (MyBEEntry && command_of(*MyBEEntry) == our_command) pgstat_progress_end_command();
  return true;
}

QueryOfFit::QueryOfFit() { ++level; }
QueryOfFit::~QueryOfFit() {
  of_level[std::size_t(place_of(level))] = nullptr;
  --level;
}

int threads_setting = 0, max_threads_setting = 1;
bool progress_setting = false;

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0
             ? std::clamp(CPU_COUNT(&set), 1, max_threads_limit)
             : 1;
}

namespace {

constexpr double seconds_between_lines = 0.5;

}  // namespace

ServerControl::ServerControl(FitProgress *fit) : fit_(fit) {
  // The query's other processes already use the machine's other processors.
  if (IsParallelWorker())
    threads = 1;
  else if (threads_setting > 0)
    threads = threads_setting;
  else
    threads = std::min(max_parallel_workers_per_gather + 1, usable_processors());
  threads = std::min(threads, max_threads_setting);
  // Rows alone may take maintenance_work_mem; parameters may take as much again, or 1 GB if that is
  // more.
  memory = std::max(maintenance_work_mem * 1024.0, 1073741824.0);
  row_memory = maintenance_work_mem * 1024.0;
}

void ServerControl::progress(const Progress &line) {
  if (fit_) fit_->progress(line);
  if (!progress_setting) return;
  const bool first = last_line_ < 0, last = line.iteration == line.max_iterations;
  if (!first && !last && line.seconds - last_line_ < seconds_between_lines) return;
  last_line_ = line.seconds;

  char change[40] = "";
  if (!std::isnan(line.change)) std::snprintf(change, sizeof change, ", change %.4g", line.change);
  char text[320];
  std::snprintf(text, sizeof text,
                "%s: restart %d/%d, iteration %d/%d, objective %.10g%s, %.1f s, this restart at "
                "most %.1f s more",
                line.method, line.restart, line.restarts, line.iteration, line.max_iterations,
                line.objective, change, line.seconds, line.seconds_left);
  report(INFO, text);
}

}  // namespace bayes::pg
