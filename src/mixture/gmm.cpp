// The accessors of a fitted Gaussian mixture.
#include "mixture/gmm.hpp"

#include <algorithm>
#include <limits>

#include "base/special.hpp"
#include "families/normal/independent_predictive.hpp"
#include "families/normal/normal_draw.hpp"
#include "fit/component_overlap.hpp"
#include "mixture/gmm_state.hpp"
#include "mixture/mixture_parameters.hpp"
#include "questions/elliptical_part.hpp"
#include "questions/make.hpp"

namespace bayes {
GaussianMixture::GaussianMixture() : state(std::make_unique<State>()) { info.family = "gmm"; }
GaussianMixture::~GaussianMixture() = default;

GmmComponent GaussianMixture::component(int index) const {
  const GmmFitted &fitted = state->fitted;
  const CovarianceShape &shape = fitted.shape();

  const Vector mean = fitted.point.components.mean.col(index);
  const Matrix &scale = fitted.point.components.covariance[std::size_t(shape.index(index))];
  return GmmComponent{fitted.point.weights(index), state->counts(index), to_vector(mean),
                      row_major(dense_form(shape, scale, dimension()))};
}

ComponentOverlaps GaussianMixture::overlaps(const Model &other) const {
  return overlaps_of(densities(), static_cast<const GaussianMixture &>(other).densities());
}

ComponentDensities GaussianMixture::densities() const {
  const auto &point = state->fitted.point;
  return {point.weights, point.components, info.columns};
}

std::int64_t GaussianMixture::stored_draws() const {
  return state->fitted.draws ? state->fitted.draws->draws : 0;
}

bool GaussianMixture::has_posterior() const {
  const GmmFitted &fitted = state->fitted;
  return fitted.linked.has_value() || fitted.independent.has_value();
}

GmmPosterior GaussianMixture::posterior(int index) const {
  const GmmFitted &fitted = state->fitted;
  const CovarianceShape &shape = fitted.shape();

  const std::size_t s = std::size_t(shape.index(index));
  if (fitted.linked) {
    const auto &q = fitted.linked->components;
    return GmmPosterior{fitted.linked->alpha(index),
                        to_vector(q.m.col(index)),
                        q.c(index),
                        {},
                        q.a(Eigen::Index(s)),
                        row_major(dense_form(shape, q.B[s], dimension()))};
  }
  if (fitted.independent) {
    const auto &q = fitted.independent->components;
    return GmmPosterior{fitted.independent->alpha(index),
                        to_vector(q.m.col(index)),
                        std::numeric_limits<double>::quiet_NaN(),
                        row_major(q.C[s]),
                        q.a(index),
                        row_major(q.B[s])};
  }
  refuse_posterior(info);
}

void GaussianMixture::describe_parameters(std::optional<double> level,
                                          const TakeParameter &take) const {
  const GmmFitted &fitted = state->fitted;
  const ParameterTable out(level, take, source_of_variational(info, state->deviations.has_value()));
  const auto take_deviations = [this](auto &of) {
    if (!state->deviations) return;
    of.deviations = &*state->deviations;
    of.weight_deviations = &*state->weight_deviations;
  };
  if (fitted.independent) {
    DescribedMixture<NormalPoint, NormalIndependent> of{fitted.point};
    of.alpha = &fitted.independent->alpha;
    of.posterior = &fitted.independent->components;
    take_deviations(of);
    return describe_mixture(of, out);
  }
  DescribedMixture<NormalPoint, NormalWishart> of{fitted.point};
  take_deviations(of);
  if (fitted.linked) {
    of.alpha = &fitted.linked->alpha;
    of.posterior = &fitted.linked->components;
  }
  if (fitted.draws) {
    of.draws = &*fitted.draws;
    of.sum_of_draw = dirichlet_sum(info);
  }
  describe_mixture(of, out);
}

ParameterDraws GaussianMixture::draw_parameters(std::uint64_t seed) const {
  const GmmFitted &fitted = state->fitted;
  if (!fitted.draws) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  out.stored = fitted.draws->draws;
  out.draw = [this, &fitted, seed](std::uint64_t number) {
    const std::size_t first = number * std::size_t(size());
    NormalWishart given = pick(fitted.draws->components, components_from(first, size()));
    if (fitted.shape().shared) {
      given.shape = fitted.shape();
      given.a.conservativeResize(1);
      given.B.resize(1);
    }
    Random random(seed, number);
    const std::span<const double> means(fitted.draws->weights.data() + first, std::size_t(size()));
    return values_at<NormalWishart>(drawn_mixture(means, dirichlet_sum(info), given, random));
  };
  return out;
}

IndependentPredictive *GaussianMixture::integral() const {
  const GmmFitted &fitted = state->fitted;
  if (!integral_ && fitted.independent)
    integral_ = std::make_unique<IndependentPredictive>(
        fitted.independent->components, fitted.point.weights.array().log().matrix());
  return integral_.get();
}

int GaussianMixture::predict(std::span<const double> x) const {
  IndependentPredictive *const exact = integral();
  if (!exact) return RowMixture::predict(x);
  const std::span<const double> joint = exact->log_joint(x);
  return int(std::max_element(joint.begin(), joint.end()) - joint.begin());
}

void GaussianMixture::probabilities(std::span<const double> x, std::span<double> out) const {
  if (IndependentPredictive *const exact = integral())
    softmax(exact->log_joint(x), out);
  else
    RowMixture::probabilities(x, out);
}

double GaussianMixture::log_density(std::span<const double> x) const {
  IndependentPredictive *const exact = integral();
  return exact ? log_sum_exp(exact->log_joint(x)) : RowMixture::log_density(x);
}

std::unique_ptr<RowDistribution> GaussianMixture::row_distribution() const {
  const GmmFitted &fitted = state->fitted;
  const std::vector<int> elements = all_elements(dimension());
  const auto of = [&](std::vector<FlatComponent> components, const auto &parameters) {
    auto out = std::make_unique<RowDistribution>(info.columns, dimension(), std::move(components));
    out->add(row_part(elements, parameters));
    return out;
  };
  if (fitted.draws) {
    auto out = std::make_unique<RowDistribution>(
        info.columns, dimension(),
        flat_components(fitted.draws->weights, fitted.draws->draws, rows_of_draw(info)));
    out->add(row_part(elements, fitted.draws->components, fitted.shape().shared ? size() : 1));
    return out;
  }
  const std::vector<FlatComponent> components = flat_components(fitted.point.weights);
  if (fitted.linked) return of(components, fitted.linked->components);
  if (!fitted.independent) return of(components, fitted.point.components);
  const NormalNodes nodes = normal_nodes(fitted.independent->components);
  std::vector<FlatComponent> all;
  for (std::size_t i = 0; i < nodes.share.size(); ++i) {
    all.push_back(components[std::size_t(nodes.component[i])]);
    all.back().weight *= nodes.share[i];
  }
  return of(std::move(all), nodes.point);
}

double GaussianMixture::free_parameters() const {
  const GmmFitted &fitted = state->fitted;
  const CovarianceShape &shape = fitted.shape();

  // k-means has equal weights and one variance for all.
  if (info.method == Method::kmeans) return double(size()) * dimension() + 1;
  return size() - 1.0 + double(size()) * dimension() + shape.parameters(dimension(), size());
}

double GaussianMixture::observations() const { return state->weight; }
double GaussianMixture::relative_entropy() const { return state->relative_entropy(); }

double GaussianMixture::icl() const { return bic() + 2 * state->entropy; }

std::string GaussianMixture::covariance() const {
  const GmmFitted &fitted = state->fitted;
  const CovarianceShape &shape = fitted.shape();
  return shape.name;
}

}  // namespace bayes
