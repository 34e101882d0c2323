// The steps of every fit of a finite mixture: a sample of the distinct rows, restarts, learners,
// the order of the components, and the description of the fit. A model derives from FiniteFit and
// adds its prior, its initialization and its own options.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "data/sketch.hpp"
#include "document/model.hpp"
#include "fit/driver.hpp"
#include "fit/fit_options.hpp"
#include "mixture/finite_sampling.hpp"

namespace bayes {

/// The components by decreasing weight.
template <class Point> void reorder(MixturePoint<Point> &state, const std::vector<int> &order) {
  const Vector weights = state.weights;
  for (std::size_t to = 0; to < order.size(); ++to)
    state.weights(Eigen::Index(to)) = weights(order[to]);
  state.components = pick(state.components, order);
}
template <class Posterior>
void reorder(MixturePosterior<Posterior> &state, const std::vector<int> &order) {
  const Vector alpha = state.alpha;
  for (std::size_t to = 0; to < order.size(); ++to)
    state.alpha(Eigen::Index(to)) = alpha(order[to]);
  state.components = pick(state.components, order);
}

/// Distinct rows to begin on: enough for good starting points, in at most 32 MB.
inline std::size_t sketch_capacity(int dimension, int k) {
  const std::size_t affordable = std::size_t(32) * 1024 * 1024 / 8 / std::size_t(dimension);
  return std::max(
      {std::size_t(k), std::size_t(2000),
       std::min(std::max(std::size_t(10000), std::size_t(50) * std::size_t(k)), affordable)});
}

/// Mixture: the fitted model; its state has counts, weight and entropy. P: parameters of K
/// components at a point; Q: their conjugate posterior.
template <class Mixture, class P, class Q> class FiniteFit {
 public:
  using Statistics = typename decltype(make_scorer(std::declval<const P &>()))::Statistics;
  virtual ~FiniteFit() = default;

 protected:
  FiniteFit(RowSource &rows, int k, const FitOptions &options, bool update, Control &control)
      : rows_(rows),
        k_(k),
        update_(update),
        control_(control),
        sketch_(
            Sketch::of(rows, control, options.seed, sketch_capacity(rows.shape().dimension, k))),
        sample_(sketch_.sorted()),
        data_(sketch_.complete() ? static_cast<RowSource &>(sample_) : rows),
        options_(options) {}

  /// Call once the weight of all rows is known, before anything below.
  void begin(double weight) {
    if (!update_ && std::int64_t(sketch_.size()) < k_)
      throw Error(Errc::invalid_argument,
                  "k is " + std::to_string(k_) + ", but there " +
                      (sketch_.size() == 1
                           ? "is only 1 distinct row"
                           : "are only " + std::to_string(sketch_.size()) + " distinct rows"),
                  "Every component needs at least one row of its own.", "Lower k.");
    sample_.scale_weights(weight);
    weight_ = weight;
    schedule_.method = options_.method.c_str();
    schedule_.max_iterations = options_.max_iterations;
    schedule_.tolerance = options_.tolerance;
    schedule_.max_seconds = options_.max_seconds;
    schedule_.weight = weight;
  }

  // What the model adds.

  /// Statistics of the rows shared out for restart number `restart` (from 1), as if the sample were
  /// all rows.
  virtual Statistics starting_statistics(int restart) = 0;
  /// The point that such statistics begin at.
  virtual P first_point(const Statistics &statistics) = 0;

  /// Fits by the method that the options name. Every method takes its prior from prior_, its
  /// initialization from start_point_, start_posterior_ or starting_statistics(), and leaves its
  /// result in point_, in posterior_ or draws_ if it has one, and in the model's counts, trace and
  /// info.
  template <class Floor> void fit_by_method(const Floor &floor) {
    if (options_.method == "em") return fit_point(MaximumLikelihood<P, Floor>(floor));
    if (options_.method == "mcem") return fit_point(MaximumLikelihood<P, Floor>(floor), true);
    if (options_.sampled()) return sample();
    if (options_.method == "map")
      return fit_point(MaximumPosterior<P, Q>(prior_.alpha, prior_.components));
    posterior_ = fit_variational(prior_, start_posterior_, [&](const Statistics &statistics) {
      return MixturePosterior<Q>{prior_.alpha + statistics.count,
                                 posterior(statistics, prior_.components)};
    });
  }

  /// Runs all restarts and returns the best. `begin(restart)` makes the initial state, `go(state,
  /// rows)` runs it. If there are more rows than the sample holds, restarts run on the sample, with
  /// weights scaled to the total, and the best continues on all rows: its trace is the last.
  template <class Begin, class Go> auto best_of_restarts(Begin begin, Go go) {
    using Result = decltype(go(begin(1), data_));
    std::optional<Result> best;
    const bool trials = &data_ != &sample_ && options_.restarts > 1;
    schedule_.restarts = options_.restarts + trials;
    for (int restart = 1; restart <= options_.restarts; ++restart) {
      control_.poll();
      schedule_.restart = restart;
      Result run = go(begin(restart), trials ? sample_ : data_);
      model_->trace.push_back(run.trace);
      if (!best || run.trace.back() > best->trace.back()) best = std::move(run);
      if (schedule_.seconds() >= options_.max_seconds) break;
    }
    if (trials) {
      schedule_.restart = schedule_.restarts;
      best = go(std::move(best->state), data_);
      model_->trace.push_back(best->trace);
    }
    model_->info.iterations = best->iterations;
    model_->info.converged = best->converged;
    model_->info.objective = best->trace.back();
    return *std::move(best);
  }

  /// With `sampled` the E step of every iteration is a Monte Carlo estimate.
  template <class L> void fit_point(const L &learner, bool sampled = false) {
    auto run = best_of_restarts(
        [&](int restart) {
          if (start_point_) return *start_point_;
          auto statistics = starting_statistics(restart);
          // the unit of weights must not matter
          if (!options_.bayesian()) statistics.scale(double(data_.rows()) / statistics.total());
          return typename L::State{(statistics.count.array() + 1) / (statistics.total() + k_),
                                   first_point(statistics)};
        },
        [&](auto state, RowSource &rows) {
          if (!sampled) return optimize(learner, std::move(state), rows, control_, schedule_);
          return optimize_monte_carlo(learner, std::move(state), rows, control_, schedule_,
                                      options_.samples, options_.seed);
        });
    point_ = std::move(run.state);
    set_rows(run.sums, run.counts);
  }

  /// By vi or svi, from `begun` if given, else from first(statistics). Leaves its point estimate in
  /// point_.
  template <class Posterior, class First>
  MixturePosterior<Posterior> fit_variational(
      const MixturePosterior<Posterior> &prior,
      const std::optional<MixturePosterior<Posterior>> &begun, First first) {
    const Variational<Posterior> learner(prior);
    auto run = best_of_restarts(
        [&](int restart) {
          if (begun) return *begun;
          if (!start_point_) return first(starting_statistics(restart));
          // A start without a posterior: one pass with its point estimate gives the first one.
          return first(local_step<SoftAllocation>(data_, control_,
                                                  make_scorer(start_point_->components),
                                                  log_weights_of(*start_point_))
                           .statistics);
        },
        [&](auto state, RowSource &rows) {
          if (!options_.stochastic())
            return optimize(learner, std::move(state), rows, control_, schedule_);
          auto run = optimize_stochastic(learner, std::move(state), rows, control_, schedule_,
                                         options_.plan);
          // The objectives so far were noisy estimates; the one compared and reported is exact.
          const auto exact = local_step<SoftAllocation>(rows, control_, learner.scorer(run.state),
                                                        learner.log_weights(run.state));
          run.trace.push_back(exact.sums.objective + learner.objective(run.state));
          run.counts = exact.statistics.count;
          return run;
        });
    point_ = {run.state.alpha / run.state.alpha.sum(), point_estimate(run.state.components)};
    model_->state->counts = run.counts;
    return std::move(run.state);
  }

  /// By gibbs or collapsed. Leaves the point that the draws have in common in point_.
  void sample() {
    auto found = sample_mixture<P, Q>(
        rows_, k_, pick(prior_.components, {0}), prior_.alpha(0), options_.chains, options_.method,
        options_.seed, control_, [&](int chain) {
          // Rows start in the most probable component of a restart's initial point. Some components
          // may get no rows, so labels are made dense.
          std::vector<int> labels(std::size_t(rows_.rows())), dense(std::size_t(k_), -1);
          MixturePoint<P> begun;
          if (start_point_) {
            begun = *start_point_;
          } else {
            const Statistics statistics = starting_statistics(chain + 1);
            begun = {(statistics.count.array() + 1) / (statistics.total() + k_),
                     first_point(statistics)};
          }
          local_step<HardAllocation>(rows_, control_, make_scorer(begun.components),
                                     log_weights_of(begun), {labels.data()});
          int next = 0;
          for (int &label : labels) {
            int &name = dense[std::size_t(label)];
            if (name < 0) name = next++;
            label = name;
          }
          return labels;
        });
    point_ = std::move(found.point);
    draws_ = std::move(found.draws);
    model_->draws = std::move(found.quantities);
    model_->state->counts = std::move(found.counts);
    model_->info.objective = found.best;
    model_->info.iterations = options_.chains.draws;
    model_->info.converged = found.agree;
  }

  /// Sums over the rows at the point, which em and map know from their last step.
  void set_rows(const RowSums &sums, const Vector &counts) {
    model_->state->counts = counts;
    model_->state->entropy = std::max(0.0, sums.entropy);
    model_->info.log_likelihood = sums.objective;
  }
  void score_point() {
    if (options_.method == "em" || options_.method == "map" || options_.method == "mcem") return;
    const Vector counts = model_->state->counts;
    const auto at_point = local_step<SoftAllocation>(
        data_, control_, make_scorer(point_.components), log_weights_of(point_));
    set_rows(at_point.sums, counts);
  }

  /// Orders counts, point_ and posterior_ by decreasing `size`; returns the order, for the model's
  /// other members.
  std::vector<int> order_by(const Vector &size) {
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size(a) > size(b); });
    const Vector counts = model_->state->counts;
    for (std::size_t i = 0; i < order.size(); ++i)
      model_->state->counts(Eigen::Index(i)) = std::max(0.0, counts(order[i]));
    reorder(point_, order);
    if (posterior_) order_posterior(*posterior_, order);
    if (draws_) reorder(*draws_, order);
    return order;
  }
  template <class Posterior>
  void order_posterior(MixturePosterior<Posterior> &posterior, const std::vector<int> &order) {
    reorder(posterior, order);
    // recomputed in this order, as when the model is read
    point_.weights = posterior.alpha / posterior.alpha.sum();
  }

  /// The last step of a fit.
  void describe(Document options) {
    model_->state->weight = weight_;
    ModelInfo &info = model_->info;
    info.method = options_.method;
    info.rows = rows_.rows();
    info.skipped = rows_.skipped();
    info.dimension = rows_.shape().dimension;
    info.components = k_;
    info.seed = std::int64_t(options_.seed);
    info.seconds = schedule_.seconds();
    info.options = std::move(options);
  }

  RowSource &rows_;
  const int k_;
  const bool update_;
  Control &control_;
  Schedule schedule_;
  Sketch sketch_;
  MemoryRows sample_;
  // What is fitted: the distinct rows with their weights if the sketch holds them all. That gives
  // the same mixture, faster if rows repeat, and bit-identical for any order of the rows.
  RowSource &data_;
  double weight_ = 0;
  std::unique_ptr<Mixture> model_ = std::make_unique<Mixture>();

  MixturePosterior<Q> prior_;
  // of the model that the fit starts from, if there is one
  std::optional<MixturePoint<P>> start_point_;
  std::optional<MixturePosterior<Q>> start_posterior_;  // and if it has one of this form
  MixturePoint<P> point_;
  std::optional<MixturePosterior<Q>> posterior_;
  std::optional<decltype(SampledMixture<P, Q>::draws)> draws_;

 private:
  const FitOptions &options_;
};

}  // namespace bayes
