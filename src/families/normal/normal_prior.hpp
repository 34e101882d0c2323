// The linked prior of normal components: from the user's options, and from a survey of the rows
// where they are silent.
#pragma once

#include <optional>
#include <string>

#include "document/members.hpp"
#include "data/local_step.hpp"
#include "document/options.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// Calls f with a value of the shape that the name says. The name must be one of the four.
template <class F> decltype(auto) with_shape(const std::string &name, F f) {
  if (name == FullCovariance::name) return f(FullCovariance{});
  if (name == DiagonalCovariance::name) return f(DiagonalCovariance{});
  if (name == SphericalCovariance::name) return f(SphericalCovariance{});
  return f(TiedCovariance{});
}

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
    return local_step<HardAllocation>(rows, control,
                                      NormalScorer<T>(about, {unit}, Vector::Zero(1)), {0.0})
        .statistics;
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
    throw Error(Errc::numeric, "the variance of the rows overflows",
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
  return out;
}

[[noreturn]] inline void wrong_shape(const char *key, const Tensor &given,
                                     const std::string &wanted) {
  throw Error(Errc::invalid_argument, std::string("option \"prior.") + key + "\" is " +
                                          describe_shape(given.shape) + ", but must be " + wanted);
}

/// A prior matrix in the shape's form from what the user gave: a number stands for that multiple of
/// the identity.
template <class S> Matrix given_scale(const char *key, const Tensor &given, int d) {
  Matrix out;
  if (given.shape.empty()) {
    out = S::dense ? Matrix(given.values[0] * Matrix::Identity(d, d))
                   : Matrix::Constant(scale_rows<S>(d), 1, given.values[0]);
  } else if (S::dense) {
    if (given.shape != std::vector<std::int64_t>{d, d})
      wrong_shape(
          key, given,
          "a number or an array of " + std::to_string(d) + " x " + std::to_string(d) + " numbers");
    out = Eigen::Map<const Matrix>(given.values.data(), d, d);
    if (out != out.transpose())
      throw Error(Errc::invalid_argument,
                  std::string("option \"prior.") + key + "\" is not symmetric");
  } else {
    if (S::isotropic || given.shape != std::vector<std::int64_t>{d})
      wrong_shape(
          key, given,
          S::isotropic ? "a number" : "a number or an array of " + std::to_string(d) + " numbers");
    out = Eigen::Map<const Vector>(given.values.data(), d);
  }
  FactoredScale factored;
  if (!factor<S>(out, d, factored))
    throw Error(Errc::invalid_argument,
                std::string("option \"prior.") + key + "\" is not positive definite");
  return out;
}

/// Keys m, c, a, B of the prior, as far as they were given.
struct NormalPriorKeys {
  std::optional<Vector> m;
  std::optional<double> c, a;
  std::optional<Tensor> B;

  /// Without `scaled_mean` there is no c.
  void read(OptionReader &in, bool scaled_mean = true) {
    if (const auto given = in.tensor("m", {-1}))
      m = Eigen::Map<const Vector>(given->values.data(), Eigen::Index(given->values.size()));
    if (scaled_mean && in.has("c")) c = in.number("c", 0, 0, 1e9, true);
    if (in.has("a")) a = in.number("a", 0, 0, 1e9, true);
    B = in.number_or_tensor("B");
  }
};

/// The prior of one component. Where the user gave nothing: m = the mean of the rows, c = 0.01, a =
/// p + 2 with p = d for full and tied covariances and 1 otherwise, B = the covariance of the rows
/// (in the shape's form, lifted to the floor) / k^(2/d), so that the prior expectation of a
/// covariance is B (Fraley and Raftery 2007).
template <class S>
NormalWishart<S> make_normal_prior(const NormalPriorKeys &given, const Survey<S> &rows, int k) {
  const int d = int(rows.mean.size()), p = wishart_dimension<S>(d);
  Matrix scale;
  if constexpr (S::dense)
    scale = rows.covariance;
  else if constexpr (S::isotropic)
    scale = Matrix::Constant(1, 1, rows.variance.mean());
  else
    scale = rows.variance;
  CovarianceFloor(rows.variance, 1e-6).regularise<S>(scale);
  scale /= std::pow(double(k), 2.0 / d);
  if (given.B) scale = given_scale<S>("B", *given.B, d);
  if (given.m && given.m->size() != d)
    throw Error(Errc::invalid_argument, "option \"prior.m\" has " +
                                            std::to_string(given.m->size()) +
                                            " numbers, but the rows have " + std::to_string(d));
  const double a = given.a.value_or(p + 2.0);
  if (!(a > p - 1))
    throw Error(Errc::invalid_argument, "option \"prior.a\" is " + describe(a) +
                                            ", but must be above " + std::to_string(p - 1));
  return {given.m.value_or(rows.mean),
          Vector::Constant(1, given.c.value_or(0.01)),
          Vector::Constant(1, a),
          {scale}};
}

/// A prior matrix as options can give it.
template <class S> Document scale_document(const Matrix &scale) {
  if constexpr (S::isotropic) return scale(0, 0);
  std::vector<std::int64_t> shape{scale.rows()};
  if constexpr (S::dense) shape.push_back(scale.cols());
  return Tensor{std::move(shape), std::vector<double>(scale.data(), scale.data() + scale.size())};
}

/// The prior in force, as options can give it; without c if the mean has a scale of its own.
template <class S>
void write_normal_prior(Document &out, const NormalWishart<S> &q, bool scaled_mean = true) {
  out.set("m", Tensor{{q.m.rows()}, to_vector(q.m.col(0))});
  if (scaled_mean) out.set("c", q.c(0));
  out.set("a", q.a(0)).set("B", scale_document<S>(q.B[0]));
}

}  // namespace bayes
