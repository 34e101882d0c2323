// A Bernoulli mixture as a document, and back with every number checked.
//
// A model with a posterior stores that alone: its point estimate follows from it.
#include <cmath>

#include "families/normal/normal_document.hpp"
#include "families/product/product_document.hpp"
#include "mixture/bmm_state.hpp"

namespace bayes {

void BernoulliMixture::write(Document &document) const {
  document.set("weight", state->weight)
      .set("entropy", state->entropy)
      .set("counts", tensor(state->counts));
  write_columns(document, state->columns());
  Document numbers = Document::object();
  if (state->posterior) {
    numbers.set("alpha", tensor(state->posterior->alpha));
    write_posterior(numbers, state->posterior->components);
    document.set("posterior", std::move(numbers));
    if (state->deviations) document.set("deviations", bayes::columns(*state->deviations));
    if (state->weight_deviations)
      document.set("weight_deviations", tensor(*state->weight_deviations));
  } else {
    numbers.set("weights", tensor(state->point.weights));
    write_point(numbers, state->point.components);
    document.set("point", std::move(numbers));
    if (state->draws) document.set("posterior_draws", draws_document(*state->draws));
  }
}

std::unique_ptr<Model> read_bernoulli_mixture(const Document &document) {
  auto model = std::make_unique<BernoulliMixture>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, bmm_methods, bmm_max_dimension, bmm_max_components);
  const int d = info.dimension, k = info.components;
  auto &state = *model->state;
  read_totals(in, k, state);
  const SharedColumns columns = read_product_columns(in, d);
  if (in.has("posterior")) {
    const MemberReader q = in.object("posterior");
    const Vector alpha = read_above(q, "alpha", k, 0);
    if (!std::isfinite(alpha.sum())) q.reject("alpha", "must have a finite sum");
    state.posterior = {alpha, read_posterior(q, columns, k)};
    state.point = {mean_weights(alpha), point_estimate(state.posterior->components)};
    if (in.has("deviations")) {
      state.deviations = bayes::read_columns(in, "deviations", columns->size().point, k);
      if (!(state.deviations->minCoeff() >= 0)) in.reject("deviations", "must not be negative");
    }
    if (in.has("weight_deviations")) {
      state.weight_deviations = read_vector(in, "weight_deviations", k);
      if (!(state.weight_deviations->minCoeff() >= 0))
        in.reject("weight_deviations", "must not be negative");
    }
  } else {
    const MemberReader point = in.object("point");
    state.point.weights = read_weights(point, k);
    state.point.components = read_point(point, columns, k);
    if (in.has("posterior_draws"))
      state.draws = read_draws<ProductPosterior>(in.object("posterior_draws"), k,
                                                 [&columns](const MemberReader &from, int size) {
                                                   return read_posterior(from, columns, size);
                                                 });
  }
  return model;
}

}  // namespace bayes
