// A Dirichlet process mixture as a document, and back with every number checked.
#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "families/normal/normal_document.hpp"
#include "families/product/product_document.hpp"
#include "mixture/dpmm_state.hpp"

namespace bayes {
namespace {

Document numbers(const std::vector<double> &values) {
  return Tensor{{std::int64_t(values.size())}, values};
}

/// Whole numbers from `low` up to the largest int.
template <class T>
std::vector<T> read_counts(const MemberReader &in, const char *key, std::int64_t size, double low) {
  std::vector<T> out;
  for (const double value : in.tensor(key, {size}).values) {
    if (!(value >= low && value <= 2147483647.0 && value == std::floor(value)))
      in.reject(key, message("must hold whole numbers of at least {}", low));
    out.push_back(T(value));
  }
  return out;
}

std::vector<double> read_shares(const MemberReader &in, const char *key,
                                const std::vector<std::int64_t> &shape) {
  std::vector<double> out = in.tensor(key, shape).values;
  for (const double value : out)
    if (!(value >= 0 && value <= 1)) in.reject(key, "must hold numbers from 0 to 1");
  return out;
}

/// Requires the quantities of every draw, of bayes_draws.
void require_quantities(const MemberReader &in) {
  if (!in.has("draws")) return;
  const MemberReader draws = in.object("draws");
  const auto *const given = draws.value("quantities").as<Document::List>();
  for (const char *const name : {"log_joint", "clusters", "concentration"})
    if (!given || std::none_of(given->begin(), given->end(), [&](const Document &each) {
          const auto *const text = each.as<std::string>();
          return text && *text == name;
        }))
      draws.reject("quantities", message("lacks {}", describe(name)));
}

template <class Q>
void write_fitted(Document &document, const DpmmFitted<Q> &fitted, std::int64_t clusters) {
  Document prior, estimate, draws;
  write_posterior(prior, fitted.prior);
  write_posterior(estimate, fitted.clusters);
  write_posterior(draws, fitted.components);
  draws.set("sizes", numbers({fitted.sizes.begin(), fitted.sizes.end()}))
      .set("rest", numbers(fitted.rest))
      .set("weights", numbers(fitted.weights));
  draws.set("shares", Tensor{{std::int64_t(fitted.weights.size()), clusters}, fitted.shares});
  document.set("base", std::move(prior))
      .set("clusters", std::move(estimate))
      .set("components_of_draws", std::move(draws));
}

template <class Q, class Read>
DpmmFitted<Q> read_fitted(const MemberReader &in, int clusters, Read read) {
  DpmmFitted<Q> out;
  out.prior = read(in.object("base"), 1);
  out.clusters = read(in.object("clusters"), clusters);
  const MemberReader draws = in.object("components_of_draws");
  out.sizes = read_counts<int>(draws, "sizes", -1, 1);
  if (out.sizes.empty()) draws.reject("sizes", "must not be empty");
  std::int64_t all = 0;
  for (const int size : out.sizes) all += size;
  out.rest = read_shares(draws, "rest", {std::int64_t(out.sizes.size())});
  out.weights = read_shares(draws, "weights", {all});
  out.shares = read_shares(draws, "shares", {all, clusters});
  std::size_t at = 0;
  for (std::size_t s = 0; s < out.sizes.size(); ++s) {
    double sum = out.rest[s];
    for (int k = 0; k < out.sizes[s]; ++k) sum += out.weights[at++];
    if (!(std::abs(sum - 1) < 1e-9)) draws.reject("weights", "and rest of a draw must sum to 1");
  }
  out.components = read(draws, int(all));
  return out;
}

void write_likelihood(Document &document, const NormalWishart &prior) {
  document.set("likelihood", prior.shape.name);
}
void write_likelihood(Document &document, const ProductPosterior &prior) {
  document.set("likelihood", "product");
  write_columns(document, *prior.columns);
}

}  // namespace

void DirichletProcessMixture::write(Document &document) const {
  const DpmmEstimate &e = state->estimate;
  Document estimate;
  estimate.set("loss", e.loss)
      .set("optimal", e.optimal)
      .set("draws", e.draws)
      .set("fewest_clusters", e.fewest_clusters)
      .set("most_clusters", e.most_clusters);
  if (!std::isnan(e.expected_loss))
    estimate.set("expected_loss", e.expected_loss).set("level", e.level).set("radius", e.radius);
  if (!std::isnan(e.mcse)) estimate.set("mcse", e.mcse);
  document.set("concentration", state->concentration).set("estimate", std::move(estimate));
  document.set("counts", numbers({state->counts.begin(), state->counts.end()}));
  std::visit(
      [&]<class Q>(const DpmmFitted<Q> &fitted) {
        write_likelihood(document, fitted.prior);
        write_fitted(document, fitted, size());
      },
      state->fitted);
  if (state->deviations)
    document.set("deviations", columns(*state->deviations))
        .set("weight_deviations", tensor(*state->weight_deviations));
}

std::unique_ptr<Model> read_dirichlet_process_mixture(const Document &document) {
  auto model = std::make_unique<DirichletProcessMixture>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, dpmm_methods, dpmm_max_dimension, dpmm_max_clusters);
  const int d = info.dimension, k = info.components;
  auto &state = *model->state;
  require_quantities(in);
  state.concentration = in.number("concentration", 0, 1e300, true);
  const MemberReader estimate = in.object("estimate");
  DpmmEstimate &e = state.estimate;
  e.loss = estimate.text("loss");
  e.clusters = k;
  e.optimal = estimate.boolean("optimal");
  e.draws = int(estimate.integer("draws", 1, 2147483647));
  e.fewest_clusters = int(estimate.integer("fewest_clusters", 1, 2147483647));
  e.most_clusters = int(estimate.integer("most_clusters", 1, 2147483647));
  e.expected_loss = e.level = e.radius = std::numeric_limits<double>::quiet_NaN();
  if (estimate.has("expected_loss")) {
    e.expected_loss = estimate.number("expected_loss", 0, 64);
    e.level = estimate.number("level", 0, 1, true);
    e.radius = estimate.number("radius", 0, 64);
    if (estimate.has("mcse")) e.mcse = estimate.number("mcse", 0, 64);
  }
  state.counts = read_counts<std::int64_t>(in, "counts", k, 1);
  const auto read_deviations = [&](int numbers) {
    if (!in.has("deviations") && !in.has("weight_deviations")) return;
    state.deviations = read_columns(in, "deviations", numbers, k);
    state.weight_deviations = read_vector(in, "weight_deviations", k);
    if (!(state.deviations->minCoeff() >= 0)) in.reject("deviations", "must not be negative");
    if (!(state.weight_deviations->minCoeff() >= 0))
      in.reject("weight_deviations", "must not be negative");
  };
  const auto require_components = [&](int components) {
    if (state.deviations && components < k)
      in.reject("deviations", "need the clusters among components_of_draws");
  };
  const std::string likelihood = in.text("likelihood");
  if (likelihood == "product") {
    const SharedColumns columns = read_product_columns(in, d);
    read_deviations(columns->size().point);
    state.fitted = read_fitted<ProductPosterior>(in, k, [&](const MemberReader &from, int size) {
      return read_posterior(from, columns, size);
    });
    require_components(std::get<DpmmFitted<ProductPosterior>>(state.fitted).sizes[0]);
    return model;
  }
  const CovarianceShape *const shape = covariance_named(likelihood);
  if (!shape || shape->shared)
    in.reject("likelihood", "must be product, full, diagonal or spherical");
  state.fitted = read_fitted<NormalWishart>(in, k, [&](const MemberReader &from, int size) {
    return read_posterior(*shape, from, d, size);
  });
  read_deviations(2 * d);
  require_components(std::get<DpmmFitted<NormalWishart>>(state.fitted).sizes[0]);
  return model;
}

}  // namespace bayes
