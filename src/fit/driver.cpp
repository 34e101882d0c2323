#include "fit/driver.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/message.hpp"
#include "fit/fit_run.hpp"
#include "fit/schedule.hpp"

namespace bayes {
namespace {

void report(Control &control, const Schedule &schedule, int iteration,
            const std::vector<double> &trace, double run_began) {
  const double seconds = control.budget.seconds();
  const double change = trace.size() > 1 ? trace.back() - trace[trace.size() - 2]
                                         : std::numeric_limits<double>::quiet_NaN();
  const double each = (seconds - run_began) / (iteration + 1);
  const double left = each * double(schedule.max_iterations - iteration);
  control.progress({schedule.method, schedule.restart, schedule.restarts, iteration,
                    schedule.max_iterations, trace.back(), change, seconds,
                    std::max(0.0, std::min(left, control.budget.limit() - seconds))});
}

void require_finite(double objective, const char *method, int iteration) {
  if (!std::isfinite(objective))
    throw Error(Errc::numeric,
                std::string("the objective of method ") + method + " overflowed at iteration " +
                    std::to_string(iteration),
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
}

/// Convergence of an objective that rises in ever smaller steps. After a step that is r < 1 times
/// the one before, the remaining gain is estimated as r + r^2 + ... = r / (1 - r) times the step
/// (Aitken's estimate; for EM Bohning and others 1994, McLachlan and Krishnan 2008, section 4.9).
/// This distinguishes a slow rise from one that is nearly over, which the size of a single step
/// cannot.
///
/// If parts of a model converge at very different rates, steps shrink fast while the fast parts
/// converge, and the ratio of two single steps says little about the slow parts. With a span,
/// changes over a share of all iterations so far are compared instead, so that the intervals
/// compared grow with the number of iterations.
class Convergence {
 public:
  explicit Convergence(const Schedule &schedule) : schedule_(schedule) {}

  bool reached(double objective) {
    const double now = in_nats(objective), step = now - last_, before = before_;
    if (schedule_.gain_window > 1 || schedule_.span > 0) objectives_.push_back(now);
    // Not less than the rounding errors of sums over many rows.
    const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::abs(now),
                 allowed = schedule_.tolerance > 0 ? std::max(schedule_.tolerance, rounding) : 0;
    last_ = now;
    before_ = step;
    if (schedule_.gain_window > 1) return reached_in_windows(allowed, rounding);
    if (std::abs(step) <= schedule_.pause) return true;
    if (!(step > 0)) return std::abs(step) <= allowed;
    if (step > allowed) return false;
    const std::size_t iterations = objectives_.empty() ? 0 : objectives_.size() - 1;
    const std::size_t span = std::size_t(schedule_.span * double(iterations));
    if (span < 2) return nearly_over(step, before, allowed);
    const double half = objectives_[iterations - span];
    return nearly_over(now - half, half - objectives_[iterations - 2 * span], allowed);
  }

 private:
  /// Compares the gains of the last windows. A single iteration neither ends nor pauses the run,
  /// since parts of the model may be held at first, or move in turns.
  bool reached_in_windows(double allowed, double rounding) const {
    constexpr std::size_t windows = 4;
    const std::size_t w = std::size_t(schedule_.gain_window),
                      complete = (objectives_.size() - 1) / w;
    double gains[windows];
    for (std::size_t i = 0; i < std::min(windows, complete); ++i) {
      const std::size_t end = objectives_.size() - 1 - i * w;
      gains[i] = objectives_[end] - objectives_[end - w];
    }
    if (schedule_.pause > 0 && complete > 0 && std::abs(gains[0]) <= schedule_.pause) return true;
    if (complete < windows) return false;
    // Ratios of gains that are rounding errors mean nothing.
    const double still = std::max(allowed / 1000, rounding);
    if (std::all_of(gains, gains + windows, [&](double g) { return std::abs(g) <= still; }))
      return true;
    if (!(gains[0] > 0)) return std::abs(gains[0]) <= allowed;
    if (gains[0] > allowed) return false;
    double ratio = 0;
    for (std::size_t i = 0; i + 1 < windows; ++i)
      if (gains[i + 1] > 0) ratio = std::max(ratio, gains[i] / gains[i + 1]);
    return ratio < 1 && gains[0] * ratio / (1 - ratio) <= allowed;
  }

  static bool nearly_over(double step, double before, double allowed) {
    return step < before && step * step / (before - step) <= allowed;
  }
  double in_nats(double objective) const {
    if (schedule_.squares == 0) return objective;
    return -schedule_.squares / 2 * std::log(std::max(-objective, min_sum_of_squares));
  }

  static constexpr double min_sum_of_squares = std::numeric_limits<double>::min();
  const Schedule &schedule_;
  double last_ = std::numeric_limits<double>::quiet_NaN();
  double before_ = std::numeric_limits<double>::quiet_NaN();
  /// the objectives so far, if gains are judged in windows or over a span
  std::vector<double> objectives_;
};

/// Convergence of a noisy objective, checked at the end of every window.
class NoisyConvergence {
 public:
  NoisyConvergence(const Schedule &schedule, int window) : schedule_(schedule), window_(window) {}
  bool reached(const std::vector<double> &trace) {
    if (schedule_.tolerance == 0) return false;
    const Vector last =
        Eigen::Map<const Vector>(trace.data() + trace.size() - std::size_t(window_), window_);
    const double mean = last.mean(),
                 variance = (last.array() - mean).square().sum() / (window_ - 1);
    const double allowed = std::max(schedule_.tolerance, std::sqrt(2 * variance / window_));
    stable_ = std::abs(mean - before_) <= allowed ? stable_ + 1 : 0;
    before_ = mean;
    return stable_ == 2;
  }

 private:
  const Schedule &schedule_;
  const int window_;
  double before_ = std::numeric_limits<double>::infinity();
  int stable_ = 0;  // consecutive windows without a change: the patience is 2
};

}  // namespace

namespace detail {

std::vector<int> with_rows(const std::vector<bool> &among, const Vector &counts) {
  std::vector<int> out;
  for (std::size_t k = 0; k < among.size(); ++k)
    if (among[k] && counts(Eigen::Index(k)) > 1e-12 * counts.sum()) out.push_back(int(k));
  return out;
}

RunTrace iterate(Iteration &iteration, Control &control, const Schedule &schedule, int window) {
  RunTrace run;
  const double run_began = control.budget.seconds();
  Convergence exact(schedule);
  NoisyConvergence noisy(schedule, window);
  const auto judge = [&] {
    if (window == 1)
      run.converged = exact.reached(run.trace.back());
    else if (run.iterations > 0 && run.iterations % window == 0)
      run.converged = noisy.reached(run.trace);
  };
  LoopCourse course(control, [&](StateNumbers &numbers) { iteration.exchange_state(numbers); });
  for (const double known : course.repeated()) {
    run.trace.push_back(known);
    judge();
    ++run.iterations;
  }
  for (;; ++run.iterations) {
    course.prepare();
    run.sums = iteration.expectation(run.iterations, control);
    run.trace.push_back(run.sums.objective + iteration.objective());
    require_finite(run.trace.back(), schedule.method, run.iterations);
    course.check(run.trace.back());
    report(control, schedule, run.iterations, run.trace, run_began);
    judge();
    const bool limited = run.iterations >= schedule.max_iterations, last = run.converged || limited;
    if (last || (run.iterations >= schedule.min_iterations && control.time_is_over())) {
      course.save(run.trace, limited);
      if (!last) control.cut_short();
      return run;
    }
    iteration.update(run.iterations);
    course.go_further();
  }
}

RunTrace iterate_stochastic(Iteration &iteration, Control &control, const Schedule &schedule,
                            int window) {
  RunTrace run;
  const double run_began = control.budget.seconds();
  NoisyConvergence noisy(schedule, window);
  LoopCourse course(control, [&](StateNumbers &numbers) { iteration.exchange_state(numbers); });
  for (const double known : course.repeated()) {
    run.trace.push_back(known);
    if (++run.iterations % window == 0) noisy.reached(run.trace);
  }
  while (run.iterations < schedule.max_iterations) {
    // A step costs much less than a copy of the state, so whether it may be the last is decided
    // before it if the fit can be resumed.
    const bool ends_window = (run.iterations + 1) % window == 0,
               last_of_all = run.iterations + 1 == schedule.max_iterations,
               over = course.records() && control.time_is_over();
    if (ends_window || last_of_all || over) course.prepare();
    run.sums = iteration.expectation(run.iterations, control);
    run.trace.push_back(run.sums.objective + iteration.objective());
    require_finite(run.trace.back(), schedule.method, run.iterations);
    course.check(run.trace.back());
    if (ends_window) run.converged = noisy.reached(run.trace);
    const bool last = run.converged || last_of_all;
    if (last || over) course.save(run.trace, last_of_all);
    iteration.update(run.iterations);
    ++run.iterations;
    report(control, schedule, run.iterations, run.trace, run_began);
    if (last) break;
    if (over || (!course.records() && control.time_is_over())) {
      control.cut_short();
      break;
    }
    course.go_further();
  }
  return run;
}

}  // namespace detail

void require_minibatch_memory(double bytes, const Control &control) {
  const double limit = std::max(control.row_memory, 64e6);
  if (!(bytes > limit)) return;
  const auto megabytes = [](double of) { return std::int64_t(std::ceil(of / 1048576)); };
  throw Error(Errc::too_large,
              message("a minibatch takes about {} MB, but the limit is {} MB", megabytes(bytes),
                      megabytes(limit)),
              "Its rows are copied. The limit is maintenance_work_mem.",
              "Use a smaller batch_size, or raise maintenance_work_mem.");
}

RowMinibatches::RowMinibatches(RowSource &rows, const StochasticPlan &plan, Control &control)
    : rows_(rows),
      control_(control),
      by_hash_(plan.by_hash || rows.remote()),
      all_(by_hash_ ? rows.rows() : (rows.rows() + group - 1) / group),
      batch_(by_hash_ ? plan.batch_rows : (plan.batch_rows + group - 1) / group),
      drawn_({rows.shape().dimension, true}),
      block_(rows.shape().block_doubles()) {
  drawn_.set_incomplete(rows.incomplete());
  if (whole()) return;
  if (RemoteRows *const remote = rows.remote()) {
    elsewhere_.emplace(*remote);
    return;
  }
  require_minibatch_memory(
      8.0 * (by_hash_ ? 1 : group) * double(batch_) * (rows.shape().dimension + 1), control);
  if (by_hash_) hashed_.emplace(hash_rows(rows, 0, control));
}

HashedRows hash_rows(RowSource &rows, std::size_t part, Control &control) {
  require_memory({.what = "hashes for minibatches",
                  .bytes = HashedRows::bytes(rows.rows()),
                  .hint = "or use method vi."},
                 control);
  return {rows, part, control};
}

void choose_minibatch(const HashedRows &rows, const HashChoice &choice, MemoryRows &to,
                      const Control &control) {
  require_minibatch_memory(8.0 * double(rows.count(choice)) * (to.shape().dimension + 1), control);
  rows.choose(choice, to);
}

RowSource &RowMinibatches::draw(Random random) {
  if (by_hash_) {
    const HashChoice choice = {random.bits(),
                               std::uint64_t(std::ldexp(double(batch_) / double(all_), 64))};
    if (hashed_) {
      choose_minibatch(*hashed_, choice, drawn_, control_);
      return drawn_;
    }
    elsewhere_->choose(choice);
    return *elsewhere_;
  }
  drawn_.clear();
  const RowShape shape = rows_.shape();
  std::vector<double> x(std::size_t(shape.dimension));
  WorkPoll poll;
  for (std::int64_t i = 0; i < batch_; ++i) {
    poll(block_.size());
    const std::int64_t first = std::int64_t(random.below(std::uint64_t(all_))) * group;
    rows_.read_block(first / block_rows, block_.data());
    for (std::int64_t row = first; row < std::min(first + group, rows_.rows()); ++row) {
      const double *at = block_.data() + row % block_rows;
      for (int j = 0; j < shape.dimension; ++j) x[std::size_t(j)] = at[std::size_t(j) * block_rows];
      drawn_.append(x.data(), shape.weighted ? at[std::size_t(shape.dimension) * block_rows] : 1);
    }
  }
  return drawn_;
}

}  // namespace bayes
