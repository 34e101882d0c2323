// The steps that all fits of finite mixtures share, whatever the family of the components: a sample
// of the distinct rows, restarts, learners, the order of the components. The fit of a model has a
// FiniteFit, gives it the prior and the starting points, and adds the model's own options.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/assignment.hpp"
#include "base/error.hpp"
#include "data/local_step.hpp"
#include "data/sketch.hpp"
#include "fit/component_order.hpp"
#include "fit/driver.hpp"
#include "fit/fit_run.hpp"
#include "fit/linear_response.hpp"
#include "mixture/finite_sampling.hpp"
#include "mixture/finite_totals.hpp"
#include "partition/chains.hpp"

namespace bayes {

template <class Point> void reorder(MixturePoint<Point> &state, const std::vector<int> &order) {
  state.weights = pick_entries(state.weights, order);
  state.components = pick(state.components, order);
}
template <class Posterior>
void reorder(MixturePosterior<Posterior> &state, const std::vector<int> &order) {
  state.alpha = pick_entries(state.alpha, order);
  state.components = pick(state.components, order);
}

/// The rows of a fit of k components, and a sample of the distinct ones for the start.
class FiniteRows {
 public:
  /// `whole_rows`: the sample leaves out rows without observed elements, which are no evidence for
  /// components that model a row as a whole (multivariate normals).
  FiniteRows(RowSource &rows, int k, std::uint64_t seed, Control &control, bool whole_rows = false);
  FiniteRows(const FiniteRows &) = delete;

  /// Rescales the weights of the sample to this total.
  void set_weight(double weight) { sample.scale_weights(weight); }
  /// Throws Error(invalid_argument) if there are fewer distinct rows than components.
  void require_distinct_rows(int k) const;
  /// The data of restarts if they do not run on all rows: the sample.
  TrialData<RowSource> trial(double weight) {
    return {&data == &sample ? nullptr : &sample, weight};
  }

  RowSource &all;

 private:
  const Sketch sketch_;

 public:
  MemoryRows sample;
  /// The rows that are fitted: the sample, if it holds all distinct rows with their weights,
  /// otherwise all rows. The sample gives the same mixture, sooner if rows repeat, and to the last
  /// bit independent of the order of the rows.
  RowSource &data;
};

/// The work of one run of a fit, in which a row takes part with `each` numbers per iteration.
RunEffort finite_effort(const RowSource &rows, double each, int k, const FitOptions &options);
/// The range of the number of restarts of mixtures, for FitOptions::settle_restarts.
inline constexpr int min_restarts = 10, max_restarts = 60;
/// Whether a restart begins independently of those before it: the first five, and then every third
/// up to 24. The others begin near the best so far. It depends on the number of the restart alone,
/// so that a fit with the number of restarts that another one has made is that fit.
inline bool is_independent(int restart) {
  return restart <= 5 || (restart % 3 == 0 && restart <= 24);
}

/// P: parameters of K components at a point; Q: their conjugate posterior.
template <class P, class Q> class FiniteFit {
 public:
  using Statistics = typename decltype(make_scorer(std::declval<const P &>()))::Statistics;
  /// Where restarts begin.
  struct Start {
    /// statistics of the sample, whose weights are scaled to those of all rows, assigned to the
    /// components that restart number `restart` (from 1) begins with
    std::function<Statistics(int restart)> statistics;
    /// the starting point that such statistics lead to
    std::function<P(const Statistics &)> point;
    /// for every row of the sample, 1 if it is nearer to row j than to row i, else 0
    std::function<std::vector<int>(std::int64_t i, std::int64_t j)> halves;
  };

  /// The run's weight must be known before a fit.
  FiniteFit(FitRun &run, FiniteRows &rows, int k, const FitOptions &options, Start start)
      : run_(run),
        rows_(rows),
        k_(k),
        options_(options),
        start_(std::move(start)) {}

  MixturePosterior<Q> prior;
  // the point estimate of the model that the fit starts from, if there is one
  std::optional<MixturePoint<P>> start_point;
  // the posterior of that model, if it has one of this form
  std::optional<MixturePosterior<Q>> start_posterior;

  /// The result of a fit.
  struct Found {
    MixturePoint<P> point;
    /// expected rows of every component
    Vector counts;
    std::optional<MixturePosterior<Q>> posterior;
    std::optional<FiniteDraws<Q>> draws;
    /// whether the rows tell the components apart (fit/linear_response.hpp), if it was looked for
    bool told_apart = true;
  } found;

  /// Fits by the method that the options name. A model with fewer methods calls the functions below
  /// directly; its family then need not have what only other methods use.
  template <class Floor> void fit(const Floor &floor) {
    if (options_.sampled())
      sample();
    else if (options_.method == Method::mcem)
      maximise_likelihood_by_sampling(floor);
    else if (options_.method == Method::map)
      maximise_posterior();
    else if (options_.bayesian())
      fit_posterior();
    else
      maximise_likelihood(floor);
  }

  /// By em.
  template <class Floor> void maximise_likelihood(const Floor &floor) {
    fit_point(MaximumLikelihood<P, Floor>(floor), by_sweeps());
  }
  /// By mcem: the E step of every iteration is a Monte Carlo estimate.
  template <class Floor> void maximise_likelihood_by_sampling(const Floor &floor) {
    fit_point(MaximumLikelihood<P, Floor>(floor),
              [this](const auto &learner, auto state, RowSource &rows) {
                return optimize_monte_carlo(learner, std::move(state), rows, run_.control(),
                                            run_.schedule(), options_.samples, options_.seed);
              });
  }
  /// By map.
  void maximise_posterior() {
    fit_point(MaximumPosterior<P, Q>(prior.alpha, prior.components), by_sweeps());
  }
  /// By vi or svi.
  void fit_posterior() {
    found.posterior = fit_variational<Q>(prior, start_posterior, [&](const Statistics &statistics) {
      return MixturePosterior<Q>{prior.alpha + statistics.count,
                                 posterior(statistics, prior.components)};
    });
  }

  /// The standard deviations by linear response (fit/linear_response.hpp) of the weights, followed
  /// by those of the components' quantities. To be called after fit_posterior() by vi, and before
  /// the components are ordered. If the user did not ask for them, the result is empty where they
  /// would take too long, and the fit may also be moved closer to the maximum.
  Vector linear_response() {
    const Variational<Q> learner(prior);
    if (options_.linear_response)
      return bayes::linear_response(learner, *found.posterior, rows_.data, run_.control());
    RowSource *const trial = rows_.trial(0).data;
    const double rows = double(rows_.data.rows()), some = double(rows_.sample.rows());
    auto response = linear_response_that_pays(
        learner, *found.posterior, k_, rows_.data, trial,
        {rows, some, run_.iterations() * rows + run_.trial_iterations() * some}, run_.control());
    if (response.moved) {
      run_.improve(response.objective);
      found.posterior = std::move(response.moved);
      found.point = {mean_weights(found.posterior->alpha),
                     point_estimate(found.posterior->components)};
      found.counts = std::move(response.statistics->count);
    }
    found.told_apart = response.told_apart;
    return std::move(response.deviations);
  }

  /// By gibbs or collapsed. Sets `found.point` to the average over the draws.
  void sample() {
    SampledMixture<P, Q> sampled = sample_mixture<P, Q>(
        rows_.all, k_, pick(prior.components, {0}), prior.alpha(0), options_.chains,
        options_.method, options_.seed, run_.control(), [&](int chain) {
          // A chain starts from the most probable components of the rows under the starting point
          // of a restart. All scores of a row may be -infinity; its label is valid nevertheless.
          const MixturePoint<P> initial =
              start_point ? *start_point : begin_point(start_.statistics(chain + 1));
          std::vector<int> labels(std::size_t(rows_.all.rows()));
          local_step<HardAllocation>(rows_.all, run_.control(), make_scorer(initial.components),
                                     log_weights_of(initial.weights), {labels.data()});
          make_dense(labels, k_);
          return labels;
        });
    found.point = std::move(sampled.point);
    found.draws = std::move(sampled.draws);
    found.counts = std::move(sampled.counts);
    run_.take(std::move(sampled.chains));
  }

  /// By vi or svi, from `initial` if there is one, else from first(starting statistics). Sets
  /// `found.point` to the point estimate.
  template <class Posterior>
  MixturePosterior<Posterior> fit_variational(
      const MixturePosterior<Posterior> &own_prior,
      const std::optional<MixturePosterior<Posterior>> &initial,
      const std::function<MixturePosterior<Posterior>(const Statistics &)> &first) {
    using Learner = Variational<Posterior>;
    const Learner learner(own_prior);
    Run<Learner> run = best_of_restarts(
        learner, first,
        [&](int restart) {
          if (!begins_at_model(restart)) return first(start_.statistics(fresh(restart)));
          if (initial) return *initial;
          // A start without a posterior: one pass with its point estimate gives the first one.
          return first(local_step<SoftAllocation>(rows_.data, run_.control(),
                                                  make_scorer(start_point->components),
                                                  log_weights_of(start_point->weights))
                           .statistics);
        },
        [&](MixturePosterior<Posterior> state, RowSource &rows) {
          if (!options_.stochastic())
            return optimize(learner, std::move(state), rows, run_.control(), run_.schedule());
          auto run = optimize_stochastic(learner, std::move(state), rows, run_.control(),
                                         run_.schedule(), options_.plan);
          // The objective was only estimated so far; the values that are compared and reported are
          // exact.
          const auto exact = expected_statistics(learner, run.state, rows, run_.control());
          run.trace.push_back(exact.sums.objective + learner.objective(run.state));
          run.counts = exact.statistics.count;
          return run;
        });
    found.point = {mean_weights(run.state.alpha), point_estimate(run.state.components)};
    found.counts = std::move(run.counts);
    return std::move(run.state);
  }

  /// Runs the restarts. The first ones begin independently, at begin(restart). The others begin
  /// near the best one so far: at first(statistics of its state after a move, see
  /// moved_statistics()). If such a run fails numerically, as with weights so large that the prior
  /// is negligible beside a single row, it is repeated from begin(restart).
  template <class L, class First, class Begin, class Go>
  auto best_of_restarts(const L &learner, const First &first, Begin begin, Go go) {
    int moved = 0;  // the number of the restart that begins after a move
    return run_.best_of_restarts(
        rows_.data, rows_.trial(run_.weight()),
        [&](int restart, const typename L::State *best = nullptr) {
          // Without the best run so far, a run that is recorded is repeated: any start will do.
          moved = k_ > 1 && !is_independent(restart) && best ? restart : 0;
          return moved ? first(moved_statistics(learner, *best, restart)) : begin(restart);
        },
        [&](typename L::State state, RowSource &rows) {
          const int restart = std::exchange(moved, 0);
          if (restart == 0) return go(std::move(state), rows);
          if (run_.has_begun_afresh()) return go(begin(restart), rows);
          try {
            return go(std::move(state), rows);
          } catch (const Error &error) {
            if (error.code() != Errc::numeric) throw;
            run_.begins_afresh();
            return go(begin(restart), rows);
          }
        });
  }

  /// The sums over the rows at the point found; em and map have them from their last step.
  RowSums score_point() {
    if (at_point_) return *at_point_;
    return local_step<SoftAllocation>(rows_.data, run_.control(),
                                      make_scorer(found.point.components),
                                      log_weights_of(found.point.weights))
        .sums;
  }

  /// With a start model the first restart begins there, and restart i + 1 begins as restart i would
  /// without one.
  bool begins_at_model(int restart) const { return start_point && restart == 1; }
  int fresh(int restart) const { return restart - (start_point ? 1 : 0); }

  /// Orders the components of the result by the rule, of which `size` are the weights, or as in the
  /// start model. Returns the order, for other numbers of the model.
  std::vector<int> order_by(const ComponentOrder &rule, const Vector &size) {
    const std::vector<int> order =
        start_point && !rule.given() ? order_of_start() : rule.of(size, found.point.components);
    found.counts = pick_entries(found.counts, order).cwiseMax(0);
    reorder(found.point, order);
    if (found.posterior) order_posterior(*found.posterior, order);
    if (found.draws) reorder(*found.draws, order);
    run_.reorder(order);
    return order;
  }
  template <class Posterior>
  void order_posterior(MixturePosterior<Posterior> &own, const std::vector<int> &order) {
    reorder(own, order);
    // summed in this order, as when reading the stored model
    found.point.weights = mean_weights(own.alpha);
  }

  /// The last step: sets the totals, and the model's information on the fit. `sums`: the result of
  /// score_point() before the components were ordered.
  void finish(Model &model, FiniteTotals &totals, const RowSums &sums, Document options) {
    totals.counts = std::move(found.counts);
    totals.weight = run_.weight();
    totals.entropy = std::max(0.0, sums.entropy);
    model.info.log_likelihood = sums.objective;
    model.info.incomplete = rows_.all.incomplete();
    model.info.told_apart = found.told_apart;
    run_.describe(rows_.all.rows(), rows_.all.skipped(), rows_.all.shape().dimension, k_,
                  std::move(options));
  }

 private:
  MixturePoint<P> begin_point(const Statistics &statistics) const {
    return {smoothed_shares(statistics.count, statistics.total()), start_.point(statistics)};
  }

  /// For each component of the start model, the component that takes its place: the same one if the
  /// best run began at the start model, otherwise the one that shares the most rows with it (an
  /// optimal assignment).
  std::vector<int> order_of_start() {
    std::vector<int> order(std::size_t(k_), 0);
    std::iota(order.begin(), order.end(), 0);
    if (!options_.sampled() && begins_at_model(run_.best_restart())) return order;
    const PollScope scope(run_.control());
    return best_assignment(
        shared_rows(rows_.sample, run_.control(), make_scorer(start_point->components),
                    log_weights_of(start_point->weights), make_scorer(found.point.components),
                    log_weights_of(found.point.weights)),
        k_);
  }

  /// The statistics of the sample after a move: one component is removed, so that its rows go to
  /// the others, and another one is split in two. Both are drawn at random, the second in
  /// proportion to its rows. Such moves leave local optima that the steps of a learner cannot leave
  /// (split and merge: Ueda and others 2000; random swap: Zhao and others 2012).
  template <class L>
  Statistics moved_statistics(const L &learner, const typename L::State &state, int restart) {
    Control &control = run_.control();
    MemoryRows &sample = rows_.sample;
    const auto scorer = learner.scorer(state);
    std::vector<double> log_weights = learner.log_weights(state);
    Random random(options_.seed, std::uint64_t(restart), 0, 7);
    const int from = int(random.below(std::uint64_t(k_)));
    log_weights[std::size_t(from)] = -std::numeric_limits<double>::infinity();
    std::vector<int> labels(std::size_t(sample.rows()));
    local_step<HardAllocation>(sample, control, scorer, log_weights, {labels.data()});
    const int into = labels[std::size_t(random.below(labels.size()))];
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == into) rows.push_back(std::int64_t(i));
    const std::size_t one = std::size_t(random.below(rows.size()));
    std::size_t other = one;
    if (rows.size() > 1) {
      other = std::size_t(random.below(rows.size() - 1));
      if (other >= one) ++other;
    }
    const std::vector<int> half = start_.halves(rows[one], rows[other]);
    return local_step<DividedAllocation>(sample, control, scorer, log_weights,
                                         {from, into, half.data()})
        .statistics;
  }

  /// Also counts components as degenerate that have fewer rows than their covariance or variances
  /// need, even if they are at no bound. If the total weight is less than the number of rows,
  /// weights are relative, and scaled up to that number.
  template <class R> void add_small_components(R &run) const {
    const double needed = rows_needed(run.state.components),
                 each = std::max(1.0, double(rows_.all.rows()) / run_.weight());
    for (int k = 0; k < k_; ++k) {
      const double count = run.counts(k) * each;
      if (count < needed && count > 1e-12 * run.counts.sum() &&
          !std::count(run.degenerate.begin(), run.degenerate.end(), k))
        run.degenerate.push_back(k);
    }
    std::sort(run.degenerate.begin(), run.degenerate.end());
  }

  auto by_sweeps() {
    return [this](const auto &learner, auto state, RowSource &rows) {
      return optimize(learner, std::move(state), rows, run_.control(), run_.schedule());
    };
  }

  /// Fits a point, by any method; `go` runs the learner.
  template <class L, class Go> void fit_point(const L &learner, Go go) {
    const auto first = [&](Statistics statistics) {
      // the unit of the weights must not matter
      if (!options_.bayesian()) statistics.scale(double(rows_.data.rows()) / statistics.total());
      return begin_point(statistics);
    };
    Run<L> run = best_of_restarts(
        learner, first,
        [&](int restart) {
          return begins_at_model(restart) ? *start_point : first(start_.statistics(fresh(restart)));
        },
        [&](MixturePoint<P> state, RowSource &rows) {
          Run<L> run = go(learner, std::move(state), rows);
          if constexpr (requires { learner.degenerate(run.state); }) add_small_components(run);
          return run;
        });
    found.point = std::move(run.state);
    found.counts = std::move(run.counts);
    at_point_ = run.sums;
  }

  FitRun &run_;
  FiniteRows &rows_;
  const int k_;
  const FitOptions &options_;
  const Start start_;
  std::optional<RowSums> at_point_;
};

}  // namespace bayes
