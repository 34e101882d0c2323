// The accessors of a fitted Bernoulli mixture.
#include "mixture/bmm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "base/unseen.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/unseen_categories.hpp"
#include "fit/component_overlap.hpp"
#include "mixture/bmm_state.hpp"
#include "mixture/mixture_parameters.hpp"
#include "questions/make.hpp"

namespace bayes {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BernoulliMixture::BernoulliMixture() : state(std::make_unique<State>()) { info.family = "bmm"; }
BernoulliMixture::~BernoulliMixture() = default;

/// f(weight, component, its point, its posterior) for the components of the predictive density: at
/// the point estimate, or with the parameters integrated out (of every draw, if there are draws);
/// either point or posterior is null.
template <class F> void BernoulliMixture::for_each_predictive_component(F f) const {
  if (state->draws) {
    const auto &draws = *state->draws;
    for (std::size_t i = 0; i < draws.weights.size(); ++i)
      f(draws.weights[i] / draws.draws, int(i % std::size_t(size())), nullptr,
        draws.components.values.col(Eigen::Index(i)).data());
  } else {
    for (int k = 0; k < size(); ++k)
      f(state->point.weights(k), k,
        state->posterior ? nullptr : state->point.components.values.col(k).data(),
        state->posterior ? state->posterior->components.values.col(k).data() : nullptr);
  }
}

std::vector<ColumnSpec> BernoulliMixture::likelihood() const {
  return likelihoods_of(state->columns());
}

BmmComponent BernoulliMixture::component(int index) const {
  BmmComponent out{state->point.weights(index), state->counts(index),
                   std::vector<double>(std::size_t(dimension()))};
  const double each = state->draws ? 1.0 / state->draws->draws : 1;
  for_each_predictive_component([&](double, int k, const double *point, const double *posterior) {
    if (k != index) return;
    state->columns().for_each([&](int j, const Column &column, const ColumnOffsets &at) {
      out.mean[std::size_t(j)] += each * (point ? column.mean(point + at.point)
                                                : column.predictive_mean(posterior + at.posterior));
    });
  });
  return out;
}

ComponentOverlaps BernoulliMixture::overlaps(const Model &other) const {
  return overlaps_of(densities(), static_cast<const BernoulliMixture &>(other).densities());
}

ComponentDensities BernoulliMixture::densities() const {
  return {state->point.weights, state->point.components, info.columns};
}

std::unique_ptr<BernoulliMixture> BernoulliMixture::with_labels_of(
    const RowColumns &columns) const {
  const SharedColumns shared = bayes::with_labels_of(state->columns(), info.columns, columns);
  auto out = std::make_unique<BernoulliMixture>();
  out->info = info;
  State &to = *out->state;
  static_cast<FiniteTotals &>(to) = *state;
  to.point = state->point;
  to.point.components.columns = shared;
  if (state->posterior) {
    to.posterior = state->posterior;
    to.posterior->components.columns = shared;
  }
  return out;
}

std::int64_t BernoulliMixture::stored_draws() const {
  return state->draws ? state->draws->draws : 0;
}

bool BernoulliMixture::has_posterior() const { return state->posterior.has_value(); }

BmmPosterior BernoulliMixture::posterior(int index) const {
  if (!state->posterior) refuse_posterior(info);
  BmmPosterior out{state->posterior->alpha(index),
                   std::vector<double>(std::size_t(dimension()), none),
                   std::vector<double>(std::size_t(dimension()), none)};
  for (int j = 0; j < dimension(); ++j) {
    const Column &column = state->columns().column(j);
    if (!column.probabilities || column.by_value) continue;
    const double *const q = state->posterior->components.column(index, j);
    out.a[std::size_t(j)] = q[0];
    out.b[std::size_t(j)] = q[1];
  }
  return out;
}

std::vector<double> BernoulliMixture::categories(int element) const {
  return categories_of(state->columns().column(element));
}

void BernoulliMixture::describe_parameters(std::optional<double> level,
                                           const TakeParameter &take) const {
  DescribedMixture<ProductPoint, ProductPosterior> of{state->point};
  if (state->posterior) {
    of.alpha = &state->posterior->alpha;
    of.posterior = &state->posterior->components;
  }
  if (state->weight_deviations) of.weight_deviations = &*state->weight_deviations;
  if (state->deviations) of.deviations = &*state->deviations;
  if (state->draws) {
    of.draws = &*state->draws;
    of.sum_of_draw = dirichlet_sum(info);
  }
  describe_mixture(
      of, ParameterTable(level, take, source_of_variational(info, state->deviations.has_value())));
}

ParameterDraws BernoulliMixture::draw_parameters(std::uint64_t seed) const {
  if (!state->draws) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  out.stored = state->draws->draws;
  out.draw = [this, seed](std::uint64_t number) {
    const std::size_t first = number * std::size_t(size());
    Random random(seed, number);
    return values_at<ProductPosterior>(drawn_mixture(
        {state->draws->weights.data() + first, std::size_t(size())}, dirichlet_sum(info),
        pick(state->draws->components, components_from(first, size())), random));
  };
  return out;
}

/// sum_k pi_k mu_k, and sum_k pi_k {Sigma_k + (mu_k - mean)(mu_k - mean)'}, which is 001's formula
/// without its cancellation.
void BernoulliMixture::moments(std::vector<double> &mean, std::vector<double> &covariance) const {
  const int d = dimension();
  const Eigen::Index terms = state->draws ? Eigen::Index(state->draws->weights.size()) : size();
  Matrix means(d, terms);
  Vector within = Vector::Zero(d), weights(terms);
  Eigen::Index i = 0;
  for_each_predictive_component(
      [&](double weight, int, const double *point, const double *posterior) {
        weights(i) = weight;
        state->columns().for_each([&](int j, const Column &column, const ColumnOffsets &at) {
          means(j, i) = point ? column.mean(point + at.point)
                              : column.predictive_mean(posterior + at.posterior);
          within(j) += weight * (point ? column.variance(point + at.point)
                                       : column.predictive_variance(posterior + at.posterior));
        });
        ++i;
      });
  const Vector centre = product(means, weights);
  const Matrix away = means.colwise() - centre;
  Matrix all = product_transposed(away * weights.asDiagonal(), away);
  all.diagonal() += within;
  mean = to_vector(centre);
  covariance.resize(std::size_t(d) * std::size_t(d));
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) covariance[std::size_t(i * d + j)] = 0.5 * (all(i, j) + all(j, i));
}

std::span<const double> BernoulliMixture::checked(std::span<const double> x) const {
  check_product_row(state->columns(), info.columns, x);
  return x;
}

std::unique_ptr<RowDistribution> BernoulliMixture::row_distribution() const {
  const std::vector<int> elements = all_elements(dimension());
  const Vector alphas = category_alphas(state->columns(), info);
  auto out = std::make_unique<RowDistribution>(
      info.columns, dimension(),
      state->draws ? flat_components(state->draws->weights, state->draws->draws, rows_of_draw(info))
                   : flat_components(state->point.weights));
  if (state->draws)
    out->add(row_part(elements, state->draws->components, alphas));
  else if (state->posterior)
    out->add(row_part(elements, state->posterior->components, alphas));
  else
    out->add(row_part(elements, state->point.components, state->counts, alphas));
  return out;
}

double BernoulliMixture::free_parameters() const {
  double each = 0;
  state->columns().for_each(
      [&](int, const Column &column, const ColumnOffsets &) { each += column.free_parameters(); });
  return size() - 1 + size() * each;
}

double BernoulliMixture::observations() const { return state->weight; }
double BernoulliMixture::relative_entropy() const { return state->relative_entropy(); }

double BernoulliMixture::icl() const { return bic() + 2 * state->entropy; }

}  // namespace bayes
