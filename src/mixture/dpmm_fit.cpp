// Fitting a Dirichlet process mixture: prior, starting partitions, sampler or variational
// inference, and the fitted model.
#include <algorithm>
#include <numeric>

#include "data/sketch.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/product/product.hpp"
#include "families/product/product_prior.hpp"
#include "fit/seeding.hpp"
#include "mixture/dpmm_options.hpp"
#include "mixture/dpmm_state.hpp"
#include "mixture/stick_breaking.hpp"
#include "partition/chains.hpp"
#include "partition/samplers.hpp"

namespace bayes {
namespace {

/// Where the user gave no base measure, it is the prior that a finite mixture of so many components
/// has.
constexpr int components_of_prior = 5;

/// Numbers of a model's kept draws: some tens of megabytes.
constexpr double most_doubles = 2e6;
/// Clusters that chains begin with, in turn: too few and too many, so that chains that agree have
/// found their way.
constexpr int starting_clusters[] = {1, 10, 3, 30};

template <class Q> class Fit {
 public:
  Fit(RowSource &rows, Q prior, const DpmmOptions &options, Control &control)
      : rows_(rows),
        prior_(std::move(prior)),
        options_(options),
        control_(control) {}

  DpmmFit run() {
    check_memory();
    options_.sampled() ? sample() : fit_variational();
    finish();
    return {std::move(model_), std::move(labels_), std::move(probability_), std::move(draws_)};
  }

 private:
  std::int64_t n() const { return rows_.rows(); }
  const GammaPrior *learned() const { return options_.learned ? &*options_.learned : nullptr; }

  /// How many clusters there can be at once, and whether that is enough to begin.
  void check_memory() {
    const double each = 8 * working_numbers(prior_, control_.threads),
                 most = control_.memory / each;
    const std::int64_t needed =
        options_.sampled()
            ? std::min<std::int64_t>(n(), *std::max_element(std::begin(starting_clusters),
                                                            std::end(starting_clusters)))
            : options_.truncation;
    if (double(needed) > most)
      throw Error(
          Errc::too_large,
          "fitting " + std::to_string(needed) + " clusters of " +
              std::to_string(prior_.dimension()) + " elements takes about " +
              std::to_string(std::int64_t(double(needed) * each / 1048576)) +
              " MB beside the rows, but the limit is " +
              std::to_string(std::int64_t(control_.memory / 1048576)) + " MB",
          "The limit is maintenance_work_mem, or 1 GB if that is more. So many clusters are " +
              std::string(options_.sampled() ? "what chains begin with." : "the truncation."),
          std::string("Raise maintenance_work_mem, or take fewer elements or categories") +
              (options_.sampled() ? "." : ", or a smaller truncation."));
    most_clusters_ = int(std::min(most, double(std::numeric_limits<int>::max())));
  }

  /// A partition to begin with: rows at the nearest of `clusters` rows drawn far from each other.
  std::vector<int> starting_partition(int clusters, std::uint64_t stream) {
    std::vector<int> labels(std::size_t(n()), 0);
    if (!sample_) {
      sketch_.emplace(Sketch::of(rows_, control_, options_.seed, 2000));
      sample_.emplace(sketch_->sorted());
      unit_ = deviations(*sample_);
    }
    const int k = int(std::min<std::size_t>(std::size_t(clusters), sketch_->size()));
    if (k == 1) return labels;
    Random random(options_.seed, stream, 0, 3);
    const Matrix centres = kmeans_plus_plus(*sample_, k, unit_, random, control_);
    local_step<HardAllocation>(rows_, control_, KMeans(unit_).nearest(diagonal_covariance, centres),
                               std::vector<double>(std::size_t(k), 0.0), {labels.data()});
    std::vector<int> dense(std::size_t(k), -1);
    int next = 0;
    for (int &label : labels) {
      int &name = dense[std::size_t(label)];
      if (name < 0) name = next++;
      label = name;
    }
    return labels;
  }

  /// Of every column; 1 for a constant one.
  static Vector deviations(MemoryRows &rows) {
    const RowAccess access(rows, "");
    Vector x(access.dimension()), mean = Vector::Zero(x.size()), squares = mean;
    for (std::int64_t i = 0; i < access.rows(); ++i) {
      access.read(i, x.data());
      const Vector difference = x - mean;
      mean += difference / double(i + 1);
      squares.array() += difference.array() * (x - mean).array();
    }
    return (squares / double(access.rows())).unaryExpr([](double v) {
      return v > 0 ? std::sqrt(v) : 1.0;
    });
  }

  void sample() {
    SamplerSetting setting;
    setting.seed = options_.seed;
    setting.most_clusters = most_clusters_;
    setting.learn_concentration = options_.learned.has_value();
    if (learned()) setting.concentration = *learned();
    setting.partition = PartitionPrior::dirichlet_process(
        learned() ? std::max(1e-3, learned()->shape / learned()->rate) : options_.concentration);
    const auto run = [&]<class Sampler>(std::type_identity<Sampler>) {
      return run_chains<Q>(
          n(), options_.chains,
          keepable_draws(n(), prior_.dimension(), parameters_of(prior_), control_), true, learned(),
          options_.method.c_str(), control_, [&](int chain) {
            setting.chain = std::uint64_t(chain);
            const int clusters =
                options_.one_start ? 1 : starting_clusters[chain % std::ssize(starting_clusters)];
            return Sampler(rows_, prior_, setting,
                           starting_partition(clusters, std::uint64_t(chain)), control_);
          });
    };
    ChainDraws<Q> chains =
        options_.method == "gibbs"   ? run(std::type_identity<MarginalSampler<Q>>())
        : options_.method == "slice" ? run(std::type_identity<SliceSampler<Q>>())
                                     : run(std::type_identity<CollapsedSampler<Q>>());
    PartitionEstimate estimate =
        estimate_partition(chains.partitions, options_.loss(), chains.log_joint, options_.level,
                           options_.seed, control_);
    DpmmEstimate &out = model_->state->estimate;
    out = {options_.estimate,        estimate.clusters,      estimate.expected_loss,
           estimate.optimal,         options_.level,         estimate.radius,
           estimate.fewest_clusters, estimate.most_clusters, chains.partitions.size()};
    labels_ = std::move(estimate.labels);
    probability_ = std::move(estimate.probability);

    model_->state->concentration = mean_of(chains.quantities, "concentration");
    model_->info.objective = chains.best;
    model_->info.iterations = options_.chains.draws;
    model_->info.converged = chains_agree(chains.quantities, control_);
    model_->draws = std::move(chains.quantities);
    keep(chains.partitions, chains.kept);
    draws_ = std::move(chains.partitions);
  }

  static double mean_of(const Draws &draws, const char *name) {
    const std::size_t width = draws.quantities.size(),
                      at = std::size_t(
                          std::find(draws.quantities.begin(), draws.quantities.end(), name) -
                          draws.quantities.begin());
    double sum = 0;
    for (std::size_t i = at; i < draws.values.size(); i += width) sum += draws.values[i];
    return sum / (double(draws.values.size()) / double(width));
  }

  /// The kept draws as one predictive density, so many of them as a model should hold, and how
  /// their clusters overlap those of the estimate.
  void keep(const PartitionDraws &partitions, std::vector<MixtureDraw<Q>> &kept) {
    const int clusters = model_->state->estimate.clusters;
    double doubles = 0;
    for (const auto &draw : kept)
      doubles += double(draw.weights.size()) * (parameters_of(prior_) + clusters + 1);
    // However large, one is kept.
    const int every = int(std::clamp(std::ceil(doubles / most_doubles), 1.0, double(kept.size())));
    std::vector<Q> parts;
    for (std::size_t s = std::size_t(every) / 2; s < kept.size(); s += std::size_t(every)) {
      control_.poll();
      MixtureDraw<Q> &draw = kept[s];
      const std::size_t k = draw.weights.size();
      std::vector<double> shares(k * std::size_t(clusters), 0.0), sizes(k, 0.0);
      const auto labels = partitions.labels(int(s));
      for (std::size_t i = 0; i < labels.size(); ++i) {
        shares[labels[i] * std::size_t(clusters) + std::size_t(labels_[i])] += 1;
        sizes[labels[i]] += 1;
      }
      for (std::size_t j = 0; j < shares.size(); ++j) shares[j] /= sizes[j / std::size_t(clusters)];
      fitted_.sizes.push_back(int(k));
      fitted_.rest.push_back(draw.rest);
      fitted_.weights.insert(fitted_.weights.end(), draw.weights.begin(), draw.weights.end());
      fitted_.shares.insert(fitted_.shares.end(), shares.begin(), shares.end());
      parts.push_back(std::move(draw.components));
    }
    fitted_.components = joined_all(parts, [](const Q &q) { return q; });
  }

  void fit_variational() {
    const int sticks = options_.truncation;
    const StickVariational<Q> learner(replicate(prior_, sticks), options_.concentration, learned());
    Schedule schedule;
    schedule.method = "vi";
    schedule.restarts = options_.restarts;
    schedule.max_iterations = options_.max_iterations;
    schedule.tolerance = options_.tolerance;
    schedule.weight = double(n());
    std::optional<Run<StickVariational<Q>>> best;
    for (int restart = 1; restart <= options_.restarts; ++restart) {
      schedule.restart = restart;
      const int clusters = std::min(sticks, restart == 1 ? sticks : 1 + restart);
      const std::vector<int> labels = starting_partition(clusters, 1000 + std::uint64_t(restart));
      auto state =
          learner.update(statistics_of_labels(rows_, prior_, labels.data(), sticks, control_),
                         learner.beginning());
      auto run = optimize(learner, std::move(state), rows_, control_, schedule);
      model_->trace.push_back(run.trace);
      if (!best || run.trace.back() > best->trace.back()) best = std::move(run);
    }
    model_->info.objective = best->trace.back();
    model_->info.iterations = best->iterations;
    model_->info.converged = best->converged;
    model_->state->concentration = learner.concentration(best->state);

    // The clusters are the sticks that are the most probable of some row.
    labels_.resize(std::size_t(n()));
    probability_.resize(std::size_t(n()));
    const MostProbable most{labels_.data(), probability_.data()};
    local_step<MostProbable>(rows_, control_, learner.scorer(best->state),
                             learner.log_weights(best->state), most);
    std::vector<std::int64_t> counts(std::size_t(sticks), 0);
    for (const int label : labels_) ++counts[std::size_t(label)];
    std::vector<int> order(static_cast<std::size_t>(sticks)), name(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return counts[std::size_t(a)] > counts[std::size_t(b)]; });
    for (std::size_t i = 0; i < order.size(); ++i) name[std::size_t(order[i])] = int(i);
    for (int &label : labels_) label = name[std::size_t(label)];
    const int clusters =
        int(std::count_if(counts.begin(), counts.end(), [](std::int64_t c) { return c > 0; }));
    const double none = std::numeric_limits<double>::quiet_NaN();
    model_->state->estimate = {"variational", clusters, none,     false, none,
                               none,          clusters, clusters, 1};

    const std::vector<double> weights = StickVariational<Q>::weights(best->state);
    fitted_.components = pick(best->state.components, order);
    fitted_.sizes = {sticks};
    fitted_.rest = {0};
    fitted_.shares.assign(std::size_t(sticks) * std::size_t(clusters), 0.0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      fitted_.weights.push_back(weights[std::size_t(order[i])]);
      if (int(i) < clusters) fitted_.shares[i * std::size_t(clusters) + i] = 1;
    }
  }

  /// Notes every row's most probable component, and how probable it is.
  struct MostProbable {
    static constexpr bool scored = true;
    int *labels;
    double *probability;
    void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                  RowSums &sums) const {
      SoftAllocation().allocate(k, block, weight, logits, counts, sums);
      for (int b = 0; b < block.rows; ++b) {
        int best = 0;
        for (int j = 1; j < k; ++j)
          if (logits[j * block_rows + b] > logits[best * block_rows + b]) best = j;
        labels[block.first + b] = best;
        probability[block.first + b] = std::min(1.0, logits[best * block_rows + b]);
      }
    }
  };

  void finish() {
    auto &state = *model_->state;
    ModelInfo &info = model_->info;
    const int clusters = state.estimate.clusters;
    const auto statistics = statistics_of_labels(rows_, prior_, labels_.data(), clusters, control_);
    const Q all = replicate(prior_, clusters);
    info.log_likelihood = log_marginal_likelihood(statistics, all);
    fitted_.clusters = posterior(statistics, all);
    fitted_.prior = prior_;
    for (int k = 0; k < clusters; ++k)
      state.counts.push_back(std::int64_t(std::llround(statistics.count(k))));
    state.fitted = std::move(fitted_);
    info.method = options_.method;
    info.rows = n();
    info.skipped = rows_.skipped();
    info.dimension = rows_.shape().dimension;
    info.components = clusters;
    info.seed = std::int64_t(options_.seed);
    info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    info.options = options_.document();
    if constexpr (std::is_same_v<Q, ProductPosterior>)
      info.options.set("prior", product_prior_options(prior_, options_.likelihood));
    else {
      Document prior = Document::object();
      write_normal_prior(prior, prior_);
      info.options.set("prior", std::move(prior));
    }
  }

  RowSource &rows_;
  Q prior_;
  const DpmmOptions &options_;
  Control &control_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int most_clusters_ = 0;  // at once, by memory
  std::optional<Sketch> sketch_;
  std::optional<MemoryRows> sample_;
  Vector unit_;
  std::vector<int> labels_;
  std::vector<double> probability_;
  PartitionDraws draws_{1};
  DpmmFitted<Q> fitted_;
  std::unique_ptr<DirichletProcessMixture> model_ = std::make_unique<DirichletProcessMixture>();
};

}  // namespace

DpmmFit dpmm_fit(RowSource &rows, const Document &document, Control &control) {
  const PollScope scope(control);
  const DpmmOptions options = read_dpmm_options(document);
  const int d = rows.shape().dimension;
  if (rows.rows() == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  if (rows.shape().weighted)
    throw Error(Errc::invalid_argument, "a Dirichlet process mixture takes no weights");
  if (rows.rows() > std::numeric_limits<int>::max())
    throw Error(
        Errc::too_large,
        std::to_string(rows.rows()) + " rows are more than a Dirichlet process mixture takes",
        "The limit is 2147483647.");
  if (d > dpmm_max_dimension)
    throw Error(Errc::too_large, "rows have " + std::to_string(d) +
                                     " elements, but a Dirichlet process mixture takes at most " +
                                     std::to_string(dpmm_max_dimension));
  if (options.products) {
    const ProductSurvey known =
        survey_product(rows, options.likelihood, options.categories, control);
    return Fit<ProductPosterior>(
               rows,
               make_product_prior(known, options.likelihood, options.prior, components_of_prior),
               options, control)
        .run();
  }
  const CovarianceShape &shape = *covariance_named(options.covariance);
  if (shape.shared) throw Error(Errc::internal, "tied covariances have no predictive of their own");
  const NormalWishart prior =
      make_normal_prior(options.normal_prior, survey(shape, rows, control), components_of_prior);
  return Fit<NormalWishart>(rows, prior, options, control).run();
}

void dpmm_similarity(
    RowSource &rows, const Document &options, Control &control,
    const std::function<void(std::int64_t row, std::span<const double> probabilities)> &emit) {
  if (!read_dpmm_options(options).sampled())
    throw Error(Errc::invalid_argument, "similarities need draws, but method vi has none", {},
                "Use method collapsed, gibbs or slice.");
  if (rows.rows() > dpmm_most_similar_rows)
    throw Error(
        Errc::too_large, "similarities of " + std::to_string(rows.rows()) + " rows are too many",
        "Every pair of rows has one: " + std::to_string(rows.rows() * (rows.rows() - 1) / 2) +
            " numbers. The limit is " + std::to_string(dpmm_most_similar_rows) + " rows.",
        "Use a sample of the rows, or dpmm_cluster, which needs no pairs.");
  const DpmmFit fitted = dpmm_fit(rows, options, control);
  similarity(fitted.draws, control, emit);
}

}  // namespace bayes
