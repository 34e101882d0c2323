// The accessors of a fitted Dirichlet process mixture.
#include "mixture/dpmm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/unseen.hpp"
#include "families/marginal_scorers.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_draw.hpp"
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

DirichletProcessMixture::DirichletProcessMixture() : state(std::make_unique<State>()) {
  info.family = "dpmm";
}
DirichletProcessMixture::~DirichletProcessMixture() = default;

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

ParameterDraws DirichletProcessMixture::draw_parameters(std::uint64_t seed) const {
  const std::int64_t stored = stored_draws();
  if (stored == 0) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  out.stored = stored;
  std::visit(
      [&]<class Q>(const DpmmFitted<Q> &fitted) {
        std::vector<int> firsts{0};
        for (const int clusters : fitted.sizes) firsts.push_back(firsts.back() + clusters);
        out.draw = [this, &fitted, seed, firsts = std::move(firsts),
                    chosen = chosen_components(fitted, size())](std::uint64_t number) {
          // All clusters of the draw are drawn, of which one may be chosen for two of the estimate.
          const int first = firsts[number], count = fitted.sizes[number];
          Random random(seed, number);
          const auto all = drawn_mixture(
              std::span(fitted.weights).subspan(std::size_t(first), std::size_t(count)),
              double(info.rows) + state->concentration,
              pick(fitted.components, components_from(std::size_t(first), count)), random);
          std::vector<int> order(static_cast<std::size_t>(size()));
          Vector weights(size());
          for (int c = 0; c < size(); ++c) {
            const std::size_t at = number * std::size_t(size()) + std::size_t(c);
            order[std::size_t(c)] = chosen[at] - first;
            weights(c) = all.weights(chosen[at] - first);
          }
          return values_at<Q>(MixturePoint<std::decay_t<decltype(all.components)>>{
              weights, pick(all.components, order)});
        };
      },
      state->fitted);
  return out;
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
        out->set_outcomes(fitted.shares, order);
        if constexpr (std::is_same_v<Q, ProductPosterior>)
          out->add(row_part(all_elements(dimension()), all, category_alphas(fitted.prior)));
        else
          out->add(row_part(all_elements(dimension()), all));
        return out;
      },
      state->fitted);
}

std::span<const double> DirichletProcessMixture::checked(std::span<const double> x) const {
  if (const auto *product = std::get_if<DpmmFitted<ProductPosterior>>(&state->fitted))
    check_product_row(*product->prior.columns, info.columns, x);
  return x;
}

}  // namespace bayes
