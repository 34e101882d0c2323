// A Gaussian mixture as a document, and back with every number checked.
//
// A model with a posterior stores that alone: its point estimate follows from it.
#include <cmath>

#include "families/normal/normal_document.hpp"
#include "families/normal/normal_prior.hpp"
#include "mixture/gmm_scorer.hpp"
#include "mixture/gmm_state.hpp"

namespace bayes {

void GaussianMixture::write(Document &document) const {
  document.set("weight", state->weight)
      .set("entropy", state->entropy)
      .set("covariance", covariance())
      .set("counts", tensor(state->counts));
  std::visit(
      [&](const auto &fitted) {
        using S = typename std::decay_t<decltype(fitted)>::Shape;
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
          posterior.set("C", scales<FullCovariance>(q.C, d))
              .set("a", tensor(q.a))
              .set("B", scales<FullCovariance>(q.B, d));
        }
        if (!posterior.is_null()) {
          document.set("posterior", std::move(posterior));
          return;
        }
        document.set("weights", tensor(fitted.point.weights))
            .set("means", columns(fitted.point.components.mean));
        document.set("covariances", scales<S>(fitted.point.components.covariance, d));
        if (fitted.draws) document.set("posterior_draws", draws_document(*fitted.draws));
      },
      state->fitted);
}

std::unique_ptr<Model> read_gaussian_mixture(const Document &document) {
  auto model = std::make_unique<GaussianMixture>();
  const MemberReader in(document);
  const ModelInfo info = read_model_info(document);
  const int d = info.dimension, k = info.components;
  auto &state = *model->state;
  state.weight = in.number("weight", 0, 1e300, true);
  state.entropy = in.number("entropy", 0, 1e300);
  state.counts = read_vector(in, "counts", k);
  if (!(state.counts.minCoeff() >= 0)) in.reject("counts", "must not be negative");
  const std::string covariance = in.text("covariance");
  if (covariance != "full" && covariance != "diagonal" && covariance != "spherical" &&
      covariance != "tied")
    in.reject("covariance", "must be full, diagonal, spherical or tied");
  with_shape(covariance, [&](auto shape) {
    using S = decltype(shape);
    GmmFitted<S> fitted;
    if (!in.has("posterior")) {
      fitted.point.weights = read_vector(in, "weights", k);
      if (!(fitted.point.weights.minCoeff() >= 0) ||
          !(std::abs(fitted.point.weights.sum() - 1) < 1e-9))
        in.reject("weights", "must not be negative and must sum to 1");
      fitted.point.components = {read_columns(in, "means", d, k),
                                 read_scales<S>(in, "covariances", d, k)};
      if (in.has("posterior_draws")) {
        using Drawn = typename decltype(fitted.draws)::value_type;
        fitted.draws = read_draws<decltype(Drawn::components)>(
            in.object("posterior_draws"), k, [d](const MemberReader &from, int size) {
              return read_posterior<std::conditional_t<S::shared, FullCovariance, S>>(from, d,
                                                                                      size);
            });
      }
    } else {
      const MemberReader q = in.object("posterior");
      const Vector alpha = read_above(q, "alpha", k, 0);
      const Matrix m = read_columns(q, "m", d, k);
      const double low = wishart_dimension<S>(d) - 1;
      const std::string prior = q.text("prior");
      if (prior == "linked") {
        fitted.linked = {alpha, read_posterior<S>(q, d, k)};
        fitted.point.components = point_estimate(fitted.linked->components);
      } else if (std::is_same_v<S, FullCovariance> && prior == "independent") {
        fitted.independent = {
            alpha,
            {m, read_scales<FullCovariance>(q, "C", d, k), read_above(q, "a", k, low),
             read_scales<FullCovariance>(q, "B", d, k)}};
        if constexpr (std::is_same_v<S, FullCovariance>)
          fitted.point.components = point_estimate(fitted.independent->components);
      } else {
        q.reject("prior", "must be linked, or with full covariance independent");
      }
      fitted.point.weights = alpha / alpha.sum();
      FactoredScale factored;  // dividing by a may have left the range of a double
      for (const Matrix &scale : fitted.point.components.covariance)
        if (!factor<S>(scale, d, factored)) q.reject("B", "divided by a must be positive definite");
    }
    state.fitted = std::move(fitted);
  });
  return model;
}

}  // namespace bayes
