// Fitting a Dirichlet process mixture: prior, starting partitions, sampler or variational
// inference, and the fitted model.
#include <algorithm>
#include <numeric>

#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/normal/normal_response.hpp"
#include "families/product/product.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/product_response.hpp"
#include "fit/fit_run.hpp"
#include "fit/linear_response.hpp"
#include "mcmc/stored_draws.hpp"
#include "mixture/dpmm_options.hpp"
#include "mixture/dpmm_starts.hpp"
#include "mixture/dpmm_state.hpp"
#include "partition/chains.hpp"
#include "partition/statistics_of_labels.hpp"

namespace bayes {
namespace {

/// The default base measure is the prior of a finite mixture with this many components.
constexpr int components_of_prior = 5;

/// Initial numbers of clusters of successive chains: overdispersed, too few and too many, so that
/// agreement of the chains indicates convergence.
constexpr int starting_clusters[] = {1, 10, 3, 30};

double mean_of(const Draws &draws, const char *name) {
  const std::size_t width = draws.quantities.size(),
                    at = std::size_t(
                        std::find(draws.quantities.begin(), draws.quantities.end(), name) -
                        draws.quantities.begin());
  double sum = 0;
  for (std::size_t i = at; i < draws.values.size(); i += width) sum += draws.values[i];
  return sum / (double(draws.values.size()) / double(width));
}

/// [component][cluster]: of the rows of a component in a draw, the share that is in a cluster of
/// the estimate.
std::vector<double> shares_of_clusters(std::span<const std::uint16_t> drawn, std::size_t k,
                                       const std::vector<int> &estimate, int clusters) {
  std::vector<double> shares(k * std::size_t(clusters), 0.0), sizes(k, 0.0);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    shares[drawn[i] * std::size_t(clusters) + std::size_t(estimate[i])] += 1;
    sizes[drawn[i]] += 1;
  }
  for (std::size_t j = 0; j < shares.size(); ++j) shares[j] /= sizes[j / std::size_t(clusters)];
  return shares;
}

Document prior_document(const ProductPosterior &prior, const DpmmOptions &options) {
  return product_prior_options(prior, options.likelihood);
}
Document prior_document(const NormalWishart &prior, const DpmmOptions &) {
  Document out = Document::object();
  write_normal_prior(out, prior);
  return out;
}

/// The part of a fit that does not depend on the family of the rows.
class ProcessFitBase {
 public:
  ProcessFitBase(RowSource &rows, const DpmmOptions &options, Control &control,
                 const DirichletProcessMixture *start)
      : rows_(rows),
        options_(options),
        control_(control),
        start_(start),
        run_(*model_, options, control),
        starts_(rows, options.seed, control) {
    run_.set_weight(double(rows.rows()), rows.rows());
  }

 protected:
  const GammaPrior *learned() const { return options_.learned ? &*options_.learned : nullptr; }

  /// The number of clusters that memory allows at once. Throws Error(too_large) if it is less than
  /// the fit begins with. `each`: bytes per cluster.
  int most_clusters(double each, int dimension) const {
    const double most = control_.memory / each;
    const bool sampled = options_.sampled();
    const std::int64_t needed =
        !sampled ? options_.truncation
        : start_
            ? start_->size()
            : std::min<std::int64_t>(rows_.rows(), *std::max_element(std::begin(starting_clusters),
                                                                     std::end(starting_clusters)));
    require_memory(
        {.what = std::to_string(needed) + " clusters of " + std::to_string(dimension) + " elements",
         .bytes = double(needed) * each,
         .detail = sampled ? "Chains begin with so many clusters." : "This is the truncation.",
         .hint = std::string("or use fewer elements or categories") +
                 (sampled ? "." : ", or a smaller truncation.")},
        control_);
    return int(std::min(most, double(std::numeric_limits<int>::max())));
  }

  SamplerSetting setting(int most_clusters) const {
    SamplerSetting out;
    out.seed = options_.seed;
    out.most_clusters = most_clusters;
    out.learn_concentration = options_.learned.has_value();
    if (learned()) out.concentration = *learned();
    out.partition = PartitionPrior::dirichlet_process(
        learned() ? std::max(1e-3, learned()->shape / learned()->rate) : options_.concentration);
    return out;
  }
  std::vector<int> chain_start(int chain) {
    const int clusters =
        options_.one_start ? 1 : starting_clusters[chain % std::ssize(starting_clusters)];
    std::vector<int> labels =
        start_ ? labels_of_start_.here : starts_.of(clusters, std::uint64_t(chain)).here;
    make_dense(labels, start_ ? start_->size() + 1 : clusters);
    return labels;
  }

  /// Estimates the partition from the draws of the chains.
  void estimate(PartitionChains &chains) {
    PartitionEstimate found =
        estimate_partition(chains.partitions, options_.loss(), chains.log_joint, options_.level,
                           options_.seed, control_, options_.chains.chains);
    model_->state->estimate = {
        options_.estimate,   found.clusters,          found.expected_loss, found.mcse,
        found.optimal,       options_.level,          found.radius,        found.fewest_clusters,
        found.most_clusters, chains.partitions.size()};
    labels_.here = std::move(found.labels);
    fit_.probability = std::move(found.probability);
    fit_.chains = options_.chains.chains;
    fit_.upper = found.upper;
    fit_.lower = found.lower;
    fit_.horizontal = found.horizontal;
    model_->state->concentration = mean_of(chains.quantities, "concentration");
  }

  DpmmFit result() {
    fit_.model = std::move(model_);
    fit_.labels = std::move(labels_.here);
    return std::move(fit_);
  }

  RowSource &rows_;
  const DpmmOptions &options_;
  Control &control_;
  const DirichletProcessMixture *const start_;
  /// the cluster of the start model that each row is in, or the number of its clusters: none
  RowLabels labels_of_start_;
  /// the cluster that each row is in
  RowLabels labels_;
  std::unique_ptr<DirichletProcessMixture> model_ = std::make_unique<DirichletProcessMixture>();
  FitRun run_;
  StartingPartitions starts_;
  DpmmFit fit_{{}, {}, {}, PartitionDraws(1)};
};

template <class Q> class ProcessFit : ProcessFitBase {
 public:
  ProcessFit(RowSource &rows, Q prior, const DpmmOptions &options, Control &control,
             const DirichletProcessMixture *start)
      : ProcessFitBase(rows, options, control, start),
        prior_(std::move(prior)) {
    if (start) labels_of_start_ = label_by_model(*start, rows, control);
  }

  DpmmFit run() {
    const int most =
        most_clusters(8 * working_numbers(prior_, control_.threads), prior_.dimension());
    options_.sampled() ? sample(most) : fit_variational();
    finish();
    return result();
  }

 private:
  void sample(int most) {
    if constexpr (std::is_same_v<Q, NormalWishart>)
      if (rows_.incomplete() && options_.estimate == "map")
        throw Error(Errc::invalid_argument,
                    "option \"estimate\" is \"map\", but values are missing",
                    "The joint density of a partition and incomplete rows has no closed form.",
                    "Use another estimate, or leave such rows out by option missing = skip.");
    ChainDraws<Q> chains = [&] {
      // the rest of the time is for the estimate of the partition
      const BudgetScope of_chains(control_, control_.budget.share(0.8));
      return sample_partitions(rows_, prior_, setting(most), options_.method, options_.chains,
                               control_, [this](int chain) { return chain_start(chain); });
    }();
    estimate(chains);
    renumber(model_->state->estimate.clusters);
    store_draws(chains);
    run_.take(std::move(static_cast<ChainRun &>(chains)));
    fit_.draws = std::move(chains.partitions);
  }

  /// Stores draws for the predictive density, as many as a model should hold, and the overlap of
  /// their clusters with those of the estimate.
  void store_draws(ChainDraws<Q> &chains) {
    const int clusters = model_->state->estimate.clusters;
    double numbers = 0;
    for (const DrawnWeights &draw : chains.weights)
      numbers += double(draw.weights.size()) * (parameters_of(prior_) + clusters + 1);
    std::vector<Q> parts;
    for (const int stored :
         draws_to_store(chains, std::int64_t(chains.weights.size()), numbers, control_)) {
      control_.poll();
      const std::size_t s = std::size_t(stored);
      const DrawnWeights &draw = chains.weights[s];
      const std::size_t k = draw.weights.size();
      const auto shares =
          shares_of_clusters(chains.partitions.labels(chains.whole[s]), k, labels_.here, clusters);
      fitted_.sizes.push_back(int(k));
      fitted_.rest.push_back(draw.rest);
      fitted_.weights.insert(fitted_.weights.end(), draw.weights.begin(), draw.weights.end());
      fitted_.shares.insert(fitted_.shares.end(), shares.begin(), shares.end());
      parts.push_back(std::move(chains.components[s]));
    }
    fitted_.components = concatenate_all(std::move(parts));
  }

  void fit_variational() {
    using Learner = StickVariational<Q>;
    const int sticks = options_.truncation;
    const Learner learner(replicate(prior_, sticks), options_.concentration, learned());
    const Run<Learner> best = run_.best_of_restarts(
        rows_,
        [&](int restart) {
          if (start_ && restart == 1)
            return posterior_of_model(*start_, prior_, sticks, {options_.concentration, learned()},
                                      rows_, labels_of_start_, control_);
          restart -= start_ ? 1 : 0;
          const int clusters = std::min(sticks, restart == 1 ? sticks : 1 + restart);
          const RowLabels labels = starts_.of(clusters, 1000 + std::uint64_t(restart));
          return learner.update(statistics_of(rows_, prior_, labels, sticks, control_),
                                learner.initial_state());
        },
        [&](StickPosterior<Q> state, RowSource &rows) {
          return optimize(learner, std::move(state), rows, control_, run_.schedule());
        });
    model_->state->concentration = learner.concentration(best.state);

    // The clusters are those sticks that are the most probable component of at least one row.
    labels_ = label_rows(rows_, learner.scorer(best.state), learner.log_weights(best.state),
                         LabelKind::probable, &fit_.probability, control_);
    OrderByCounts by_counts(rows_, labels_, sticks, control_);
    const int clusters = by_counts.clusters;
    by_counts.reorder(renumber(clusters));
    const double none = std::numeric_limits<double>::quiet_NaN();
    model_->state->estimate = {"variational", clusters, none,     none,     false,
                               none,          none,     clusters, clusters, 1};

    const std::vector<double> weights = learner.weights(best.state);
    fitted_.components = pick(best.state.components, by_counts.order);
    fitted_.sizes = {sticks};
    fitted_.rest = {0};
    fitted_.shares.assign(std::size_t(sticks) * std::size_t(clusters), 0.0);
    for (int i = 0; i < sticks; ++i) {
      fitted_.weights.push_back(weights[std::size_t(by_counts.order[std::size_t(i)])]);
      if (i < clusters) fitted_.shares[std::size_t(i) * std::size_t(clusters + 1)] = 1;
    }
    if (options_.corrected()) correct(clusters, sticks);
  }

  /// Standard deviations by linear response, in the finite mixture of the clusters and one
  /// component that stands for all others: except for their order, the weights of the sticks are
  /// distributed as Dirichlet(rows, ..., concentration).
  void correct(int clusters, int sticks) {
    constexpr double negligible_alpha = 0.01;
    const int k = std::min(clusters + 1, sticks);
    std::vector<int> own(std::size_t(k), 0);
    std::iota(own.begin(), own.end(), 0);
    const double whole = double(rows_.rows()) + model_->state->concentration;
    Vector alpha = Vector::Constant(k, negligible_alpha);
    if (k > clusters) alpha(clusters) = model_->state->concentration;
    const Variational<Q> learner({alpha, replicate(prior_, k)});
    Vector counts = whole * Eigen::Map<const Vector>(fitted_.weights.data(), k);
    if (k > clusters) counts(clusters) = whole - counts.head(clusters).sum();
    const MixturePosterior<Q> q{counts.cwiseMax(negligible_alpha), pick(fitted_.components, own)};
    const double rows = double(rows_.rows());
    const Response<Variational<Q>> response =
        options_.linear_response
            ? if_time_is_left(
                  control_,
                  [&] { return linear_response_and_approach(learner, q, rows_, control_); })
            : linear_response_that_pays(learner, q, clusters, rows_,
                                        static_cast<RowSource *>(nullptr),
                                        {rows, 0, run_.iterations() * rows}, control_);
    model_->info.told_apart = response.told_apart;
    if (response.deviations.size() == 0) return;
    const Vector found = detail::rescaled(posterior_factors(q),
                                          posterior_factors(response.moved ? *response.moved : q),
                                          response.deviations);
    auto &state = *model_->state;
    state.weight_deviations = found.head(clusters);
    const Vector rest = found.tail(found.size() - k);
    if constexpr (std::is_same_v<Q, NormalWishart>)
      state.deviations =
          named_deviations(prior_.shape, prior_.dimension(), k, rest).leftCols(clusters);
    else
      state.deviations = named_deviations(*prior_.columns, rest).leftCols(clusters);
  }

  /// Renumbers the clusters of the labels by option order, or as those of the start model. Returns
  /// for every new number the old one; nothing if they keep their numbers.
  std::vector<int> renumber(int clusters) {
    if (!options_.order.given())
      return start_
                 ? renumber_as(rows_, labels_of_start_, start_->size(), labels_, clusters, control_)
                 : std::vector<int>();
    fit_clusters(clusters);
    const std::vector<std::int64_t> counts = label_counts(rows_, labels_, clusters, control_);
    Vector sizes(clusters);
    for (int c = 0; c < clusters; ++c) sizes(c) = double(counts[std::size_t(c)]);
    const std::vector<int> order = options_.order.of(sizes, point_estimate(fitted_.clusters));
    std::vector<int> name(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) name[std::size_t(order[i])] = int(i);
    labels_.renumber(name);
    return order;
  }

  /// The posterior of the clusters, given the labels, and its evidence.
  void fit_clusters(int clusters) {
    const auto statistics = statistics_of(rows_, prior_, labels_, clusters, control_);
    const Q all = replicate(prior_, clusters);
    fitted_.clusters = posterior(statistics, all);
    model_->info.log_likelihood = log_marginal_likelihood(statistics, all);
    if constexpr (std::is_same_v<Q, NormalWishart>)
      if (rows_.incomplete()) improve_bound(all);
  }

  void finish() {
    auto &state = *model_->state;
    const int clusters = state.estimate.clusters;
    fit_clusters(clusters);
    fitted_.prior = prior_;
    // Counted from the labels, as rows without observed elements are not in the statistics.
    state.counts = label_counts(rows_, labels_, clusters, control_);
    state.fitted = std::move(fitted_);
    Document options = options_.document();
    options.set("prior", prior_document(prior_, options_));
    model_->info.incomplete = rows_.incomplete();
    run_.describe(rows_.rows(), rows_.skipped(), rows_.shape().dimension, clusters,
                  std::move(options));
  }

  /// With missing elements log p(rows | partition) has no closed form. Computes the posterior of
  /// the clusters and a lower bound by variational inference, given the labels.
  void improve_bound(const Q &prior) {
    constexpr int iteration_limit = 1000;
    double before = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < iteration_limit; ++i) {
      const auto local = local_step<ScoredGivenAllocation>(
          rows_, control_, make_scorer(fitted_.clusters),
          std::vector<double>(std::size_t(prior.components()), 0.0),
          {labels_.here.data(), labels_.given_elsewhere()});
      const double bound = local.sums.objective - divergence(fitted_.clusters, prior);
      model_->info.log_likelihood = bound;
      if (bound - before <= options_.tolerance || control_.out_of_time()) return;
      before = bound;
      fitted_.clusters = posterior(local.statistics, prior);
    }
  }

  Q prior_;
  DpmmFitted<Q> fitted_;
};

void require_draws(const Document &options, const std::string &why) {
  if (!read_dpmm_options(options).sampled())
    throw Error(Errc::invalid_argument, why + ", but method vi has none", {},
                "Use method collapsed, gibbs or slice.");
}

}  // namespace

DpmmFit dpmm_fit(RowSource &rows, const Document &document, Control &control,
                 const DirichletProcessMixture *start) {
  const PollScope scope(control);
  const DpmmOptions options = read_dpmm_options(document, start);
  require_rows(rows, "a Dirichlet process mixture", dpmm_max_dimension, start);
  if (rows.shape().weighted)
    throw Error(Errc::invalid_argument, "a Dirichlet process mixture takes no weights");
  if (rows.rows() > std::numeric_limits<int>::max())
    throw Error(
        Errc::too_large,
        std::to_string(rows.rows()) + " rows are more than a Dirichlet process mixture takes",
        "The limit is 2147483647.");
  if (options.missing == "marginalize") rows.set_incomplete(count_incomplete(rows, control));
  if (options.products) {
    const auto *const of_start = start ? &fitted_as<ProductPosterior>(*start) : nullptr;
    const ProductSurvey known =
        of_start ? survey_product(rows, with_categories_of(rows, of_start->prior.columns, control),
                                  control)
                 : survey_product(rows, options.likelihood, options.categories, control);
    options.order.check(rows.shape().dimension, known.columns.get());
    return ProcessFit<ProductPosterior>(
               rows,
               make_product_prior(known, options.likelihood, options.prior, components_of_prior),
               options, control, start)
        .run();
  }
  options.order.check(rows.shape().dimension, nullptr);
  const CovarianceShape &shape = *covariance_named(options.covariance);
  if (shape.shared) throw Error(Errc::internal, "tied covariances have no predictive of their own");
  const NormalWishart prior =
      make_normal_prior(options.normal_prior, survey(shape, rows, control), components_of_prior);
  return ProcessFit<NormalWishart>(rows, prior, options, control, start).run();
}

void dpmm_similarity(
    RowSource &rows, const Document &options, Control &control,
    const std::function<void(std::int64_t row, std::span<const double> probabilities,
                             std::span<const double> mcse)> &emit,
    std::span<const std::uint32_t> order) {
  require_draws(options, "similarities need draws");
  if (rows.rows() > dpmm_max_similarity_rows)
    throw Error(
        Errc::too_large, "similarities of " + std::to_string(rows.rows()) + " rows are too many",
        "Every pair of rows has one: " + std::to_string(rows.rows() * (rows.rows() - 1) / 2) +
            " numbers. The limit is " + std::to_string(dpmm_max_similarity_rows) + " rows.",
        "Use a sample of the rows, or dpmm_cluster, which needs no pairs.");
  const DpmmFit fitted = dpmm_fit(rows, options, control);
  if (order.empty()) return similarity(fitted.draws, fitted.chains, control, emit);
  PartitionDraws draws(rows.rows());
  std::vector<int> labels(order.size());
  for (int m = 0; m < fitted.draws.size(); ++m) {
    control.poll();
    for (std::size_t i = 0; i < order.size(); ++i) labels[order[i]] = fitted.draws.labels(m)[i];
    draws.add(labels);
  }
  similarity(draws, fitted.chains, control, emit);
}

DpmmBounds dpmm_credible_bounds(RowSource &rows, const Document &options, Control &control) {
  require_draws(options, "a credible ball needs draws");
  DpmmFit fitted = dpmm_fit(rows, options, control);
  return {std::move(fitted.model), std::move(fitted.labels),
          labels_by_size(fitted.draws, fitted.upper), labels_by_size(fitted.draws, fitted.lower),
          labels_by_size(fitted.draws, fitted.horizontal)};
}

}  // namespace bayes
