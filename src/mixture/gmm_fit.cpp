// Fitting a Gaussian mixture: survey of the rows, default prior, starting points, learner, and the
// fitted model.
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "fit/seeding.hpp"
#include "mixture/finite_fit.hpp"
#include "mixture/gmm_prior.hpp"

namespace bayes {
namespace {

/// Means and covariances of a model, brought into another shape if need be.
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

/// A fit with one covariance shape.
class Fit final : FiniteFit<GaussianMixture, NormalPoint, NormalWishart> {
  using Base = FiniteFit<GaussianMixture, NormalPoint, NormalWishart>;
  using Base::control_, Base::data_, Base::k_, Base::model_, Base::point_, Base::posterior_,
      Base::prior_, Base::sample_, Base::schedule_, Base::start_point_, Base::start_posterior_,
      Base::update_;

 public:
  Fit(const CovarianceShape &shape, RowSource &rows, int k, const GmmOptions &options,
      const GaussianMixture *start, bool update, Control &control)
      : Base(rows, k, options, update, control),
        options_(options),
        survey_(survey(shape, data_, control)),
        floor_(survey_.variance, options.covariance_floor),
        priors_(make_prior(options, survey_, k)) {
    begin(survey_.weight);
    if (start) start_point_ = convert_point(shape, *start);
    if (start && start->state->fitted.shape() == shape) {
      start_posterior_ = start->state->fitted.linked;
      start_independent_ = start->state->fitted.independent;
    }
    if (update) {  // the posterior of the start model becomes the prior
      if (start_posterior_) priors_.linked = *start_posterior_;
      if (start_independent_) priors_.independent = *start_independent_;
    }
    prior_ = priors_.linked;
  }

  std::unique_ptr<GaussianMixture> run() {
    const bool kmeans = options_.method == "kmeans";
    if (kmeans)
      fit_kmeans();
    else if (options_.independent || (update_ && start_independent_))
      fit_independent();
    else
      fit_by_method(floor_);
    score_point();
    const Vector size = kmeans ? model_->state->counts : point_.weights;
    const std::vector<int> order = order_by(size);
    if (independent_) order_posterior(*independent_, order);
    model_->state->fitted = GmmFitted{std::move(point_), std::move(posterior_),
                                      std::move(independent_), std::move(draws_)};
    Document options = options_.document();
    if (options_.bayesian() && !update_) options.set("prior", prior_document(options_, priors_));
    describe(std::move(options));
    return std::move(model_);
  }

 private:
  NormalStatistics starting_statistics(int restart) override {
    Random random(options_.seed, std::uint64_t(restart));
    // Method kmeans uses unscaled distances; the initialization of mixtures must not depend on the
    // columns' units.
    const Vector unit =
        options_.method == "kmeans" ? Vector::Ones(survey_.mean.size()) : floor_.deviation();
    const KMeans kmeans(unit);
    const bool varied = !options_.means && options_.init == "kmeans" && options_.method != "kmeans";
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
      centres = anywhere ? random_rows(sample_, k_, random)
                         : kmeans_plus_plus(sample_, k_, unit, random, control_);
    }
    // One restart in five runs k-means to convergence: its results are often the same, and not
    // always near the best optimum. The others start alternately from k-means++ and from random
    // rows (tests/statistics/gmm_peers_test.cpp is the measure).
    if (varied && restart % 5 == 1)
      centres = settled_centres(kmeans, std::move(centres), sample_, survey_.weight, control_);
    auto statistics =
        local_step<HardAllocation>(sample_, control_, kmeans.nearest(survey_.shape, centres),
                                   std::vector<double>(std::size_t(k_), 0.0))
            .statistics;
    if (options_.means) statistics.mean = centres;  // given means are not updated
    return statistics;
  }

  /// Initial covariances are shrunk towards the default prior, so that a small group does not start
  /// as a spike.
  NormalPoint first_point(const NormalStatistics &statistics) override {
    NormalPoint point = maximum_posterior(statistics, prior_.components);
    if (options_.means) point.mean = statistics.mean;
    return point;
  }

  void fit_kmeans() {
    const CovarianceShape &shape = survey_.shape;
    const KMeans learner(Vector::Ones(survey_.mean.size()));
    auto run = best_of_restarts(
        [&](int restart) {
          return start_point_ ? start_point_->components.mean
                              : Matrix(starting_statistics(restart).mean);
        },
        [&](Matrix state, RowSource &rows) {
          return optimize(learner, std::move(state), rows, control_, schedule_);
        });
    // The mixture of which k-means is the hard EM: equal weights and one variance, so that the
    // nearest centre is the most probable one.
    const double variance =
        std::max(-run.trace.back() / (survey_.weight * double(survey_.mean.size())),
                 1e-12 * floor_.deviation().array().square().mean());
    point_ = {Vector::Constant(k_, 1.0 / k_),
              {shape, run.state,
               std::vector<Matrix>(std::size_t(shape.count(k_)),
                                   variance * shaped(shape, Matrix::Identity(run.state.rows(),
                                                                             run.state.rows())))}};
    model_->state->counts = run.counts;
  }

  void fit_independent() {
    independent_ =
        fit_variational(priors_.independent, start_independent_, [&](const auto &statistics) {
          // The first q(mu) needs an E[Lambda]: that of the linked posterior.
          const auto linked = posterior(statistics, prior_.components);
          NormalIndependent before = priors_.independent.components;
          before.a = linked.a;
          before.B = linked.B;
          return MixturePosterior<NormalIndependent>{
              priors_.independent.alpha + statistics.count,
              posterior(statistics, priors_.independent.components, before)};
        });
  }

  const GmmOptions &options_;
  Survey survey_;
  CovarianceFloor floor_;
  GmmPrior priors_;
  std::optional<MixturePosterior<NormalIndependent>> start_independent_, independent_;
};

std::unique_ptr<GaussianMixture> fit(RowSource &rows, int k, const GmmOptions &options,
                                     const GaussianMixture *start, bool update, Control &control) {
  const PollScope scope(control);
  const int d = rows.shape().dimension;
  if (rows.rows() == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  if (d > gmm_max_dimension)
    throw Error(Errc::too_large, "rows have " + std::to_string(d) +
                                     " elements, but a Gaussian mixture takes at most " +
                                     std::to_string(gmm_max_dimension));
  if (start && start->dimension() != d)
    throw Error(Errc::array_shape, "rows have " + std::to_string(d) +
                                       " elements, but the start model has " +
                                       std::to_string(start->dimension()));
  const CovarianceShape &shape = *covariance_named(options.covariance[0]);
  const double doubles = shape.count(k) * double(shape.rows(d)) * shape.columns(d) + 2.0 * k * d;
  if (doubles * 8 > 9e8)
    throw Error(Errc::too_large,
                "a model of " + std::to_string(k) + " components of dimension " +
                    std::to_string(d) + " would be larger than a value can be (1 GB)",
                {}, "Use a smaller k, or covariance diagonal.");
  // Parameters before and after a step, the prior, their factors, statistics and a share of them
  // for every thread.
  const double each = NormalScorer::sums_per_number(shape, d),
               bytes = 8 * doubles * (8 + each * control.threads);
  if (bytes > control.memory)
    throw Error(Errc::too_large,
                "fitting " + std::to_string(k) + " components of dimension " + std::to_string(d) +
                    " takes about " + std::to_string(std::int64_t(bytes / 1048576)) +
                    " MB beside the rows, but the limit is " +
                    std::to_string(std::int64_t(control.memory / 1048576)) + " MB",
                "The limit is maintenance_work_mem, or 1 GB if that is more.",
                "Raise maintenance_work_mem, use a smaller k, or covariance diagonal.");
  return Fit(shape, rows, k, options, start, update, control).run();
}

}  // namespace

GmmRowOptions gmm_check_options(int k, const Document &options, const GaussianMixture *start,
                                bool update) {
  const int ks[] = {start ? start->size() : k};
  return read_gmm_options(ks, options, start, update, false).rows();
}

GmmRowOptions gmm_check_select_options(std::span<const int> ks, const Document &options) {
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
