#include "data/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace bayes {
namespace {

/// Blocks all signals during its lifetime: threads inherit the mask of the thread that starts them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;

 private:
  sigset_t before_;
};

/// Thrown by polls inside a task that is to be abandoned.
struct Abandoned {};

/// The target of poll_here() inside a task.
class TaskControl final : public Control {
 public:
  explicit TaskControl(const Stop &stop) : stop_(stop) {}
  bool pending() const noexcept override { return stop_(); }
  void poll() override {
    if (stop_()) throw Abandoned{};
  }

 private:
  const Stop &stop_;
};

/// Distributes tasks and slots, and merges the partial results in order.
class TaskQueue {
 public:
  TaskQueue(std::size_t first, std::size_t end, int slots)
      : claimed_(first),
        merged_(first),
        end_(end) {
    for (int slot = slots; slot-- > 0;) free_.push_back(slot);
  }

  /// Takes the next task and a slot for it; returns false if there is none, or the pass was
  /// abandoned.
  bool claim(std::size_t &index, int &slot, const Stop &stop) {
    std::unique_lock lock(mutex_);
    wait(lock, stop, [&] { return !free_.empty() || closed_ || claimed_ == end_; });
    if (closed_ || claimed_ == end_ || free_.empty()) return false;
    index = claimed_++;
    slot = free_.back();
    free_.pop_back();
    return true;
  }

  /// Accepts a finished partial result, and merges all results that are next in order.
  template <class F> void finish(std::size_t index, int slot, F merge) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(index, slot);
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == merged_;
         first = waiting_.erase(first)) {
      merge(first->second);
      ++merged_;
      free_.push_back(first->second);
    }
    changed_.notify_all();
  }

  /// Waits until everything is merged or the pass is abandoned.
  void wait_until_merged(const Stop &stop) {
    std::unique_lock lock(mutex_);
    wait(lock, stop, [&] { return merged_ == end_ || closed_; });
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  std::size_t merged() const { return merged_; }

 private:
  /// The main thread keeps checking for interrupts while it waits for others.
  template <class F> void wait(std::unique_lock<std::mutex> &lock, const Stop &stop, F until) {
    while (!changed_.wait_for(lock, std::chrono::milliseconds(5), until))
      if (stop()) return;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t claimed_, merged_, end_;
  std::vector<int> free_;
  std::map<std::size_t, int>
      waiting_;  // finished tasks that wait for earlier ones, and their slots
  bool closed_ = false;
};

/// Threads, joined on every exit.
class ThreadGroup {
 public:
  explicit ThreadGroup(const std::function<void()> &dismiss) : dismiss_(dismiss) {}
  ~ThreadGroup() {
    if (!threads_.empty() && threads_.back().joinable()) dismiss_();
    join();
  }
  template <class F> void add(F body) { threads_.emplace_back(std::move(body)); }
  void join() {
    for (auto &thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  const std::function<void()> &dismiss_;
  std::vector<std::thread> threads_;
};

/// run_in_order() by the calling thread alone: without a queue, and without the system calls that
/// starting threads takes, which cost more than a pass over a hundred rows.
void run_alone(
    std::size_t tasks, Control &control,
    const std::function<void(int worker, int slot, std::size_t task, const Stop &stop)> &process,
    const std::function<void(int slot)> &merge, const std::function<void()> &meanwhile) {
  std::size_t done = 0;
  bool called = !meanwhile;
  do {
    control.poll();
    std::atomic<bool> flag{false};
    // As in run_in_order(): an interrupt that the server does not handle now is not waited for.
    const Stop stop(flag, control.pending() ? nullptr : &control);
    TaskControl inside(stop);
    if (!std::exchange(called, true)) meanwhile();
    while (done < tasks && !stop()) {
      try {
        const PollScope scope(inside);
        process(0, 0, done, stop);
      } catch (const Abandoned &) {
        break;
      }
      if (stop()) break;
      merge(0);
      ++done;
    }
  } while (done < tasks);
}

}  // namespace

SweepPlan plan_tasks(double operations, std::size_t part_bytes, const Control &control) {
  // Starting and joining a thread costs about as much as a few hundred thousand operations.
  const double worthwhile = 1 + operations / 2e6;
  const int threads = int(std::min(double(std::max(1, control.threads)), worthwhile));
  if (threads == 1) return {1, 1};
  constexpr std::size_t spare_bytes = 16 * 1024 * 1024;
  return {threads,
          threads + int(std::min<std::size_t>(3 * std::size_t(threads),
                                              spare_bytes / std::max<std::size_t>(1, part_bytes)))};
}

namespace {

/// Starts workers 1 .. n - 1, or as many as there are threads for: those that run do the work.
template <class Work> void start_workers(ThreadGroup &group, int n, const Work &work) {
  const SignalsBlocked blocked;
  try {
    for (int worker = 1; worker < n; ++worker)
      group.add([&work, worker] { work(worker, nullptr); });
  } catch (const std::system_error &) {
    // No more threads are available.
  }
}

}  // namespace

void run_in_order(
    std::size_t tasks, SweepPlan plan, Control &control,
    const std::function<void(int worker, int slot, std::size_t task, const Stop &stop)> &process,
    const std::function<void(int slot)> &merge, const std::function<void()> &meanwhile) {
  const int threads = std::max(1, std::min(plan.threads, int(std::min<std::size_t>(tasks, 1024))));
  if (threads == 1) return run_alone(tasks, control, process, merge, meanwhile);
  std::size_t done = 0;
  bool called = !meanwhile;
  do {
    control.poll();
    // If an interrupt is still pending after the poll, the server does not handle it now, and
    // waiting for that would never end.
    const Control *const watch = control.pending() ? nullptr : &control;
    std::atomic<bool> flag{false};
    TaskQueue queue(done, tasks, plan.slots);
    std::vector<std::exception_ptr> failures(std::size_t(threads), nullptr);
    const auto work = [&](int worker, const Control *watched) {
      try {
        const Stop stop(flag, watched);
        TaskControl inside(stop);
        std::size_t index;
        int slot;
        while (!stop() && queue.claim(index, slot, stop)) {
          try {
            const PollScope scope(inside);
            process(worker, slot, index, stop);
          } catch (const Abandoned &) {
            break;
          }
          if (stop()) break;
          queue.finish(index, slot, merge);
        }
        if (worker == 0) queue.wait_until_merged(stop);
        if (stop()) queue.close();
      } catch (...) {
        failures[std::size_t(worker)] = std::current_exception();
        flag.store(true);
        queue.close();
      }
    };
    {
      const std::function<void()> dismiss = [&] {
        flag.store(true);
        queue.close();
      };
      ThreadGroup group(dismiss);
      start_workers(group, threads, work);
      if (!called) {
        meanwhile();
        called = true;
      }
      work(0, watch);
      group.join();
    }
    for (const auto &failure : failures)
      if (failure) std::rethrow_exception(failure);
    done = queue.merged();
  } while (done < tasks);
}

void run_tasks(std::size_t tasks, int threads, Control &control,
               const std::function<void(std::size_t task, const Stop &stop)> &process) {
  run_in_order(
      tasks, {threads, int(tasks)}, control,
      [&](int, int, std::size_t task, const Stop &stop) { process(task, stop); }, [](int) {});
}

SweepPlan Sweep::plan(double operations_per_row, std::size_t part_bytes) const {
  return plan_tasks(double(rows_.rows()) * operations_per_row, part_bytes, control_);
}

void Sweep::run(SweepPlan plan, const Process &process, const Merge &merge) {
  if (rows_.stretches() == 0) return;
  std::span<const Piece> pieces = rows_.stretch(0), following;
  std::int64_t first = 0;
  for (std::int64_t index = 0; index < rows_.stretches(); ++index) {
    const bool more = index + 1 < rows_.stretches();
    run_stretch(pieces, first, plan, process, merge, [&] {
      if (more) following = rows_.stretch(index + 1);
    });
    for (const Piece &piece : pieces) first += piece.rows;
    pieces = following;
  }
}

void Sweep::run_stretch(std::span<const Piece> pieces, std::int64_t first, SweepPlan plan,
                        const Process &process, const Merge &merge,
                        const std::function<void()> &meanwhile) {
  // A piece is a segment: its size, and hence the order of all sums, depends on the shape of a row
  // alone. All pieces except the very last are full.
  const std::int64_t rows_each = pieces.empty() ? 0 : pieces[0].rows;
  run_in_order(
      pieces.size(), plan, control_,
      [&](int worker, int slot, std::size_t index, const Stop &stop) {
        process(worker, slot,
                {pieces[index].blocks, pieces[index].rows, first + std::int64_t(index) * rows_each},
                stop);
      },
      merge, meanwhile);
}

}  // namespace bayes
