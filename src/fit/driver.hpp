// What every fit goes through, whatever the learner: iterations to convergence, or stochastic
// steps; traces, progress, time limits.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "data/sampled_allocation.hpp"
#include "fit/learners.hpp"

namespace bayes {

/// When to stop, and how to say where one is.
struct Schedule {
  const char *method = "";
  int restart = 1, restarts = 1;
  int max_iterations = 1000;
  /// of the change of the objective per unit of weight
  double tolerance = 1e-6;
  /// for the whole fit
  double max_seconds = std::numeric_limits<double>::infinity();
  /// of all rows
  double weight = 1;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

/// Where a run ended.
template <Learner L> struct Run {
  typename L::State state;
  /// objective at the start and after every iteration
  std::vector<double> trace;
  bool converged = false;
  int iterations = 0;
  /// of the rows at the last local step
  RowSums sums;
  /// expected rows of every component there
  Vector counts;
  /// there
  std::optional<typename L::Statistics> statistics;
};

namespace detail {

/// Reports an iteration and says whether the time is up.
inline bool report(Control &control, const Schedule &schedule, int iteration,
                   const std::vector<double> &trace, double run_began) {
  const double seconds = schedule.seconds();
  const double change = trace.size() > 1 ? trace.back() - trace[trace.size() - 2]
                                         : std::numeric_limits<double>::quiet_NaN();
  const double each = (seconds - run_began) / (iteration + 1);
  const double left = each * double(schedule.max_iterations - iteration);
  control.progress({schedule.method, schedule.restart, schedule.restarts, iteration,
                    schedule.max_iterations, trace.back(), change, seconds,
                    std::max(0.0, std::min(left, schedule.max_seconds - seconds))});
  return seconds >= schedule.max_seconds;
}

inline void require_finite(double objective, const char *method, int iteration) {
  if (!std::isfinite(objective))
    throw Error(Errc::numeric,
                std::string("the objective of method ") + method + " overflowed at iteration " +
                    std::to_string(iteration),
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
}

}  // namespace detail

/// Iterates local and global steps until the objective changes by no more than the tolerance, at
/// most max_iterations times.
template <Learner L, class Data>
Run<L> climb(const L &learner, typename L::State state, Data &data, Control &control,
             const Schedule &schedule) {
  Run<L> run{std::move(state), {}, false, 0, {}, {}, {}};
  const double run_began = schedule.seconds();
  for (;; ++run.iterations) {
    auto local = expected_statistics(learner, run.state, data, control);
    run.trace.push_back(local.sums.objective + learner.objective(run.state));
    run.sums = local.sums;
    run.counts = local.statistics.count;
    run.statistics = std::move(local.statistics);
    detail::require_finite(run.trace.back(), schedule.method, run.iterations);
    const bool late = detail::report(control, schedule, run.iterations, run.trace, run_began);
    run.converged =
        run.iterations > 0 && std::abs(run.trace.back() - run.trace[run.trace.size() - 2]) <=
                                  schedule.tolerance * schedule.weight;
    if (run.converged || late || run.iterations == schedule.max_iterations) return run;
    run.state = learner.update(*run.statistics, run.state);
  }
}

/// The step sizes (t0 + t)^-kappa and sample sizes of stochastic inference (002 L8).
struct StochasticPlan {
  std::int64_t batch_rows = 1024;
  double kappa = 0.7, t0 = 10;
  std::uint64_t seed = 1;
};

/// Random samples of rows in groups of `group` neighbours: a group is one cache line of every
/// feature, so that a sample costs no more to fetch than it holds. Groups are drawn uniformly with
/// replacement, hence sums over a sample, scaled, are unbiased.
class RowSampler {
 public:
  static constexpr int group = 8;
  RowSampler(RowSource &rows, std::int64_t batch_rows)
      : rows_(rows),
        groups_((rows.rows() + group - 1) / group),
        batch_groups_((batch_rows + group - 1) / group),
        batch_({rows.shape().dimension, true}),
        block_(rows.shape().block_doubles()) {}

  bool whole() const { return batch_groups_ >= groups_; }
  double scale() const { return double(groups_) / double(batch_groups_); }
  /// of the last sample's share of the objective
  double objective_scale() const { return scale(); }

  RowSource &draw(Random random) {
    batch_.clear();
    const RowShape shape = rows_.shape();
    std::vector<double> x(std::size_t(shape.dimension));
    for (std::int64_t i = 0; i < batch_groups_; ++i) {
      const std::int64_t first = std::int64_t(random.below(std::uint64_t(groups_))) * group;
      rows_.read_block(first / block_rows, block_.data());
      for (std::int64_t row = first; row < std::min(first + group, rows_.rows()); ++row) {
        const double *at = block_.data() + row % block_rows;
        for (int j = 0; j < shape.dimension; ++j)
          x[std::size_t(j)] = at[std::size_t(j) * block_rows];
        batch_.append(x.data(), shape.weighted ? at[std::size_t(shape.dimension) * block_rows] : 1);
      }
    }
    return batch_;
  }

 private:
  RowSource &rows_;
  std::int64_t groups_, batch_groups_;
  MemoryRows batch_;
  Buffer block_;
};

inline RowSampler sampler_of(RowSource &rows, const StochasticPlan &plan) {
  return {rows, plan.batch_rows};
}

/// Stochastic steps on what sampler_of(data, plan) draws. The trace holds the noisy estimate of the
/// objective from each sample. Converged when its mean over `window` steps changed, twice running,
/// by no more than the tolerance or than chance explains (one standard error of the difference). A
/// sample as large as the rows is all of them, and then the estimates are exact.
template <StochasticLearner L, class Data>
Run<L> wander(const L &learner, typename L::State state, Data &data, Control &control,
              const Schedule &schedule, const StochasticPlan &plan) {
  constexpr int window = 50;
  Run<L> run{std::move(state), {}, false, 0, {}, {}, {}};
  const double run_began = schedule.seconds();
  auto sampler = sampler_of(data, plan);
  double before = std::numeric_limits<double>::infinity();
  int calm = 0;
  while (run.iterations < schedule.max_iterations) {
    control.poll();
    Data &batch = sampler.whole() ? data
                                  : sampler.draw(Random(plan.seed, std::uint64_t(schedule.restart),
                                                        std::uint64_t(run.iterations), 1));
    const double scale = sampler.whole() ? 1 : sampler.scale(),
                 objective_scale = sampler.whole() ? 1 : sampler.objective_scale();
    auto local = expected_statistics(learner, run.state, batch, control);
    run.trace.push_back(objective_scale * local.sums.objective + learner.objective(run.state));
    detail::require_finite(run.trace.back(), schedule.method, run.iterations);
    local.statistics.scale(scale);
    run.state = learner.move(run.state, learner.update(local.statistics, run.state),
                             std::pow(plan.t0 + run.iterations, -plan.kappa));
    ++run.iterations;
    if (detail::report(control, schedule, run.iterations, run.trace, run_began)) return run;
    if (run.iterations % window != 0) continue;
    const Vector last =
        Eigen::Map<const Vector>(run.trace.data() + run.trace.size() - window, window);
    const double mean = last.mean(), variance = (last.array() - mean).square().sum() / (window - 1);
    calm = std::abs(mean - before) <=
                   std::max(schedule.tolerance * schedule.weight, std::sqrt(2 * variance / window))
               ? calm + 1
               : 0;
    before = mean;
    run.converged = calm == 2;
    if (run.converged) return run;
  }
  return run;
}

/// Monte Carlo EM (001): the E step's responsibilities are estimated by `samples` labels drawn for
/// each row. (The printed Q has the old parameters inside the logarithm; it is a function of the
/// new ones.) The trace holds the exact log-likelihoods of where the chain of estimates goes; it
/// has converged when their mean over `window` iterations changed, twice running, by no more than
/// the tolerance or than chance explains.
template <RowLearner L>
Run<L> climb_sampled(const L &learner, typename L::State state, RowSource &rows, Control &control,
                     const Schedule &schedule, int samples, std::uint64_t seed) {
  constexpr int window = 20;
  Run<L> run{std::move(state), {}, false, 0, {}, {}, {}};
  const double run_began = schedule.seconds();
  double before = std::numeric_limits<double>::infinity();
  int calm = 0;
  for (;; ++run.iterations) {
    const MonteCarloAllocation allocation{
        RowRandom(seed, std::uint64_t(schedule.restart), std::uint64_t(run.iterations), 4),
        samples};
    const auto local = local_step<MonteCarloAllocation>(rows, control, learner.scorer(run.state),
                                                        learner.log_weights(run.state), allocation);
    run.trace.push_back(local.sums.objective + learner.objective(run.state));
    run.sums = local.sums;
    run.counts = local.statistics.count;
    detail::require_finite(run.trace.back(), schedule.method, run.iterations);
    const bool late = detail::report(control, schedule, run.iterations, run.trace, run_began);
    if (run.iterations > 0 && run.iterations % window == 0) {
      const Vector last =
          Eigen::Map<const Vector>(run.trace.data() + run.trace.size() - window, window);
      const double mean = last.mean(),
                   variance = (last.array() - mean).square().sum() / (window - 1);
      calm = std::abs(mean - before) <= std::max(schedule.tolerance * schedule.weight,
                                                 std::sqrt(2 * variance / window))
                 ? calm + 1
                 : 0;
      before = mean;
      run.converged = calm == 2;
    }
    if (run.converged || late || run.iterations == schedule.max_iterations) return run;
    run.state = learner.update(local.statistics, run.state);
  }
}

}  // namespace bayes
