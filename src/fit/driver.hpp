// The drivers of all learners: iterations to convergence, or stochastic steps; traces, progress,
// time limits.
//
// The loops call a learner, its state and its data through the interface Iteration, so they are
// compiled once.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/checkpoint.hpp"
#include "base/random.hpp"
#include "data/hashed_rows.hpp"
#include "data/local_step.hpp"
#include "fit/learners.hpp"
#include "fit/schedule.hpp"

namespace bayes {

/// The result of a run.
template <class State, class Statistics> struct RunOf : RunTrace {
  State state;
  /// expected rows of every component at the last local step
  Vector counts;
  /// sufficient statistics of that local step
  std::optional<Statistics> statistics;
};
template <Learner L> using Run = RunOf<typename L::State, typename L::Statistics>;

namespace detail {

/// A learner with its state and data, for the loops below.
class Iteration {
 public:
  virtual ~Iteration() = default;
  /// The local step of iteration `index` at the current state: returns the sums over the rows, and
  /// stores the statistics for update().
  virtual RowSums expectation(int index, Control &control) = 0;
  /// The objective without its data term.
  virtual double objective() const = 0;
  /// The global step.
  virtual void update(int index) = 0;
  /// Writes or reads all that the steps from here on depend on, before a local step.
  virtual void exchange_state(StateNumbers &numbers) = 0;
};

/// Local and global steps, at most max_iterations times. With a window of 1, converged when neither
/// the last change of the objective nor the estimated sum of all further changes exceeds the
/// tolerance. With a larger one the objective is noisy: converged when its mean over a window has
/// changed, in two consecutive windows, by no more than the tolerance or one standard error of the
/// difference; never with a tolerance of 0.
RunTrace iterate(Iteration &iteration, Control &control, const Schedule &schedule, int window = 1);

/// Steps on minibatches, whose objective is noisy; no local step follows the last.
RunTrace iterate_stochastic(Iteration &iteration, Control &control, const Schedule &schedule,
                            int window);

/// The indices, from 0, of the components that are marked in `among` and have more than a
/// negligible share of the rows.
std::vector<int> with_rows(const std::vector<bool> &among, const Vector &counts);

/// The local step uses all data and the learner's own allocation.
template <Learner L, class Data> class BatchIteration : public Iteration {
 public:
  BatchIteration(const L &learner, typename L::State state, Data &data)
      : learner_(learner),
        data_(data) {
    run_.state = std::move(state);
  }
  RowSums expectation(int, Control &control) override {
    return take(expected_statistics(learner_, run_.state, data_, control));
  }
  double objective() const override { return learner_.objective(run_.state); }
  void update(int) override { run_.state = learner_.update(*run_.statistics, run_.state); }
  void exchange_state(StateNumbers &numbers) override { exchange(numbers, run_.state); }

  Run<L> finish(RunTrace trace) {
    static_cast<RunTrace &>(run_) = std::move(trace);
    if constexpr (requires { learner_.degenerate(run_.state); })
      run_.degenerate = with_rows(learner_.degenerate(run_.state), run_.counts);
    return std::move(run_);
  }

 protected:
  RowSums take(LocalResult<typename L::Statistics> local) {
    run_.counts = local.statistics.count;
    run_.statistics = std::move(local.statistics);
    return local.sums;
  }
  const L &learner_;
  Data &data_;
  Run<L> run_;
};

}  // namespace detail

/// Iterates local and global steps until the objective has converged, at most max_iterations times.
template <Learner L, class Data>
Run<L> optimize(const L &learner, typename L::State state, Data &data, Control &control,
                const Schedule &schedule) {
  detail::BatchIteration<L, Data> iteration(learner, std::move(state), data);
  return iteration.finish(detail::iterate(iteration, control, schedule));
}

/// Minibatches of rows in groups of `group` neighbours: a group is one cache line of every feature,
/// so that no fetched memory is wasted. Groups are drawn uniformly with replacement, so scaled sums
/// over a minibatch are unbiased. Alternatively, as the plan says and always on other servers, a
/// hash of its contents and the step decides whether a row is in a minibatch; sums are unbiased
/// then too.
class RowMinibatches {
 public:
  static constexpr int group = 8;
  /// Throws Error(too_large) if a minibatch does not fit into the memory for rows.
  RowMinibatches(RowSource &rows, const StochasticPlan &plan, Control &control);

  bool whole() const { return batch_ >= all_; }
  double scale() const { return double(all_) / double(batch_); }
  /// factor that scales the data term of the last minibatch to all rows
  double objective_scale() const { return scale(); }

  RowSource &draw(Random random);

 private:
  RowSource &rows_;
  const Control &control_;
  const bool by_hash_;
  /// groups, or rows
  std::int64_t all_, batch_;
  MemoryRows drawn_;
  Buffer block_;
  std::optional<HashedRows> hashed_;
  std::optional<RemoteBatch> elsewhere_;
};

inline RowMinibatches minibatches_of(RowSource &rows, const StochasticPlan &plan,
                                     Control &control) {
  return {rows, plan, control};
}

/// Throws Error(too_large) if a minibatch of this many bytes exceeds the memory for rows: it is a
/// copy of its rows.
void require_minibatch_memory(double bytes, const Control &control);

/// The hashes of rows by which minibatches of them are chosen. Throws Error(too_large) if they do
/// not fit into memory.
HashedRows hash_rows(RowSource &rows, std::size_t part, Control &control);
/// Replaces `to` by the rows that are chosen. Throws Error(too_large), as
/// require_minibatch_memory() does, if they do not fit.
void choose_minibatch(const HashedRows &rows, const HashChoice &choice, MemoryRows &to,
                      const Control &control);

namespace detail {

/// The local step uses a minibatch, the global step is a natural-gradient step towards its
/// posterior.
template <StochasticLearner L, class Data>
class SampleIteration final : public BatchIteration<L, Data> {
  using Base = BatchIteration<L, Data>;
  using Base::learner_, Base::data_, Base::run_;

 public:
  SampleIteration(const L &learner, typename L::State state, Data &data, int restart,
                  const StochasticPlan &plan, Control &control)
      : Base(learner, std::move(state), data),
        restart_(restart),
        plan_(plan),
        sampler_(minibatches_of(data, plan, control)) {}
  RowSums expectation(int index, Control &control) override {
    control.poll();
    if (sampler_.whole())
      return this->take(expected_statistics(learner_, run_.state, data_, control));
    Data &batch =
        sampler_.draw(Random(plan_.seed, std::uint64_t(restart_), std::uint64_t(index), 1));
    auto local = expected_statistics(learner_, run_.state, batch, control);
    local.sums.objective *= sampler_.objective_scale();
    local.statistics.scale(sampler_.scale());
    return this->take(std::move(local));
  }
  void update(int index) override {
    run_.state = learner_.move(run_.state, learner_.update(*run_.statistics, run_.state),
                               std::pow(plan_.t0 + index, -plan_.kappa));
  }

 private:
  const int restart_;
  const StochasticPlan plan_;
  decltype(minibatches_of(std::declval<Data &>(), std::declval<const StochasticPlan &>(),
                          std::declval<Control &>())) sampler_;
};

/// The local step's responsibilities are estimated by labels drawn for each row.
template <RowLearner L> class MonteCarloIteration final : public BatchIteration<L, RowSource> {
  using Base = BatchIteration<L, RowSource>;

 public:
  MonteCarloIteration(const L &learner, typename L::State state, RowSource &rows, int restart,
                      int samples, std::uint64_t seed)
      : Base(learner, std::move(state), rows),
        restart_(restart),
        samples_(samples),
        seed_(seed) {}
  RowSums expectation(int index, Control &control) override {
    const MonteCarloAllocation allocation{
        RowRandom(seed_, std::uint64_t(restart_), std::uint64_t(index), 4), samples_};
    return this->take(local_step<MonteCarloAllocation>(
        this->data_, control, this->learner_.scorer(this->run_.state),
        this->learner_.log_weights(this->run_.state), allocation));
  }

 private:
  const int restart_, samples_;
  const std::uint64_t seed_;
};

}  // namespace detail

/// Stochastic steps on the minibatches of minibatches_of(data, plan, control). The trace holds the
/// noisy estimate of the objective from each. Converged as described at iterate(), with windows of
/// 50 steps. A minibatch as large as the data contains all of them; the estimates are then exact.
template <StochasticLearner L, class Data>
Run<L> optimize_stochastic(const L &learner, typename L::State state, Data &data, Control &control,
                           const Schedule &schedule, const StochasticPlan &plan) {
  detail::SampleIteration<L, Data> iteration(learner, std::move(state), data, schedule.restart,
                                             plan, control);
  return iteration.finish(detail::iterate_stochastic(iteration, control, schedule, 50));
}

/// Monte Carlo EM (001): the E step's responsibilities are estimated by `samples` labels drawn for
/// each row. (In the printed formula of Q the logarithm contains the old parameters; it should be a
/// function of the new ones.) The trace holds the exact log-likelihoods at the random sequence of
/// estimates. Converged as described at iterate(), with windows of 20 iterations.
template <RowLearner L>
Run<L> optimize_monte_carlo(const L &learner, typename L::State state, RowSource &rows,
                            Control &control, const Schedule &schedule, int samples,
                            std::uint64_t seed) {
  detail::MonteCarloIteration<L> iteration(learner, std::move(state), rows, schedule.restart,
                                           samples, seed);
  return iteration.finish(detail::iterate(iteration, control, schedule, 20));
}

}  // namespace bayes
