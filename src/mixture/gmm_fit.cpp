// Fitting a Gaussian mixture: survey of the rows, default prior, starting points, learner, and the
// fitted model.
#include "families/normal/normal_completion.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/normal/normal_response.hpp"
#include "fit/seeding.hpp"
#include "mixture/finite_fit.hpp"
#include "mixture/gmm_options.hpp"
#include "mixture/gmm_state.hpp"

namespace bayes {
namespace {

/// The prior of all k components: by default alpha = 1, C = B / 0.01, and the rest as in
/// families/normal/normal_prior.hpp.
struct GmmPrior {
  MixturePosterior<NormalWishart> linked;
  MixturePosterior<NormalIndependent> independent;  // used if options.independent
};

GmmPrior make_prior(const GmmOptions &options, const Survey &rows, int k) {
  const CovarianceShape &shape = rows.shape;
  const int d = int(rows.mean.size());
  const NormalWishart one = make_normal_prior(options.prior, rows, k);
  const double a = one.a(0);
  const int sharing = shape.shared ? k : 1;  // components that share a scale
  if (options.method == Method::map && !(mode_divisor(shape, a, sharing, d) > 0))
    throw Error(
        Errc::invalid_argument,
        "option \"prior.a\" is " + describe(a) + ", but method map needs a prior with a mode",
        "The covariance of an empty component would have no mode.",
        "Raise prior.a above " + describe(a - mode_divisor(shape, a, sharing, d)) + ".");
  const Vector alpha = Vector::Constant(k, options.alpha);
  GmmPrior out;
  out.linked = {alpha, replicate(one, k)};
  if (options.independent) {
    const Matrix of_mean = options.C ? given_scale(full_covariance, "prior.C", *options.C, d)
                                     : Matrix(one.B[0] / 0.01);
    const auto &q = out.linked.components;
    out.independent = {alpha, {q.m, std::vector<Matrix>(std::size_t(k), of_mean), q.a, q.B}};
  }
  return out;
}

/// The prior in force, in the form of options.
Document prior_document(const GmmOptions &options, const GmmPrior &prior) {
  GmmOptions in_force = options;
  in_force.prior = keys_of(prior.linked.components);
  if (options.independent)
    in_force.C = scale_tensor(full_covariance, prior.independent.components.C[0]);
  return in_force.prior_document();
}

/// The weights, means and covariances of a model, converted to this shape.
MixturePoint<NormalPoint> convert_point(const CovarianceShape &shape,
                                        const GaussianMixture &start) {
  const int d = start.dimension(), k = start.size();
  MixturePoint<NormalPoint> out{
      Vector(k),
      {shape, Matrix(d, k),
       std::vector<Matrix>(std::size_t(shape.count(k)),
                           Matrix::Zero(shape.rows(d), shape.columns(d)))}};
  for (int j = 0; j < k; ++j) {
    const GmmComponent c = start.component(j);
    out.weights(j) = c.weight;
    out.components.mean.col(j) = Eigen::Map<const Vector>(c.mean.data(), d);
    const Matrix dense = Eigen::Map<const Matrix>(c.covariance.data(), d, d);
    if (shape.shared)
      out.components.covariance[0] += c.weight * shaped(shape, dense);
    else
      out.components.covariance[std::size_t(j)] = shaped(shape, dense);
  }
  return out;
}

/// Parameters before and after a step, the prior, their factors, statistics and a share of them for
/// every thread; the last two are larger where rows miss elements.
void require_fit_memory(const CovarianceShape &shape, int k, int d, bool incomplete,
                        const Control &control) {
  const double doubles = shape.count(k) * double(shape.rows(d)) * shape.columns(d) + 2.0 * k * d;
  const std::string what = std::to_string(k) + " components of dimension " + std::to_string(d);
  require_model_size(what, doubles, "Use a smaller k, or covariance diagonal.");
  const double each = NormalScorer::sums_per_number(shape, d) + (incomplete ? 2 : 0);
  require_memory({.what = what,
                  .bytes = 8 * doubles * (8 + each * control.threads),
                  .hint = "use a smaller k, or covariance diagonal."},
                 control);
}

/// A fit with one covariance shape.
class GmmFit {
 public:
  GmmFit(const CovarianceShape &shape, RowSource &rows, int k, const GmmOptions &options,
         const GaussianMixture *start, bool update, Control &control)
      : options_(options),
        k_(k),
        update_(update),
        control_(control),
        run_(*model_, options, control),
        rows_(rows, k, options.seed, control, true),
        survey_(survey(shape, rows_.data, control)),
        floor_(survey_.variance, options.covariance_floor, survey_.covariance),
        priors_(make_prior(options, survey_, k)),
        fit_(run_, rows_, k, options,
             {[this](int restart) { return starting_statistics(restart); },
              [this](const NormalStatistics &statistics) { return first_point(statistics); },
              [this](std::int64_t i, std::int64_t j) { return halves(i, j); }}) {
    options.order.check(rows.shape().dimension, nullptr);
    if (options.linear_response.value_or(false))
      require_linear_response_size(natural_size(priors_.linked.components) + k);
    if (!update) rows_.require_distinct_rows(k);
    run_.set_weight(survey_.weight, rows.rows());
    rows_.set_weight(survey_.weight);
    if (rows_.sample.incomplete()) {
      require_fit_memory(shape, k, rows.shape().dimension, true, control);
      completion_.emplace(rows_.sample, control);
      completion_->set_point(point_of(survey_));
      completion_->complete_by_means(0, control);
    }
    if (start) fit_.start_point = convert_point(shape, *start);
    if (start && start->state->fitted.shape() == shape) {
      fit_.start_posterior = start->state->fitted.linked;
      start_independent_ = start->state->fitted.independent;
    }
    if (update) {  // the posterior of the start model becomes the prior
      if (fit_.start_posterior) priors_.linked = *fit_.start_posterior;
      if (start_independent_) priors_.independent = *start_independent_;
    }
    fit_.prior = priors_.linked;
  }

  /// Are standard deviations to be corrected by linear response?
  bool correctable() const { return options_.corrected() && fit_.found.posterior; }

  std::unique_ptr<GaussianMixture> run() {
    const bool kmeans = options_.method == Method::kmeans;
    if (kmeans)
      fit_kmeans();
    else if (options_.independent || (update_ && start_independent_))
      fit_independent();
    else
      fit_.fit(floor_);
    GaussianMixture::State &state = *model_->state;
    if (const Vector found = correctable() ? fit_.linear_response() : Vector(); found.size()) {
      state.deviations = named_deviations(survey_.shape, int(survey_.mean.size()), k_,
                                          found.tail(found.size() - k_));
      state.weight_deviations = found.head(k_);
    }
    const RowSums sums = fit_.score_point();
    const std::vector<int> order =
        fit_.order_by(options_.order, kmeans ? fit_.found.counts : fit_.found.point.weights);
    if (independent_) fit_.order_posterior(*independent_, order);
    if (state.deviations) {
      state.deviations = pick_columns(*state.deviations, order);
      state.weight_deviations = pick_entries(*state.weight_deviations, order);
    }
    state.fitted = GmmFitted{std::move(fit_.found.point), std::move(fit_.found.posterior),
                             std::move(independent_), std::move(fit_.found.draws)};
    Document options = options_.document();
    if (options_.bayesian() && !update_) options.set("prior", prior_document(options_, priors_));
    fit_.finish(*model_, state, sums, std::move(options));
    return std::move(model_);
  }

 private:
  NormalStatistics starting_statistics(int restart) {
    Random random(options_.seed, std::uint64_t(restart));
    const Vector unit = unit_of_distances();
    const KMeans kmeans(unit);
    const bool varied =
        !options_.means && options_.init == "kmeans" && options_.method != Method::kmeans;
    Matrix centres;
    if (options_.means) {
      const Tensor &means = *options_.means;
      if (means.shape[1] != survey_.mean.size() || means.shape[0] != k_)
        throw Error(Errc::invalid_argument, "option \"init\" is " + describe_shape(means.shape) +
                                                ", but must be an array of " + std::to_string(k_) +
                                                " x " + std::to_string(survey_.mean.size()) +
                                                " numbers: a mean for every component");
      centres = Eigen::Map<const Matrix>(means.values.data(), means.shape[1], means.shape[0]);
    } else {
      const bool anywhere =
          options_.init == "random" || (varied && restart % 5 > 1 && restart % 2 == 1);
      // Missing elements of a centre are replaced by their expectation given the observed ones.
      MemoryRows &sample = completion_ ? completion_->rows : rows_.sample;
      centres = anywhere ? random_rows(sample, k_, random)
                         : kmeans_plus_plus(sample, k_, unit, random, control_);
    }
    // One restart in five runs k-means to convergence: its results are often the same, and not
    // always near the best optimum. The others start alternately from k-means++ and from random
    // rows (tests/statistics/gmm_peers_test.cpp is the measure).
    if (varied && restart % 5 == 1)
      centres = settled_centres(kmeans, std::move(centres), rows_.sample, survey_.weight, control_);
    auto statistics =
        local_step<HardAllocation>(rows_.sample, control_, kmeans.nearest(survey_.shape, centres),
                                   std::vector<double>(std::size_t(k_), 0.0))
            .statistics;
    if (options_.means) statistics.mean = centres;  // given means are not updated
    return statistics;
  }

  std::vector<int> halves(std::int64_t i, std::int64_t j) {
    // Missing elements of a centre are replaced by their expectation given the observed ones.
    MemoryRows &sample = completion_ ? completion_->rows : rows_.sample;
    const KMeans kmeans(unit_of_distances());
    std::vector<int> labels(std::size_t(rows_.sample.rows()));
    local_step<HardAllocation>(rows_.sample, control_,
                               kmeans.nearest(diagonal_covariance, these_rows(sample, {i, j})),
                               {0.0, 0.0}, {labels.data()});
    return labels;
  }

  /// The first covariances are regularised by the prior, so that a small group does not begin as a
  /// spike.
  NormalPoint first_point(const NormalStatistics &statistics) const {
    NormalPoint point = maximum_posterior(statistics, fit_.prior.components);
    if (options_.means) point.mean = statistics.mean;
    return point;
  }

  /// Method kmeans measures distances in the given units, unless columns are to be scaled; the
  /// initialization of mixtures must not depend on these units.
  Vector unit_of_distances() const {
    return options_.method == Method::kmeans && !options_.scale ? Vector::Ones(survey_.mean.size())
                                                                : floor_.deviation();
  }

  void fit_kmeans() {
    const CovarianceShape &shape = survey_.shape;
    const Vector unit = unit_of_distances();
    const KMeans learner(unit);
    Run<KMeans> run = fit_.best_of_restarts(
        learner, [](const NormalStatistics &statistics) { return Matrix(statistics.mean); },
        [&](int restart) {
          return fit_.begins_at_model(restart)
                     ? fit_.start_point->components.mean
                     : Matrix(starting_statistics(fit_.fresh(restart)).mean);
        },
        [&](Matrix state, RowSource &rows) {
          Schedule schedule = run_.schedule();
          schedule.squares = survey_.observed;
          return optimize(learner, std::move(state), rows, control_, schedule);
        });
    // The mixture of which k-means is the hard EM: equal weights and one variance, in the unit of
    // each column, so that the nearest centre is the most probable one.
    const double variance =
        std::max(-run.trace.back() / survey_.observed,
                 1e-12 * (floor_.deviation().array() / unit.array()).square().mean());
    fit_.found.point = {
        Vector::Constant(k_, 1.0 / k_),
        {shape, run.state,
         std::vector<Matrix>(
             std::size_t(shape.count(k_)),
             variance * shaped(shape, Matrix(unit.array().square().matrix().asDiagonal())))}};
    fit_.found.counts = std::move(run.counts);
  }

  void fit_independent() {
    independent_ = fit_.fit_variational<NormalIndependent>(
        priors_.independent, start_independent_, [&](const NormalStatistics &statistics) {
          // The first q(mu) needs an E[Lambda]: that of the linked posterior.
          const NormalWishart linked = posterior(statistics, fit_.prior.components);
          NormalIndependent before = priors_.independent.components;
          before.a = linked.a;
          before.B = linked.B;
          return MixturePosterior<NormalIndependent>{
              priors_.independent.alpha + statistics.count,
              posterior(statistics, priors_.independent.components, before)};
        });
  }

  const GmmOptions &options_;
  const int k_;
  const bool update_;
  Control &control_;
  std::unique_ptr<GaussianMixture> model_ = std::make_unique<GaussianMixture>();
  FitRun run_;
  FiniteRows rows_;
  Survey survey_;
  CovarianceFloor floor_;
  GmmPrior priors_;
  FiniteFit<NormalPoint, NormalWishart> fit_;
  /// the sample, if its rows miss elements
  std::optional<RowCompletion> completion_;
  std::optional<MixturePosterior<NormalIndependent>> start_independent_, independent_;
};

std::unique_ptr<GaussianMixture> fit(RowSource &rows, int k, const GmmOptions &options,
                                     const GaussianMixture *start, bool update, Control &control) {
  const PollScope scope(control);
  const int d = rows.shape().dimension;
  require_rows(rows, "a Gaussian mixture", gmm_max_dimension, start);
  const CovarianceShape &shape = *covariance_named(options.covariance[0]);
  require_fit_memory(shape, k, d, false, control);
  GmmOptions settled = options;
  const double each = double(shape.rows(d)) * (shape.dense ? (d + 1) / 2.0 : 1) + d;
  settled.settle_restarts(finite_effort(rows, k * each, k, options), min_restarts, max_restarts);
  return GmmFit(shape, rows, k, settled, start, update, control).run();
}

}  // namespace

RowOptions gmm_check_options(int k, const Document &options, const GaussianMixture *start,
                             bool update) {
  const int ks[] = {start ? start->size() : k};
  return read_gmm_options(ks, options, start, update, false).rows();
}

RowOptions gmm_check_select_options(std::span<const int> ks, const Document &options) {
  return read_gmm_options(ks, options, nullptr, false, true).rows();
}

std::unique_ptr<GaussianMixture> gmm_fit(RowSource &rows, int k, const Document &options,
                                         const GaussianMixture *start, bool update,
                                         Control &control) {
  const int ks[] = {start ? start->size() : k};
  return fit(rows, ks[0], read_gmm_options(ks, options, start, update, false), start, update,
             control);
}

void gmm_select(RowSource &rows, std::span<const int> ks, const Document &options, Control &control,
                const std::function<void(std::unique_ptr<GaussianMixture>)> &emit,
                const std::function<void(int k, const Error &)> &failed) {
  const GmmOptions all = read_gmm_options(ks, options, nullptr, false, true);
  SharedTime time(options, all.covariance.size() * ks.size(), control);
  for (const std::string &covariance : all.covariance)
    for (const int k : ks) {
      GmmOptions one = all;
      one.covariance = {covariance};
      time.select(
          k, [&] { return fit(rows, k, one, nullptr, false, control); }, emit, failed);
    }
}

}  // namespace bayes
