// What a fit of a Gaussian mixture takes from the rows before it begins: a survey, and the prior where the user gave none.
#pragma once

#include "core/members.hpp"
#include "models/gmm_options.hpp"
#include "models/gmm_state.hpp"

namespace bayes {

/// What has to be known of all rows before a fit begins.
template <class S> struct Survey {
  double weight;      // of all rows
  Vector mean;        // d
  Vector variance;    // d, maximum likelihood
  Matrix covariance;  // d x d for dense shapes, else empty
};

template <class S> Survey<S> survey(RowSource &rows, Control &control) {
  const int d = rows.shape().dimension;
  // About the first row for the mean, then about the mean for the scatter, so that nothing cancels.
  Vector first(d);
  Buffer block(rows.shape().block_doubles());
  rows.read_block(0, block.data());
  for (int j = 0; j < d; ++j) first(j) = block[std::size_t(j) * block_rows];
  const auto pass = [&]<class T>(T, const Vector &about) {
    FactoredScale unit;
    unit.whiten = T::dense ? Matrix(Matrix::Identity(d, d)) : Matrix(Vector::Ones(d));
    return local_step<HardAllocation>(rows, control, NormalScorer<T>(about, {unit}, Vector::Zero(1)), {0.0}).statistics;
  };
  const Vector mean = pass(DiagonalCovariance{}, first).mean.col(0);
  using T = std::conditional_t<S::dense, FullCovariance, DiagonalCovariance>;
  const auto statistics = pass(T{}, mean);
  const double weight = statistics.total();
  Survey<S> out{weight, statistics.mean.col(0), {}, {}};
  if constexpr (S::dense) {
    out.covariance = statistics.scatter[0] / weight;
    out.variance = out.covariance.diagonal();
  } else {
    out.variance = statistics.scatter[0].col(0) / weight;
  }
  if (!out.mean.allFinite() || !out.variance.allFinite())
    throw Error(Errc::numeric, "the variance of the rows overflows", "Values or weights are too large for double precision.", "Rescale the columns or the weights.");
  return out;
}

[[noreturn]] inline void wrong_shape(const char *key, const Tensor &given, const std::string &wanted) {
  throw Error(Errc::invalid_argument, std::string("option \"prior.") + key + "\" is " + describe_shape(given.shape) + ", but must be " + wanted);
}

/// A prior matrix in the shape's form from what the user gave: a number stands for that multiple of the identity.
template <class S> Matrix given_scale(const char *key, const Tensor &given, int d) {
  Matrix out;
  if (given.shape.empty()) {
    out = S::dense ? Matrix(given.values[0] * Matrix::Identity(d, d)) : Matrix::Constant(scale_rows<S>(d), 1, given.values[0]);
  } else if (S::dense) {
    if (given.shape != std::vector<std::int64_t>{d, d}) wrong_shape(key, given, "a number or an array of " + std::to_string(d) + " x " + std::to_string(d) + " numbers");
    out = Eigen::Map<const Matrix>(given.values.data(), d, d);
    if (out != out.transpose()) throw Error(Errc::invalid_argument, std::string("option \"prior.") + key + "\" is not symmetric");
  } else {
    if (S::isotropic || given.shape != std::vector<std::int64_t>{d})
      wrong_shape(key, given, S::isotropic ? "a number" : "a number or an array of " + std::to_string(d) + " numbers");
    out = Eigen::Map<const Vector>(given.values.data(), d);
  }
  FactoredScale factored;
  if (!factor<S>(out, d, factored)) throw Error(Errc::invalid_argument, std::string("option \"prior.") + key + "\" is not positive definite");
  return out;
}

/// The prior of all k components. Where the user gave nothing: alpha = 1, m = the mean of the rows, c = 0.01, a = p + 2 with p = d for full and tied
/// covariances and 1 otherwise, B = the covariance of the rows (in the shape's form, lifted to the floor) / k^(2/d), so that the prior
/// expectation of a covariance is B (Fraley and Raftery 2007); C = B / 0.01.
template <class S> struct Prior {
  MixturePosterior<NormalWishart<S>> linked;
  MixturePosterior<NormalIndependent> independent;  // used if options.independent
};

template <class S> Prior<S> make_prior(const GmmOptions &options, const Survey<S> &rows, int k) {
  const int d = int(rows.mean.size()), p = wishart_dimension<S>(d);
  Matrix scale;
  if constexpr (S::dense) scale = rows.covariance;
  else if constexpr (S::isotropic) scale = Matrix::Constant(1, 1, rows.variance.mean());
  else scale = rows.variance;
  CovarianceFloor(rows.variance, 1e-6).regularise<S>(scale);
  scale /= std::pow(double(k), 2.0 / d);
  if (options.B) scale = given_scale<S>("B", *options.B, d);
  if (options.m && options.m->size() != d)
    throw Error(Errc::invalid_argument, "option \"prior.m\" has " + std::to_string(options.m->size()) + " numbers, but the rows have " + std::to_string(d));
  const Vector m = options.m.value_or(rows.mean);
  const double a = options.a.value_or(p + 2.0), c = options.c.value_or(0.01);
  if (!(a > p - 1))
    throw Error(Errc::invalid_argument, "option \"prior.a\" is " + describe(a) + ", but must be above " + std::to_string(p - 1));
  const int sharing = S::shared ? k : 1;  // components with one scale
  if (options.method == "map" && !(mode_divisor<S>(a, sharing, d) > 0))
    throw Error(Errc::invalid_argument, "option \"prior.a\" is " + describe(a) + ", but method map needs a prior with a mode",
                "An empty component would have no most probable covariance.", "Raise prior.a above " + describe(a - mode_divisor<S>(a, sharing, d)) + ".");
  const Vector alpha = Vector::Constant(k, options.alpha);
  Prior<S> out;
  out.linked = {alpha, {m.replicate(1, k), Vector::Constant(k, c), Vector::Constant(scale_count<S>(k), a),
                        std::vector<Matrix>(std::size_t(scale_count<S>(k)), scale)}};
  if constexpr (std::is_same_v<S, FullCovariance>)
    if (options.independent) {
      const Matrix of_mean = options.C ? given_scale<S>("C", *options.C, d) : Matrix(scale / 0.01);
      out.independent = {alpha, {m.replicate(1, k), std::vector<Matrix>(std::size_t(k), of_mean), Vector::Constant(k, a), std::vector<Matrix>(std::size_t(k), scale)}};
    }
  return out;
}

/// The prior in force, as options can give it.
template <class S> Document prior_document(const GmmOptions &options, const Prior<S> &prior) {
  Document out = Document::object();
  out.set("type", options.independent ? "independent" : "linked").set("alpha", options.alpha);
  const auto scale = [](const Matrix &m) {
    if constexpr (S::isotropic) return Document(m(0, 0));
    std::vector<std::int64_t> shape{m.rows()};
    if constexpr (S::dense) shape.push_back(m.cols());
    return Document(Tensor{std::move(shape), std::vector<double>(m.data(), m.data() + m.size())});
  };
  const auto &q = prior.linked.components;
  out.set("m", Tensor{{q.m.rows()}, to_vector(q.m.col(0))});
  if (options.independent) out.set("C", scale(prior.independent.components.C[0]));
  else out.set("c", q.c(0));
  out.set("a", q.a(0)).set("B", scale(q.B[0]));
  return out;
}

}  // namespace bayes
