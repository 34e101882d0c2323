// What every fit of a finite mixture goes through, whatever its components: a sample of the
// distinct rows, restarts, learners, the order of the components. A model has a FiniteFit, gives it
// its prior and its starting points, and adds its own options.
#pragma once

#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/assignment.hpp"
#include "data/shared_rows.hpp"
#include "data/sketch.hpp"
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

/// The rows of a fit of k components, and some of the distinct ones to begin on.
class FiniteRows {
 public:
  /// `whole_rows`: the components are of a family of whole rows, to which one that misses all
  /// elements says nothing.
  FiniteRows(RowSource &rows, int k, std::uint64_t seed, Control &control, bool whole_rows = false);
  FiniteRows(const FiniteRows &) = delete;

  /// The sample stands for rows of so much weight from here on.
  void set_weight(double weight) { sample.scale_weights(weight); }
  /// Throws Error(invalid_argument) if there are fewer distinct rows than components.
  void require_distinct_rows(int k) const;
  /// Where restarts run if it is not on all rows: the sample.
  TrialData<RowSource> trial(double weight) {
    return {&data == &sample ? nullptr : &sample, weight};
  }

  RowSource &all;

 private:
  const Sketch sketch_;

 public:
  MemoryRows sample;
  /// What is fitted: the distinct rows with their weights if the sample holds them all. That is the
  /// same mixture, found sooner where rows repeat, and to the last bit independent of the order in
  /// which rows came.
  RowSource &data;
};

/// P: parameters of K components at a point; Q: their conjugate posterior.
template <class P, class Q> class FiniteFit {
 public:
  using Statistics = typename decltype(make_scorer(std::declval<const P &>()))::Statistics;
  /// Where restarts begin.
  struct Start {
    /// statistics of the rows shared out for restart number `restart` (from 1), as if the sample
    /// were all rows
    std::function<Statistics(int restart)> statistics;
    /// the point that such statistics begin at
    std::function<P(const Statistics &)> point;
  };

  /// The run's weight must be known before a fit.
  FiniteFit(FitRun &run, FiniteRows &rows, int k, const FitOptions &options, Start start)
      : run_(run),
        rows_(rows),
        k_(k),
        options_(options),
        start_(std::move(start)) {}

  MixturePosterior<Q> prior;
  // of the model that the fit starts from, if there is one
  std::optional<MixturePoint<P>> start_point;
  // and if it has one of this form
  std::optional<MixturePosterior<Q>> start_posterior;

  /// What a fit leaves.
  struct Found {
    MixturePoint<P> point;
    /// expected rows of every component
    Vector counts;
    std::optional<MixturePosterior<Q>> posterior;
    std::optional<FiniteDraws<Q>> draws;
  } found;

  /// Fits by the method that the options name. A model with fewer methods calls those below; what
  /// a family has only for the others need not be there.
  template <class Floor> void fit(const Floor &floor) {
    if (options_.sampled())
      sample();
    else if (options_.method == "mcem")
      maximise_likelihood_by_sampling(floor);
    else if (options_.method == "map")
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

  /// The standard deviations of what a component is described by (fit/linear_response.hpp), after
  /// fit_posterior() by vi and before components are ordered; first come those of the weights.
  Vector linear_response() const {
    return bayes::linear_response(Variational<Q>(prior), *found.posterior, rows_.data,
                                  run_.control());
  }

  /// By gibbs or collapsed. Leaves the point that the draws have in common in `found.point`.
  void sample() {
    SampledMixture<P, Q> sampled = sample_mixture<P, Q>(
        rows_.all, k_, pick(prior.components, {0}), prior.alpha(0), options_.chains,
        options_.method, options_.seed, run_.control(), [&](int chain) {
          // Rows begin where the first point of a restart has them; the scores may be infinitely
          // low, the labels are dense all the same.
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
    run_.take(std::move(sampled.chains), options_.chains);
  }

  /// By vi or svi, from `initial` if there is one, else from what `first` makes of statistics.
  /// Leaves its point estimate in `found.point`.
  template <class Posterior>
  MixturePosterior<Posterior> fit_variational(
      const MixturePosterior<Posterior> &own_prior,
      const std::optional<MixturePosterior<Posterior>> &initial,
      const std::function<MixturePosterior<Posterior>(const Statistics &)> &first) {
    using Learner = Variational<Posterior>;
    const Learner learner(own_prior);
    Run<Learner> run = best_of_restarts(
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
          // The estimates on the way were noisy; what is compared and reported is exact.
          const auto exact = expected_statistics(learner, run.state, rows, run_.control());
          run.trace.push_back(exact.sums.objective + learner.objective(run.state));
          run.counts = exact.statistics.count;
          return run;
        });
    found.point = {mean_weights(run.state.alpha), point_estimate(run.state.components)};
    found.counts = std::move(run.counts);
    return std::move(run.state);
  }

  template <class Begin, class Go> auto best_of_restarts(Begin begin, Go go) {
    return run_.best_of_restarts(rows_.data, rows_.trial(run_.weight()), std::move(begin),
                                 std::move(go));
  }

  /// What the rows say of the point, which em and map know from their last step.
  RowSums score_point() {
    if (at_point_) return *at_point_;
    return local_step<SoftAllocation>(rows_.data, run_.control(),
                                      make_scorer(found.point.components),
                                      log_weights_of(found.point.weights))
        .sums;
  }

  /// With a start model the first restart begins there, and the others as the first ones do
  /// without.
  bool begins_at_model(int restart) const { return start_point && restart == 1; }
  int fresh(int restart) const { return restart - (start_point ? 1 : 0); }

  /// Orders all that the fit left by descending `size`, or as in the start model; the order is for
  /// what else the model has.
  std::vector<int> order_by(const Vector &size) {
    const std::vector<int> order = start_point ? order_of_start() : descending_order(size);
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
    // added up in this order, as a reader of the model does
    found.point.weights = mean_weights(own.alpha);
  }

  /// The last step: the totals, and what the model says of its fit. `sums`: score_point(), before
  /// the components were ordered.
  void finish(Model &model, FiniteTotals &totals, const RowSums &sums, Document options) {
    totals.counts = std::move(found.counts);
    totals.weight = run_.weight();
    totals.entropy = std::max(0.0, sums.entropy);
    model.info.log_likelihood = sums.objective;
    model.info.incomplete = rows_.all.incomplete();
    run_.describe(rows_.all.rows(), rows_.all.skipped(), rows_.all.shape().dimension, k_,
                  std::move(options));
  }

 private:
  MixturePoint<P> begin_point(const Statistics &statistics) const {
    return {smoothed_shares(statistics.count, statistics.total()), start_.point(statistics)};
  }

  /// Which component has the place of each of the start model's: the same one in the run that began
  /// there, else the one that shares its rows.
  std::vector<int> order_of_start() {
    std::vector<int> order(std::size_t(k_), 0);
    std::iota(order.begin(), order.end(), 0);
    if (!options_.sampled() && begins_at_model(run_.winner())) return order;
    const PollScope scope(run_.control());
    return best_assignment(
        shared_rows(rows_.sample, run_.control(), make_scorer(start_point->components),
                    log_weights_of(start_point->weights), make_scorer(found.point.components),
                    log_weights_of(found.point.weights)),
        k_);
  }

  auto by_sweeps() {
    return [this](const auto &learner, auto state, RowSource &rows) {
      return optimize(learner, std::move(state), rows, run_.control(), run_.schedule());
    };
  }

  /// Every method of a point; `go` runs the learner.
  template <class L, class Go> void fit_point(const L &learner, Go go) {
    Run<L> run = best_of_restarts(
        [&](int restart) {
          if (begins_at_model(restart)) return *start_point;
          Statistics statistics = start_.statistics(fresh(restart));
          // the unit of weights is of no account
          if (!options_.bayesian())
            statistics.scale(double(rows_.data.rows()) / statistics.total());
          return begin_point(statistics);
        },
        [&](MixturePoint<P> state, RowSource &rows) {
          return go(learner, std::move(state), rows);
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
