// A Gaussian mixture as a document, and back with every number checked.
//
// A model with a posterior stores that alone: its point estimate follows from it.
#include "families/normal/normal_document.hpp"
#include "mixture/gmm_state.hpp"

namespace bayes {

void GaussianMixture::write(Document &document) const {
  document.set("weight", state->weight)
      .set("entropy", state->entropy)
      .set("covariance", covariance())
      .set("counts", tensor(state->counts));
  const GmmFitted &fitted = state->fitted;
  const CovarianceShape &shape = fitted.shape();

  const int d = dimension();
  Document posterior;
  if (fitted.linked) {
    const auto &q = fitted.linked->components;
    posterior.set("prior", "linked").set("alpha", tensor(fitted.linked->alpha));
    write_posterior(posterior, q);
  } else if (fitted.independent) {
    const auto &q = fitted.independent->components;
    posterior.set("prior", "independent")
        .set("alpha", tensor(fitted.independent->alpha))
        .set("m", columns(q.m));
    posterior.set("C", scales(full_covariance, q.C, d))
        .set("a", tensor(q.a))
        .set("B", scales(full_covariance, q.B, d));
  }
  if (!posterior.is_null()) {
    document.set("posterior", std::move(posterior));
    if (state->deviations)
      document.set("deviations", columns(*state->deviations))
          .set("weight_deviations", tensor(*state->weight_deviations));
    return;
  }
  document.set("weights", tensor(fitted.point.weights))
      .set("means", columns(fitted.point.components.mean));
  document.set("covariances", scales(shape, fitted.point.components.covariance, d));
  if (fitted.draws) document.set("posterior_draws", draws_document(*fitted.draws));
}

std::unique_ptr<Model> read_gaussian_mixture(const Document &document) {
  auto model = std::make_unique<GaussianMixture>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, gmm_methods, gmm_max_dimension, gmm_max_components);
  const int d = info.dimension, k = info.components;
  auto &state = *model->state;
  read_totals(in, k, state);
  const std::string covariance = in.text("covariance");
  const CovarianceShape *const named = covariance_named(covariance);
  if (!named) in.reject("covariance", "must be full, diagonal, spherical or tied");
  const CovarianceShape &shape = *named;
  GmmFitted &fitted = state.fitted;
  if (!in.has("posterior")) {
    fitted.point.weights = read_weights(in, k);
    fitted.point.components = {shape, read_columns(in, "means", d, k),
                               read_scales(shape, in, "covariances", d, k)};
    if (in.has("posterior_draws")) {
      fitted.draws = read_draws<NormalWishart>(
          in.object("posterior_draws"), k, [&](const MemberReader &from, int size) {
            return read_posterior(shape.shared ? full_covariance : shape, from, d, size);
          });
    }
  } else {
    const MemberReader q = in.object("posterior");
    const Vector alpha = read_above(q, "alpha", k, 0);
    const Matrix m = read_columns(q, "m", d, k);
    const double low = shape.wishart_dimension(d) - 1;
    const std::string prior = q.text("prior");
    if (prior == "linked") {
      fitted.linked = {alpha, read_posterior(shape, q, d, k)};
      fitted.point.components = point_estimate(fitted.linked->components);
    } else if (shape == full_covariance && prior == "independent") {
      fitted.independent = {
          alpha,
          {m, read_scales(full_covariance, q, "C", d, k), read_above(q, "a", k, low),
           read_scales(full_covariance, q, "B", d, k)}};
      fitted.point.components = point_estimate(fitted.independent->components);
    } else {
      q.reject("prior", "must be linked, or with full covariance independent");
    }
    fitted.point.weights = mean_weights(alpha);
    if (in.has("deviations") || in.has("weight_deviations")) {
      state.deviations = read_columns(in, "deviations", 2 * d, k);
      state.weight_deviations = read_vector(in, "weight_deviations", k);
      if (!(state.deviations->minCoeff() >= 0)) in.reject("deviations", "must not be negative");
      if (!(state.weight_deviations->minCoeff() >= 0))
        in.reject("weight_deviations", "must not be negative");
    }
    FactoredScale factored;  // dividing by a may have left the range of a double
    for (const Matrix &scale : fitted.point.components.covariance)
      if (!factor(shape, scale, d, factored))
        q.reject("B", "divided by a must be positive definite");
  }
  return model;
}

}  // namespace bayes
