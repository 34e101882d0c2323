// Fitting a Gaussian mixture: survey of the rows, default prior, starting points, learner, and the fitted model.
#include <algorithm>
#include <numeric>

#include "inference/seeding.hpp"
#include "inference/sketch.hpp"
#include "models/gmm_prior.hpp"

namespace bayes {
namespace {

/// The components in the order of falling weight.
template <class State> void reorder(State &state, const std::vector<int> &order) {
  const State before = state;
  for (std::size_t to = 0; to < order.size(); ++to) {
    const Eigen::Index i = Eigen::Index(to), from = order[to];
    if constexpr (requires { state.weights; }) state.weights(i) = before.weights(from);
    else state.alpha(i) = before.alpha(from);
    const auto column = [&](auto member) { (state.components.*member).col(i) = (before.components.*member).col(from); };
    const auto entry = [&](auto member) {
      if ((state.components.*member).size() == Eigen::Index(order.size())) (state.components.*member)(i) = (before.components.*member)(from);
    };
    const auto scale = [&](auto member) {
      if ((state.components.*member).size() == order.size()) (state.components.*member)[to] = (before.components.*member)[std::size_t(from)];
    };
    using C = std::decay_t<decltype(state.components)>;
    if constexpr (requires { state.components.mean; }) {
      column(&C::mean);
      scale(&C::covariance);
    } else {
      column(&C::m);
      entry(&C::a);
      scale(&C::B);
      if constexpr (requires { state.components.c; }) entry(&C::c);
      else scale(&C::C);
    }
  }
}

/// Means and covariances of a model, brought into another shape if need be.
template <class S> MixturePoint<NormalPoint<S>> convert_point(const GaussianMixture &start) {
  const int d = start.dimension(), k = start.size();
  MixturePoint<NormalPoint<S>> out{Vector(k), {Matrix(d, k), std::vector<Matrix>(std::size_t(scale_count<S>(k)), Matrix::Zero(scale_rows<S>(d), scale_columns<S>(d)))}};
  for (int j = 0; j < k; ++j) {
    const GmmComponent c = start.component(j);
    out.weights(j) = c.weight;
    out.components.mean.col(j) = Eigen::Map<const Vector>(c.mean.data(), d);
    const Matrix dense = Eigen::Map<const Matrix>(c.covariance.data(), d, d);
    if (S::shared) out.components.covariance[0] += c.weight * shaped<S>(dense);
    else out.components.covariance[std::size_t(j)] = shaped<S>(dense);
  }
  return out;
}

/// A fit with one covariance shape.
template <class S> class Fit {
 public:
  Fit(RowSource &rows, int k, const GmmOptions &options, const GaussianMixture *start, bool update, Control &control)
      : rows_(rows), k_(k), options_(options), start_(start), update_(update), control_(control),
        sketch_(Sketch::of(rows, control, options.seed, sketch_capacity())), sample_(sketch_.sorted()),
        data_(sketch_.complete() ? static_cast<RowSource &>(sample_) : rows), survey_(survey<S>(data_, control)),
        floor_(survey_.variance, options.covariance_floor), prior_(make_prior<S>(options, survey_, k)) {
    if (!update && std::int64_t(sketch_.size()) < k)
      throw Error(Errc::invalid_argument, "k is " + std::to_string(k) + ", but there " + (sketch_.size() == 1 ? "is only 1 distinct row" : "are only " + std::to_string(sketch_.size()) + " distinct rows"),
                  "Every component needs at least one row of its own.", "Lower k.");
    sample_.scale_weights(survey_.weight);
    if (update) take_prior();
    schedule_.method = options.method.c_str();
    schedule_.max_iterations = options.max_iterations;
    schedule_.tolerance = options.tolerance;
    schedule_.max_seconds = options.max_seconds;
    schedule_.weight = survey_.weight;
  }

  std::unique_ptr<GaussianMixture> run() {
    if (options_.method == "em") fit_point(MaximumLikelihood<NormalPoint<S>, CovarianceFloor>(floor_));
    else if (options_.method == "map") fit_point(MaximumPosterior<NormalPoint<S>, NormalWishart<S>>(prior_.linked.alpha, prior_.linked.components));
    else if (options_.method == "kmeans") fit_kmeans();
    else if (independent()) fit_independent();
    else fit_linked();
    finish();
    return std::move(model_);
  }

 private:
  // Enough rows for good starting points, in at most 32 MB.
  std::size_t sketch_capacity() const {
    const std::size_t affordable = std::size_t(32) * 1024 * 1024 / 8 / std::size_t(rows_.shape().dimension);
    return std::max({std::size_t(k_), std::size_t(2000), std::min(std::max(std::size_t(10000), std::size_t(50) * std::size_t(k_)), affordable)});
  }

  bool independent() const { return options_.independent || (update_ && fitted_independent()); }
  bool fitted_independent() const {
    return std::visit([](const auto &fitted) { return fitted.independent.has_value(); }, start_->state->fitted);
  }

  /// The posterior of the start model becomes the prior.
  void take_prior() {
    const auto &fitted = std::get<GmmFitted<S>>(start_->state->fitted);
    if (fitted.linked) prior_.linked = *fitted.linked;
    if (fitted.independent) prior_.independent = *fitted.independent;
  }

  /// Statistics of the rows under hard allocation to the centres of restart number r, as if they were all rows.
  NormalStatistics<S> starting_statistics(int restart) {
    Random random(options_.seed, std::uint64_t(restart));
    // k-means itself measures distance as it stands; a start for mixtures must not depend on the columns' units.
    const Vector unit = options_.method == "kmeans" ? Vector::Ones(survey_.mean.size()) : floor_.deviation();
    const KMeans kmeans(unit);
    const bool varied = !options_.means && options_.init == "kmeans" && options_.method != "kmeans";
    Matrix centres;
    if (options_.means) {
      const Tensor &means = *options_.means;
      if (means.shape[1] != survey_.mean.size() || means.shape[0] != k_)
        throw Error(Errc::invalid_argument, "option \"init\" is " + describe_shape(means.shape) + ", but must be an array of " + std::to_string(k_) + " x " +
                                                std::to_string(survey_.mean.size()) + " numbers: a mean for every component");
      centres = Eigen::Map<const Matrix>(means.values.data(), means.shape[1], means.shape[0]);
    } else {
      const bool anywhere = options_.init == "random" || (varied && restart % 5 > 1 && restart % 2 == 1);
      centres = anywhere ? random_rows(sample_, k_, random) : kmeans_plus_plus(sample_, k_, unit, random, control_);
    }
    // One restart in five runs k-means to its end: what it finds is often the same, and not always near the best optimum. The others begin
    // at k-means++ and at random rows in turn (tests/statistics/gmm_peers_test.cpp is the measure).
    if (varied && restart % 5 == 1) {
      Schedule brief;
      brief.max_iterations = 20;
      brief.tolerance = 1e-3;
      brief.weight = survey_.weight;
      QuietControl quiet(control_);
      centres = climb(kmeans, centres, sample_, quiet, brief).state;
    }
    auto statistics = local_step<HardAllocation>(sample_, control_, kmeans.template nearest<S>(centres), std::vector<double>(std::size_t(k_), 0.0)).statistics;
    if (options_.means) statistics.mean = centres;  // given means are kept
    return statistics;
  }

  /// Runs every restart and keeps the best. `begin(restart)` gives its first state, `go(state, rows)` runs it. Where there are too many rows for
  /// the sample to hold, restarts run on the sample, whose weights are scaled to the whole, and the best goes on with all rows: its
  /// trace is the last.
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

  template <class L> void fit_point(const L &learner) {
    auto run = best_of_restarts(
        [&](int restart) {
          if (start_) return convert_point<S>(*start_);
          // The first covariances lean on the default prior, so that a small group does not begin as a spike.
          auto statistics = starting_statistics(restart);
          if (options_.method == "em") statistics.scale(double(data_.rows()) / statistics.total());  // the unit of weights is of no account
          typename L::State state{(statistics.count.array() + 1) / (statistics.total() + k_), maximum_posterior(statistics, prior_.linked.components)};
          if (options_.means) state.components.mean = statistics.mean;
          return state;
        },
        [&](auto state, RowSource &rows) { return climb(learner, std::move(state), rows, control_, schedule_); });
    fitted_.point = std::move(run.state);
    set_rows(run.sums, run.counts);
  }

  void fit_kmeans() {
    const KMeans learner(Vector::Ones(survey_.mean.size()));
    auto run = best_of_restarts([&](int restart) { return start_ ? convert_point<S>(*start_).components.mean : Matrix(starting_statistics(restart).mean); },
                                [&](Matrix state, RowSource &rows) { return climb(learner, std::move(state), rows, control_, schedule_); });
    // The mixture whose hard EM this is: equal weights, one variance for all; the nearest centre is the most probable one.
    const double variance = std::max(-run.trace.back() / (survey_.weight * double(survey_.mean.size())), 1e-12 * floor_.deviation().array().square().mean());
    fitted_.point = {Vector::Constant(k_, 1.0 / k_), {run.state, std::vector<Matrix>(std::size_t(scale_count<S>(k_)), variance * shaped<S>(Matrix::Identity(run.state.rows(), run.state.rows())))}};
    model_->state->counts = run.counts;
  }

  template <class Posterior> void fit_variational(const MixturePosterior<Posterior> &prior, const std::optional<MixturePosterior<Posterior>> &begun,
                                                  std::optional<MixturePosterior<Posterior>> &into,
                                                  const std::function<MixturePosterior<Posterior>(const NormalStatistics<S> &)> &first) {
    const Variational<Posterior> learner(prior);
    auto run = best_of_restarts(
        [&](int restart) {
          if (begun) return *begun;
          if (!start_) return first(starting_statistics(restart));
          // A start without a posterior: one pass with its point estimate gives the first one.
          const auto point = convert_point<S>(*start_);
          return first(local_step<SoftAllocation>(data_, control_, make_scorer(point.components), log_weights_of(point)).statistics);
        },
        [&](auto state, RowSource &rows) {
          if (options_.method == "vi") return climb(learner, std::move(state), rows, control_, schedule_);
          auto run = wander(learner, std::move(state), rows, control_, schedule_, options_.plan);
          // The estimates on the way were noisy; what is compared and reported is exact.
          const auto exact = local_step<SoftAllocation>(rows, control_, learner.scorer(run.state), learner.log_weights(run.state));
          run.trace.push_back(exact.sums.objective + learner.objective(run.state));
          run.counts = exact.statistics.count;
          return run;
        });
    fitted_.point = {run.state.alpha / run.state.alpha.sum(), point_estimate(run.state.components)};
    model_->state->counts = run.counts;
    into = std::move(run.state);
  }

  void fit_linked() {
    const auto *start = start_ ? std::get_if<GmmFitted<S>>(&start_->state->fitted) : nullptr;
    fit_variational<NormalWishart<S>>(prior_.linked, start ? start->linked : std::nullopt, fitted_.linked, [&](const auto &statistics) {
      return MixturePosterior<NormalWishart<S>>{prior_.linked.alpha + statistics.count, posterior(statistics, prior_.linked.components)};
    });
  }

  void fit_independent() {
    if constexpr (std::is_same_v<S, FullCovariance>) {
      const auto *start = start_ ? std::get_if<GmmFitted<S>>(&start_->state->fitted) : nullptr;
      fit_variational<NormalIndependent>(prior_.independent, start ? start->independent : std::nullopt, fitted_.independent, [&](const auto &statistics) {
        // q(mu) needs an E[Lambda] before there is one: the linked posterior's.
        const auto linked = posterior(statistics, prior_.linked.components);
        NormalIndependent before = prior_.independent.components;
        before.a = linked.a;
        before.B = linked.B;
        return MixturePosterior<NormalIndependent>{prior_.independent.alpha + statistics.count, posterior(statistics, prior_.independent.components, before)};
      });
    }
  }

  void set_rows(const RowSums &sums, const Vector &counts) {
    model_->state->counts = counts;
    model_->state->entropy = std::max(0.0, sums.entropy);
    model_->info.log_likelihood = sums.objective;
  }

  void finish() {
    ModelInfo &info = model_->info;
    if (options_.method != "em" && options_.method != "map") {
      const Vector counts = model_->state->counts;
      const auto at_point = local_step<SoftAllocation>(data_, control_, make_scorer(fitted_.point.components), log_weights_of(fitted_.point));
      set_rows(at_point.sums, counts);
    }
    const Vector &size = options_.method == "kmeans" ? model_->state->counts : fitted_.point.weights;
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size(a) > size(b); });
    const Vector counts = model_->state->counts;
    for (std::size_t i = 0; i < order.size(); ++i) model_->state->counts(Eigen::Index(i)) = std::max(0.0, counts(order[i]));
    reorder(fitted_.point, order);
    const auto reorder_posterior = [&](auto &posterior) {
      reorder(posterior, order);
      fitted_.point.weights = posterior.alpha / posterior.alpha.sum();  // added up in this order, as whoever reads the model does
    };
    if (fitted_.linked) reorder_posterior(*fitted_.linked);
    if (fitted_.independent) reorder_posterior(*fitted_.independent);
    model_->state->weight = survey_.weight;
    model_->state->fitted = std::move(fitted_);
    info.method = options_.method;
    info.rows = rows_.rows();
    info.skipped = rows_.skipped();
    info.dimension = rows_.shape().dimension;
    info.components = k_;
    info.seed = std::int64_t(options_.seed);
    info.seconds = schedule_.seconds();
    info.options = options_.document();
    if (options_.bayesian() && !update_) info.options.set("prior", prior_document(options_, prior_));
  }

  RowSource &rows_;
  const int k_;
  const GmmOptions &options_;
  const GaussianMixture *start_;
  const bool update_;
  Control &control_;
  Schedule schedule_;
  Sketch sketch_;
  MemoryRows sample_;
  // What is fitted: the distinct rows with their weights if the sketch holds them all. That is the same mixture, found sooner where
  // rows repeat, and to the last bit independent of the order in which rows came.
  RowSource &data_;
  Survey<S> survey_;
  CovarianceFloor floor_;
  Prior<S> prior_;
  GmmFitted<S> fitted_;
  std::unique_ptr<GaussianMixture> model_ = std::make_unique<GaussianMixture>();
};

std::unique_ptr<GaussianMixture> fit(RowSource &rows, int k, const GmmOptions &options, const GaussianMixture *start, bool update, Control &control) {
  const PollScope scope(control);
  const int d = rows.shape().dimension;
  if (rows.rows() == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  if (d > gmm_max_dimension)
    throw Error(Errc::too_large, "rows have " + std::to_string(d) + " elements, but a Gaussian mixture takes at most " + std::to_string(gmm_max_dimension));
  if (start && start->dimension() != d)
    throw Error(Errc::array_shape, "rows have " + std::to_string(d) + " elements, but the start model has " + std::to_string(start->dimension()));
  return with_shape(options.covariance[0], [&](auto shape) {
    using S = decltype(shape);
    const double doubles = scale_count<S>(k) * double(scale_rows<S>(d)) * scale_columns<S>(d) + 2.0 * k * d;
    if (doubles * 8 > 9e8)
      throw Error(Errc::too_large, "a model of " + std::to_string(k) + " components of dimension " + std::to_string(d) + " would be larger than a value can be (1 GB)", {},
                  "Use a smaller k, or covariance diagonal.");
    // Parameters before and after a step, the prior, their factors, statistics and a share of them for every thread.
    const double each = S::dense && d <= normal_block::lane_sums_limit ? 0.5 * simd::lanes + 0.5 : 1, bytes = 8 * doubles * (8 + each * control.threads);
    if (bytes > control.memory)
      throw Error(Errc::too_large, "fitting " + std::to_string(k) + " components of dimension " + std::to_string(d) + " takes about " +
                                       std::to_string(std::int64_t(bytes / 1048576)) + " MB beside the rows, but the limit is " + std::to_string(std::int64_t(control.memory / 1048576)) + " MB",
                  "The limit is maintenance_work_mem, or 1 GB if that is more.", "Raise maintenance_work_mem, use a smaller k, or covariance diagonal.");
    return Fit<S>(rows, k, options, start, update, control).run();
  });
}

}  // namespace

GmmRowOptions gmm_check_options(int k, const Document &options, const GaussianMixture *start, bool update) {
  const int ks[] = {start ? start->size() : k};
  return read_gmm_options(ks, options, start, update, false).rows;
}

GmmRowOptions gmm_check_select_options(std::span<const int> ks, const Document &options) {
  return read_gmm_options(ks, options, nullptr, false, true).rows;
}

std::unique_ptr<GaussianMixture> gmm_fit(RowSource &rows, int k, const Document &options, const GaussianMixture *start, bool update, Control &control) {
  const int ks[] = {start ? start->size() : k};
  return fit(rows, ks[0], read_gmm_options(ks, options, start, update, false), start, update, control);
}

void gmm_select(RowSource &rows, std::span<const int> ks, const Document &options, Control &control,
                const std::function<void(std::unique_ptr<GaussianMixture>)> &emit) {
  const GmmOptions all = read_gmm_options(ks, options, nullptr, false, true);
  for (const std::string &covariance : all.covariance)
    for (const int k : ks) {
      GmmOptions one = all;
      one.covariance = {covariance};
      emit(fit(rows, k, one, nullptr, false, control));
    }
}

}  // namespace bayes
