// The accessors of a fitted Dirichlet process mixture.
#include "mixture/dpmm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/unseen.hpp"
#include "families/marginal_scorers.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_marginal.hpp"
#include "families/product/product.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/unseen_categories.hpp"
#include "fit/component_overlap.hpp"
#include "mixture/dpmm_state.hpp"
#include "mixture/mixture_parameters.hpp"
#include "questions/make.hpp"

namespace bayes {
namespace {

// Posterior means of a component: the expected row, and for normals the covariance.

/// mean: d numbers, E[mu]; covariance: d x d, E[Lambda]^-1 = B / a.
void posterior_means(const NormalWishart &q, int component, std::vector<double> &mean,
                     std::vector<double> &covariance) {
  const Vector m = q.m.col(component);
  mean.assign(m.data(), m.data() + m.size());
  const Matrix full =
      dense_form(q.shape, q.B[std::size_t(q.shape.index(component))], q.dimension()) /
      q.a(q.shape.index(component));
  covariance.assign(full.data(), full.data() + full.size());
}

/// mean: d numbers, NaN for an element that is a category, infinite for one without mean.
void posterior_means(const ProductPosterior &q, int component, std::vector<double> &mean,
                     std::vector<double> &covariance) {
  mean.resize(std::size_t(q.dimension()));
  covariance.clear();
  q.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    mean[std::size_t(j)] = column.predictive_mean(q.column(component, j));
  });
}

/// [draw][cluster of the estimate]: the component that has the most of the cluster's rows.
template <class Q> std::vector<int> chosen_components(const DpmmFitted<Q> &fitted, int clusters) {
  std::vector<int> out;
  int first = 0;
  for (const int size : fitted.sizes) {
    poll_here();
    for (int c = 0; c < clusters; ++c) {
      const auto rows = [&](int i) {
        return fitted.weights[std::size_t(i)] *
               fitted.shares[std::size_t(i) * std::size_t(clusters) + std::size_t(c)];
      };
      int best = first;
      for (int i = first + 1; i < first + size; ++i)
        if (rows(i) > rows(best)) best = i;
      out.push_back(best);
    }
    first += size;
  }
  return out;
}

/// The clusters of the estimate in every stored draw.
template <class Q> FiniteDraws<Q> drawn_clusters(const DpmmFitted<Q> &fitted, int clusters) {
  FiniteDraws<Q> out;
  out.draws = int(fitted.sizes.size());
  const std::vector<int> chosen = chosen_components(fitted, clusters);
  for (const int each : chosen) out.weights.push_back(fitted.weights[std::size_t(each)]);
  out.components = pick(fitted.components, chosen);
  return out;
}

}  // namespace

/// The clusters of all stored draws, prepared for scoring rows.
struct DirichletProcessMixture::Predictor {
  /// The state must outlive this.
  explicit Predictor(const State &state) {
    std::visit([this](const auto &fitted) { compile(fitted); }, state.fitted);
    normal_ = std::get_if<DpmmFitted<NormalWishart>>(&state.fitted);
    product_ = std::get_if<DpmmFitted<ProductPosterior>>(&state.fitted);
  }
  explicit Predictor(const DpmmFitted<NormalWishart> &fitted) { compile(fitted); }

  template <class Q> void compile(const DpmmFitted<Q> &fitted) {
    auto &clusters = clusters_.emplace<typename Q::Clusters>(fitted.prior, fitted.components);
    joint.resize(std::size_t(clusters.padded()));
    for (const double weight : fitted.weights) log_weights.push_back(std::log(weight));
    for (const double rest : fitted.rest) new_weight += rest;
    draws = double(fitted.rest.size());
  }

  /// log (weight x predictive density of x) of every component of every draw, and of all empty
  /// clusters together; neither divided by the number of draws.
  void score(std::span<const double> x) {
    if (normal_ && misses_element(x)) return score_observed(x);
    std::visit(
        [&](auto &clusters) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(clusters)>, std::monostate>) {
            clusters.log_predictive(x.data(), joint.data());
            alone = std::log(new_weight) + clusters.log_prior_predictive(x.data());
          }
        },
        clusters_);
    for (std::size_t i = 0; i < log_weights.size(); ++i) joint[i] += log_weights[i];
  }
  /// score() for normals and a row with missing elements, by the marginal densities of the observed
  /// ones.
  void score_observed(std::span<const double> x) {
    if (std::all_of(x.begin(), x.end(), [](double element) { return std::isnan(element); })) {
      std::copy(log_weights.begin(), log_weights.end(), joint.begin());
      alone = std::log(new_weight);
      return;
    }
    Predictor &of =
        marginals_.of(x, double(log_weights.size()) * (parameters_of(normal_->prior) + 1),
                      [this](std::span<const int> elements) {
                        DpmmFitted<NormalWishart> some;
                        some.prior = marginal(normal_->prior, elements);
                        some.components = marginal(normal_->components, elements);
                        some.weights = normal_->weights;
                        some.rest = normal_->rest;
                        return std::make_unique<Predictor>(some);
                      });
    of.score(marginals_.observed());
    std::copy(of.joint.begin(), of.joint.end(), joint.begin());
    alone = of.alone;
  }
  /// After score(x): adds the log probabilities of its unseen categories.
  void add_unseen(std::span<const double> x) {
    if (!product_ || !has_unseen(x)) return;
    if (!unseen_) {
      const Vector alphas = category_alphas(product_->prior);
      unseen_.emplace(product_->components, alphas);
      unseen_in_new_.emplace(product_->prior, alphas);
    }
    unseen_->add(x.data(), joint.data());
    unseen_in_new_->add(x.data(), &alone);
  }
  std::span<const double> scores() const { return {joint.data(), log_weights.size()}; }
  double largest() const {
    double out = alone;
    for (const double score : scores()) out = std::max(out, score);
    return out;
  }

  /// [draw][cluster of the estimate, new cluster]: the scores' masses, divided by the largest.
  template <class Q>
  std::vector<double> masses(const DpmmFitted<Q> &fitted, std::size_t clusters) const {
    const double most = largest();
    // prior predictive density of x, in the same units
    const double empty = new_weight > 0 ? std::exp(alone - most) / new_weight : 0;
    std::vector<double> out;
    std::size_t i = 0;
    for (std::size_t s = 0; s < fitted.sizes.size(); ++s) {
      std::vector<double> own(clusters + 1, 0.0);
      own[clusters] = fitted.rest[s] * empty;
      for (const std::size_t end = i + std::size_t(fitted.sizes[s]); i < end; ++i) {
        const double mass = std::exp(scores()[i] - most);
        for (std::size_t c = 0; c < clusters; ++c) own[c] += mass * fitted.shares[i * clusters + c];
      }
      out.insert(out.end(), own.begin(), own.end());
    }
    return out;
  }

  const DpmmFitted<NormalWishart> *normal_ = nullptr;
  const DpmmFitted<ProductPosterior> *product_ = nullptr;
  /// for the components, and for a new cluster
  std::optional<UnseenCategories> unseen_, unseen_in_new_;
  MarginalScorers<Predictor> marginals_;
  std::variant<std::monostate, NormalClusters, ProductClusters> clusters_;
  Buffer joint;
  std::vector<double> log_weights;
  double new_weight = 0, draws = 1, alone = 0;
};

DirichletProcessMixture::DirichletProcessMixture() : state(std::make_unique<State>()) {
  info.family = "dpmm";
}
DirichletProcessMixture::~DirichletProcessMixture() = default;

DirichletProcessMixture::Predictor &DirichletProcessMixture::predictor() const {
  if (!predictor_) predictor_ = std::make_unique<Predictor>(*state);
  return *predictor_;
}

const DpmmEstimate &DirichletProcessMixture::estimate() const { return state->estimate; }

const ModelWords &DirichletProcessMixture::words() const {
  static constexpr ModelWords words = {.part = "cluster", .parts = "clusters"};
  return words;
}

std::unique_ptr<DirichletProcessMixture> DirichletProcessMixture::with_labels_of(
    const RowColumns &columns) const {
  auto out = std::make_unique<DirichletProcessMixture>();
  out->info = info;
  *out->state = *state;
  if (auto *const to = std::get_if<DpmmFitted<ProductPosterior>>(&out->state->fitted))
    to->prior.columns = to->clusters.columns = to->components.columns =
        bayes::with_labels_of(*to->prior.columns, info.columns, columns);
  return out;
}

ComponentOverlaps DirichletProcessMixture::overlaps(const Model &other) const {
  return overlaps_of(densities(), static_cast<const DirichletProcessMixture &>(other).densities());
}

ComponentDensities DirichletProcessMixture::densities() const {
  Vector weights(size());
  for (int k = 0; k < size(); ++k)
    weights(k) = double(state->counts[std::size_t(k)]) / (double(info.rows) + state->concentration);
  return std::visit(
      [&](const auto &fitted) -> ComponentDensities {
        return {weights, point_estimate(fitted.clusters), info.columns};
      },
      state->fitted);
}

std::int64_t DirichletProcessMixture::stored_draws() const {
  if (draws.quantities.empty()) return 0;
  return std::visit([](const auto &fitted) { return std::int64_t(fitted.sizes.size()); },
                    state->fitted);
}

DpmmCluster DirichletProcessMixture::cluster(int index) const {
  const std::int64_t count = state->counts[std::size_t(index)];
  DpmmCluster out{count, double(count) / (double(info.rows) + state->concentration), {}, {}};
  std::visit(
      [&](const auto &fitted) {
        posterior_means(fitted.clusters, index, out.mean, out.covariance);
      },
      state->fitted);
  return out;
}

std::vector<double> DirichletProcessMixture::categories(int element) const {
  const auto *const product = std::get_if<DpmmFitted<ProductPosterior>>(&state->fitted);
  return product ? categories_of(product->prior.columns->column(element)) : std::vector<double>();
}

void DirichletProcessMixture::describe_parameters(std::optional<double> level,
                                                  const TakeParameter &take) const {
  Vector counts(size());
  for (int k = 0; k < size(); ++k) counts(k) = double(state->counts[std::size_t(k)]);
  std::visit(
      [&]<class Q>(const DpmmFitted<Q> &fitted) {
        using Point = decltype(point_estimate(fitted.clusters));
        MixturePoint<Point> point{counts / (double(info.rows) + state->concentration),
                                  point_estimate(fitted.clusters)};
        DescribedMixture<Point, Q> of{point};
        of.alpha = &counts;
        of.rest = state->concentration;
        of.posterior = &fitted.clusters;
        if (!draws.quantities.empty()) {
          const FiniteDraws<Q> drawn = drawn_clusters(fitted, size());
          of.draws = &drawn;
          of.sum_of_draw = double(info.rows) + state->concentration;
          return describe_mixture(of, ParameterTable(level, take));
        }
        if (!state->deviations)
          return describe_mixture(of,
                                  ParameterTable(level, take,
                                                 info.told_apart ? Parameter::given_partition
                                                                 : Parameter::components_overlap));
        // The variational posteriors of the clusters, not those given the rows assigned to them.
        std::vector<int> own(std::size_t(size()), 0);
        std::iota(own.begin(), own.end(), 0);
        const Q q = pick(fitted.components, own);
        point = {Eigen::Map<const Vector>(fitted.weights.data(), size()), point_estimate(q)};
        counts = (double(info.rows) + state->concentration) * point.weights;
        of.posterior = &q;
        of.deviations = &*state->deviations;
        of.weight_deviations = &*state->weight_deviations;
        describe_mixture(of, ParameterTable(level, take, Parameter::linear_response));
      },
      state->fitted);
}

void DirichletProcessMixture::probabilities(std::span<const double> x,
                                            std::span<double> out) const {
  check_row(x);
  Predictor &p = predictor();
  p.score(x);
  const double largest = p.largest();
  const std::size_t k = std::size_t(size());
  std::fill(out.begin(), out.end(), 0.0);
  double whole = std::exp(p.alone - largest);
  std::visit(
      [&](const auto &fitted) {
        const auto scores = p.scores();
        for (std::size_t i = 0; i < scores.size(); ++i) {
          const double mass = std::exp(scores[i] - largest);
          whole += mass;
          if (mass > 0)
            for (std::size_t c = 0; c < k; ++c) out[c] += mass * fitted.shares[i * k + c];
        }
      },
      state->fitted);
  double known = 0;
  for (std::size_t c = 0; c < k; ++c) known += out[c] /= whole;
  out[k] = std::max(0.0, 1 - known);
}

int DirichletProcessMixture::predict(std::span<const double> x) const {
  std::vector<double> p(std::size_t(size()) + 1);
  probabilities(x, p);
  return int(std::max_element(p.begin(), p.end()) - p.begin());
}

double DirichletProcessMixture::log_density(std::span<const double> x) const {
  check_row(x);
  Predictor &p = predictor();
  p.score(x);
  p.add_unseen(x);
  const double largest = p.largest();
  if (!(largest > -std::numeric_limits<double>::infinity())) return largest;
  double whole = std::exp(p.alone - largest);
  for (const double score : p.scores()) whole += std::exp(score - largest);
  return largest + std::log(whole) - std::log(p.draws);
}

std::unique_ptr<RowDistribution> DirichletProcessMixture::row_distribution() const {
  return std::visit(
      [&]<class Q>(const DpmmFitted<Q> &fitted) {
        // The clusters of every draw, followed by its new clusters.
        const double draws = double(fitted.sizes.size());
        std::vector<FlatComponent> flat;
        std::vector<int> order;
        const double all_rows = double(info.rows) + state->concentration;
        const auto add = [&](std::size_t draw, double weight, double together) {
          flat.push_back({.weight = weight / draws,
                          .draw = int(draw),
                          .together = together,
                          .mass = all_rows * weight});
        };
        int next = 0;
        for (std::size_t s = 0; s < fitted.sizes.size(); ++s) {
          for (const int end = next + fitted.sizes[s]; next < end; ++next) {
            add(s, fitted.weights[std::size_t(next)], 1);
            order.push_back(next);
          }
          add(s, fitted.rest[s], 1 / (1 + state->concentration));
          order.push_back(fitted.components.components());
        }
        for (std::size_t i = 0; i < flat.size(); ++i) flat[i].group = int(i);
        const Q all = pick(joined(fitted.components, fitted.prior), order);
        auto out = std::make_unique<RowDistribution>(info.columns, dimension(), std::move(flat));
        // The new clusters of the draws before come first.
        const std::vector<int> chosen = chosen_components(fitted, size());
        const std::size_t clusters = std::size_t(size());
        std::vector<std::vector<int>> members(clusters);
        for (std::size_t i = 0; i < chosen.size(); ++i)
          members[i % clusters].push_back(chosen[i] + int(i / clusters));
        out->set_members(std::move(members));
        if constexpr (std::is_same_v<Q, ProductPosterior>)
          out->add(row_part(all_elements(dimension()), all, category_alphas(fitted.prior)));
        else
          out->add(row_part(all_elements(dimension()), all));
        return out;
      },
      state->fitted);
}

PredictiveErrors DirichletProcessMixture::mcse(std::span<const double> x, Control &control) const {
  require_posterior_draws(*this, true);
  check_row(x);
  Predictor &p = predictor();
  p.score(x);
  const std::size_t k = std::size_t(size());
  const auto errors = [&] {
    const std::vector<double> masses =
        std::visit([&](const auto &fitted) { return p.masses(fitted, k); }, state->fitted);
    return predictive_errors(masses, k + 1, draws.chains, control);
  };
  PredictiveErrors out = errors();
  if (has_unseen(x)) {
    p.add_unseen(x);
    out.log_density = errors().log_density;
  }
  return out;
}

void DirichletProcessMixture::check_row(std::span<const double> x) const {
  if (const auto *product = std::get_if<DpmmFitted<ProductPosterior>>(&state->fitted))
    check_product_row(*product->prior.columns, info.columns, x);
}

}  // namespace bayes
