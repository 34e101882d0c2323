#include "core/sweep.hpp"

#include <csignal>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace bayes {
namespace {

/// Blocks every signal for as long as it lives: threads inherit the mask of the thread that starts them.
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

/// Lets workers merge in the order of their segments.
class Turnstile {
 public:
  explicit Turnstile(std::size_t next) : next_(next) {}

  /// Runs merge when the turn of `index` has come; false if the pass was given up before that.
  template <class F> bool pass(std::size_t index, F merge) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == index || closed_; });
    if (closed_) return false;
    merge();
    ++next_;
    changed_.notify_all();
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  std::size_t next() const { return next_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_;
  bool closed_ = false;
};

/// Threads that are joined on every way out.
class Crew {
 public:
  explicit Crew(const std::function<void()> &dismiss) : dismiss_(dismiss) {}
  ~Crew() {
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

}  // namespace

int Sweep::threads(double operations_per_row) const {
  // Starting and joining a thread costs about as much as a few hundred thousand operations.
  const double worthwhile = 1 + double(rows_.rows()) * operations_per_row / 2e6;
  return int(std::min(double(std::max(1, control_.threads)), worthwhile));
}

void Sweep::run(int threads, const Process &process, const Merge &merge) {
  if (rows_.stretches() == 0) return;
  std::span<const Piece> pieces = rows_.stretch(0), following;
  for (std::int64_t index = 0; index < rows_.stretches(); ++index) {
    const bool more = index + 1 < rows_.stretches();
    run_stretch(pieces, threads, process, merge, [&] {
      if (more) following = rows_.stretch(index + 1);
    });
    pieces = following;
  }
}

void Sweep::run_stretch(std::span<const Piece> pieces, int threads, const Process &process, const Merge &merge,
                        const std::function<void()> &meanwhile) {
  // A piece is a segment: its size depends on the shape of a row alone, hence so do all sums.
  threads = std::max(1, std::min(threads, int(std::min<std::size_t>(pieces.size(), 1024))));
  std::size_t done = 0;
  bool read = false;
  do {
    control_.poll();
    // Still pending after the poll means that the server will not look at it now; waiting for it would wait for ever.
    const Control *const watch = control_.pending() ? nullptr : &control_;
    std::atomic<bool> flag{false};
    std::atomic<std::size_t> next{done};
    Turnstile turnstile(done);
    std::vector<std::exception_ptr> failures(std::size_t(threads), nullptr);
    const auto work = [&](int worker, const Control *control) {
      try {
        const Stop stop(flag, control);
        while (!stop()) {
          const std::size_t index = next.fetch_add(1);
          if (index >= pieces.size()) return;
          process(worker, {pieces[index].blocks, pieces[index].rows}, stop);
          if (stop()) break;
          if (!turnstile.pass(index, [&] { merge(worker); })) return;
        }
        turnstile.close();
      } catch (...) {
        failures[std::size_t(worker)] = std::current_exception();
        flag.store(true);
        turnstile.close();
      }
    };
    {
      const std::function<void()> dismiss = [&] {
        flag.store(true);
        turnstile.close();
      };
      Crew crew(dismiss);
      {
        const SignalsBlocked blocked;
        try {
          for (int worker = 1; worker < threads; ++worker) crew.add([&work, worker] { work(worker, nullptr); });
        } catch (const std::system_error &) {
          // No more threads to be had: those that there are do the work.
        }
      }
      if (!read) {
        meanwhile();
        read = true;
      }
      work(0, watch);
      crew.join();
    }
    for (const auto &failure : failures)
      if (failure) std::rethrow_exception(failure);
    done = turnstile.next();
  } while (done < pieces.size());
}

}  // namespace bayes
