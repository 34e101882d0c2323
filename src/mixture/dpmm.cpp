// The accessors of a fitted Dirichlet process mixture.
#include "mixture/dpmm.hpp"

#include <algorithm>
#include <cmath>

#include "families/marginal_scorers.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_marginal.hpp"
#include "families/product/product.hpp"
#include "families/product/product_prior.hpp"
#include "fit/component_overlap.hpp"
#include "mixture/dpmm_state.hpp"
#include "mixture/mixture_parameters.hpp"
#include "mixture/posterior_means.hpp"

namespace bayes {

/// The clusters of all stored draws, prepared for scoring rows.
struct DirichletProcessMixture::Predictor {
  /// The state must outlive this if rows of normals miss elements.
  explicit Predictor(const State &state) {
    std::visit([this](const auto &fitted) { compile(fitted); }, state.fitted);
    normal_ = std::get_if<DpmmFitted<NormalWishart>>(&state.fitted);
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
  /// Of normals: by the marginal densities of what is observed.
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
  std::span<const double> scores() const { return {joint.data(), log_weights.size()}; }
  double largest() const {
    double out = alone;
    for (const double score : scores()) out = std::max(out, score);
    return out;
  }

  const DpmmFitted<NormalWishart> *normal_ = nullptr;
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
  const Vector weights = counts / (double(info.rows) + state->concentration);
  std::visit(
      [&]<class Q>(const DpmmFitted<Q> &fitted) {
        const MixturePoint<decltype(point_estimate(fitted.clusters))> point{
            weights, point_estimate(fitted.clusters)};
        DescribedMixture<decltype(point.components), Q> of{point};
        of.alpha = &counts;
        of.rest = state->concentration;
        of.posterior = &fitted.clusters;
        describe_mixture(of, ParameterTable(level, take));
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
  const double largest = p.largest();
  if (!(largest > -std::numeric_limits<double>::infinity())) return largest;
  double whole = std::exp(p.alone - largest);
  for (const double score : p.scores()) whole += std::exp(score - largest);
  return largest + std::log(whole) - std::log(p.draws);
}

PredictiveErrors DirichletProcessMixture::mcse(std::span<const double> x, Control &control) const {
  require_posterior_draws(*this, true);
  check_row(x);
  Predictor &p = predictor();
  p.score(x);
  const double largest = p.largest();
  const std::size_t k = std::size_t(size());
  std::vector<double> masses;
  std::visit(
      [&](const auto &fitted) {
        // of all empty clusters of all draws together
        const double alone = p.new_weight > 0 ? std::exp(p.alone - largest) / p.new_weight : 0;
        std::size_t i = 0;
        for (std::size_t s = 0; s < fitted.sizes.size(); ++s) {
          std::vector<double> own(k + 1, 0.0);
          own[k] = fitted.rest[s] * alone;
          for (const std::size_t end = i + std::size_t(fitted.sizes[s]); i < end; ++i) {
            const double mass = std::exp(p.scores()[i] - largest);
            for (std::size_t c = 0; c < k; ++c) own[c] += mass * fitted.shares[i * k + c];
          }
          masses.insert(masses.end(), own.begin(), own.end());
        }
      },
      state->fitted);
  return predictive_errors(masses, k + 1, draws.chains, control);
}

void DirichletProcessMixture::check_row(std::span<const double> x) const {
  if (const auto *product = std::get_if<DpmmFitted<ProductPosterior>>(&state->fitted))
    check_product_row(*product->prior.columns, info.columns, x);
}

}  // namespace bayes
