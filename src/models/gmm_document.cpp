// A Gaussian mixture as a document, and back with every number checked.
//
// A model with a posterior stores that alone: its point estimate follows from it.
#include <cmath>

#include "core/members.hpp"
#include "models/gmm_scorer.hpp"
#include "models/gmm_state.hpp"

namespace bayes {
namespace {

Tensor tensor(const Vector &v) { return {{v.size()}, to_vector(v)}; }

/// K x d from the columns of a d x K matrix.
Tensor columns(const Matrix &m) { return {{m.cols(), m.rows()}, std::vector<double>(m.data(), m.data() + m.size())}; }

std::vector<std::int64_t> scale_shape(bool dense, bool shared, bool isotropic, std::int64_t d, std::int64_t k) {
  std::vector<std::int64_t> shape;
  if (!shared) shape.push_back(k);
  if (!isotropic) shape.push_back(d);
  if (dense) shape.push_back(d);
  return shape;
}

template <class S> Tensor scales(const std::vector<Matrix> &m, int d) {
  Tensor out{scale_shape(S::dense, S::shared, S::isotropic, d, std::int64_t(m.size())), {}};
  for (const Matrix &scale : m) out.values.insert(out.values.end(), scale.data(), scale.data() + scale.size());
  return out;
}

Vector read_vector(const MemberReader &in, const char *key, std::int64_t size) {
  const Tensor t = in.tensor(key, {size});
  return Eigen::Map<const Vector>(t.values.data(), Eigen::Index(t.values.size()));
}

Matrix read_columns(const MemberReader &in, const char *key, std::int64_t d, std::int64_t k) {
  const Tensor t = in.tensor(key, {k, d});
  return Eigen::Map<const Matrix>(t.values.data(), d, k);
}

template <class S> std::vector<Matrix> read_scales(const MemberReader &in, const char *key, int d, int k) {
  const Tensor t = in.tensor(key, scale_shape(S::dense, S::shared, S::isotropic, d, k));
  std::vector<Matrix> out;
  const int rows = scale_rows<S>(d), cols = scale_columns<S>(d);
  for (int c = 0; c < scale_count<S>(k); ++c) {
    Matrix m = Eigen::Map<const Matrix>(t.values.data() + std::ptrdiff_t(c) * rows * cols, rows, cols);
    if (S::dense && m != m.transpose()) in.reject(key, "must hold symmetric matrices; number " + std::to_string(c + 1) + " is not");
    FactoredScale factored;
    if (!factor<S>(m, d, factored)) in.reject(key, "must be positive definite; number " + std::to_string(c + 1) + " is not");
    out.push_back(std::move(m));
  }
  return out;
}

Vector read_above(const MemberReader &in, const char *key, std::int64_t size, double bound) {
  Vector v = read_vector(in, key, size);
  if (!(v.minCoeff() > bound)) in.reject(key, "must be above " + std::to_string(int(bound)));
  return v;
}

}  // namespace

void GaussianMixture::write(Document &document) const {
  document.set("weight", state->weight).set("entropy", state->entropy).set("covariance", covariance()).set("counts", tensor(state->counts));
  std::visit(
      [&](const auto &fitted) {
        using S = typename std::decay_t<decltype(fitted)>::Shape;
        const int d = dimension();
        Document posterior;
        if (fitted.linked) {
          const auto &q = fitted.linked->components;
          posterior.set("prior", "linked").set("alpha", tensor(fitted.linked->alpha)).set("m", columns(q.m)).set("c", tensor(q.c));
          posterior.set("a", tensor(q.a)).set("B", scales<S>(q.B, d));
        } else if (fitted.independent) {
          const auto &q = fitted.independent->components;
          posterior.set("prior", "independent").set("alpha", tensor(fitted.independent->alpha)).set("m", columns(q.m));
          posterior.set("C", scales<FullCovariance>(q.C, d)).set("a", tensor(q.a)).set("B", scales<FullCovariance>(q.B, d));
        }
        if (!posterior.is_null()) {
          document.set("posterior", std::move(posterior));
          return;
        }
        document.set("weights", tensor(fitted.point.weights)).set("means", columns(fitted.point.components.mean));
        document.set("covariances", scales<S>(fitted.point.components.covariance, d));
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
  if (covariance != "full" && covariance != "diagonal" && covariance != "spherical" && covariance != "tied")
    in.reject("covariance", "must be full, diagonal, spherical or tied");
  with_shape(covariance, [&](auto shape) {
    using S = decltype(shape);
    GmmFitted<S> fitted;
    if (!in.has("posterior")) {
      fitted.point.weights = read_vector(in, "weights", k);
      if (!(fitted.point.weights.minCoeff() >= 0) || !(std::abs(fitted.point.weights.sum() - 1) < 1e-9))
        in.reject("weights", "must not be negative and must sum to 1");
      fitted.point.components = {read_columns(in, "means", d, k), read_scales<S>(in, "covariances", d, k)};
    } else {
      const MemberReader q = in.object("posterior");
      const Vector alpha = read_above(q, "alpha", k, 0);
      const Matrix m = read_columns(q, "m", d, k);
      const double low = wishart_dimension<S>(d) - 1;
      const std::string prior = q.text("prior");
      if (prior == "linked") {
        fitted.linked = {alpha, {m, read_above(q, "c", k, 0), read_above(q, "a", scale_count<S>(k), low), read_scales<S>(q, "B", d, k)}};
        fitted.point.components = point_estimate(fitted.linked->components);
      } else if (std::is_same_v<S, FullCovariance> && prior == "independent") {
        fitted.independent = {alpha, {m, read_scales<FullCovariance>(q, "C", d, k), read_above(q, "a", k, low), read_scales<FullCovariance>(q, "B", d, k)}};
        if constexpr (std::is_same_v<S, FullCovariance>) fitted.point.components = point_estimate(fitted.independent->components);
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
