#include "pg/server/server_control.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>

namespace bayes::pg {

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
