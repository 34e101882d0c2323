// The base measure of a Dirichlet process mixture: from the user's options, and from the rows where they are silent.
#pragma once

#include "core/members.hpp"
#include "core/options.hpp"
#include "families/product.hpp"
#include "models/dpmm_options.hpp"
#include "models/gmm_prior.hpp"

namespace bayes {

/// Keys m, c, a, B of the multivariate normal's base measure.
struct NormalPriorOptions {
  std::optional<Tensor> m, B;
  std::optional<double> c, a;
};

inline NormalPriorOptions read_normal_prior(const Document &prior) {
  NormalPriorOptions out;
  OptionReader in(prior, "prior.");
  out.m = in.tensor("m", {-1});
  if (in.has("c")) out.c = in.number("c", 0, 0, 1e9, true);
  if (in.has("a")) out.a = in.number("a", 0, 0, 1e9, true);
  out.B = in.number_or_tensor("B");
  in.finish();
  return out;
}

/// The base measure of normal clusters. Where the user gave nothing, the prior that a Gaussian mixture of five components has (models/gmm_prior.hpp): m = the mean of the rows, c = 0.01, a = p + 2 (p = d for
/// full covariances, else 1), B = S / 5^(2/d), S the covariance of the rows in the shape's form.
template <class S> NormalWishart<S> dpmm_normal_prior(RowSource &rows, const DpmmOptions &options, Control &control) {
  const NormalPriorOptions given = read_normal_prior(options.prior);
  const Survey<S> known = survey<S>(rows, control);
  const int d = rows.shape().dimension, p = wishart_dimension<S>(d);
  Matrix scale;
  if constexpr (S::dense) scale = known.covariance;
  else if constexpr (S::isotropic) scale = Matrix::Constant(1, 1, known.variance.mean());
  else scale = known.variance;
  CovarianceFloor(known.variance, 1e-6).regularise<S>(scale);
  scale /= std::pow(5.0, 2.0 / d);
  if (given.B) scale = given_scale<S>("B", *given.B, d);
  Vector m = known.mean;
  if (given.m) {
    if (given.m->values.size() != std::size_t(d))
      throw Error(Errc::invalid_argument, "option \"prior.m\" has " + std::to_string(given.m->values.size()) + " numbers, but the rows have " + std::to_string(d));
    m = Eigen::Map<const Vector>(given.m->values.data(), d);
  }
  const double a = given.a.value_or(p + 2.0);
  if (!(a > p - 1)) throw Error(Errc::invalid_argument, "option \"prior.a\" is " + describe(a) + ", but must be above " + std::to_string(p - 1));
  return {m, Vector::Constant(1, given.c.value_or(0.01)), Vector::Constant(1, a), {scale}};
}

/// The base measure in force, as options can give it.
template <class S> Document prior_options(const NormalWishart<S> &q) {
  Document out = Document::object();
  out.set("m", Tensor{{q.m.rows()}, to_vector(q.m.col(0))}).set("c", q.c(0)).set("a", q.a(0));
  const Matrix &scale = q.B[0];
  if constexpr (S::isotropic) out.set("B", scale(0, 0));
  else if constexpr (S::dense) out.set("B", Tensor{{scale.rows(), scale.cols()}, std::vector<double>(scale.data(), scale.data() + scale.size())});
  else out.set("B", Tensor{{scale.rows()}, std::vector<double>(scale.data(), scale.data() + scale.size())});
  return out;
}

}  // namespace bayes
