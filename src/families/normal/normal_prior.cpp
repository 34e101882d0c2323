#include "families/normal/normal_prior.hpp"

#include <cmath>

#include "base/aligned.hpp"
#include "data/local_step.hpp"
#include "document/members.hpp"

namespace bayes {

Survey survey(const CovarianceShape &shape, RowSource &rows, Control &control) {
  const int d = rows.shape().dimension;
  // The mean about the first row, then the scatter about the mean, so that no digits cancel.
  Vector first(d);
  Buffer block(rows.shape().block_doubles());
  rows.read_block(0, block.data());
  for (int j = 0; j < d; ++j) first(j) = block[std::size_t(j) * block_rows];
  const auto pass = [&](const CovarianceShape &of, const Vector &about) {
    FactoredScale unit;
    unit.whiten = of.dense ? Matrix(Matrix::Identity(d, d)) : Matrix(Vector::Ones(d));
    return local_step<HardAllocation>(rows, control,
                                      NormalScorer(of, about, {unit}, Vector::Zero(1)), {0.0})
        .statistics;
  };
  const Vector mean = pass(diagonal_covariance, first).mean.col(0);
  const auto statistics = pass(shape.dense ? full_covariance : diagonal_covariance, mean);
  const double weight = statistics.total();
  Survey out{shape, weight, statistics.mean.col(0), {}, {}};
  if (shape.dense) {
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

namespace {

[[noreturn]] void wrong_shape(const char *key, const Tensor &given, const std::string &wanted) {
  throw Error(Errc::invalid_argument, std::string("option \"prior.") + key + "\" is " +
                                          describe_shape(given.shape) + ", but must be " + wanted);
}

}  // namespace

Matrix given_scale(const CovarianceShape &shape, const char *key, const Tensor &given, int d) {
  Matrix out;
  if (given.shape.empty()) {
    out = shape.dense ? Matrix(given.values[0] * Matrix::Identity(d, d))
                      : Matrix::Constant(shape.rows(d), 1, given.values[0]);
  } else if (shape.dense) {
    if (given.shape != std::vector<std::int64_t>{d, d})
      wrong_shape(
          key, given,
          "a number or an array of " + std::to_string(d) + " x " + std::to_string(d) + " numbers");
    out = Eigen::Map<const Matrix>(given.values.data(), d, d);
    if (out != out.transpose())
      throw Error(Errc::invalid_argument,
                  std::string("option \"prior.") + key + "\" is not symmetric");
  } else {
    if (shape.isotropic || given.shape != std::vector<std::int64_t>{d})
      wrong_shape(key, given,
                  shape.isotropic ? "a number"
                                  : "a number or an array of " + std::to_string(d) + " numbers");
    out = Eigen::Map<const Vector>(given.values.data(), d);
  }
  FactoredScale factored;
  if (!factor(shape, out, d, factored))
    throw Error(Errc::invalid_argument,
                std::string("option \"prior.") + key + "\" is not positive definite");
  return out;
}

NormalWishart make_normal_prior(const NormalPriorKeys &given, const Survey &rows, int k) {
  const CovarianceShape &shape = rows.shape;
  const int d = int(rows.mean.size()), p = shape.wishart_dimension(d);
  Matrix scale;
  if (shape.dense)
    scale = rows.covariance;
  else if (shape.isotropic)
    scale = Matrix::Constant(1, 1, rows.variance.mean());
  else
    scale = rows.variance;
  CovarianceFloor(rows.variance, 1e-6).regularise(shape, scale);
  scale /= std::pow(double(k), 2.0 / d);
  if (given.B) scale = given_scale(shape, "B", *given.B, d);
  if (given.m && given.m->size() != d)
    throw Error(Errc::invalid_argument, "option \"prior.m\" has " +
                                            std::to_string(given.m->size()) +
                                            " numbers, but the rows have " + std::to_string(d));
  const double a = given.a.value_or(p + 2.0);
  if (!(a > p - 1))
    throw Error(Errc::invalid_argument, "option \"prior.a\" is " + describe(a) +
                                            ", but must be above " + std::to_string(p - 1));
  return {shape,
          given.m.value_or(rows.mean),
          Vector::Constant(1, given.c.value_or(0.01)),
          Vector::Constant(1, a),
          {scale}};
}

Document scale_document(const CovarianceShape &shape, const Matrix &scale) {
  if (shape.isotropic) return scale(0, 0);
  std::vector<std::int64_t> size{scale.rows()};
  if (shape.dense) size.push_back(scale.cols());
  return Tensor{std::move(size), std::vector<double>(scale.data(), scale.data() + scale.size())};
}

void write_normal_prior(Document &out, const NormalWishart &q, bool scaled_mean) {
  const CovarianceShape &shape = q.shape;
  out.set("m", Tensor{{q.m.rows()}, to_vector(q.m.col(0))});
  if (scaled_mean) out.set("c", q.c(0));
  out.set("a", q.a(0)).set("B", scale_document(q.shape, q.B[0]));
}

void NormalPriorKeys::read(OptionReader &in, bool scaled_mean) {
  if (const auto given = in.tensor("m", {-1}))
    m = Eigen::Map<const Vector>(given->values.data(), Eigen::Index(given->values.size()));
  if (scaled_mean && in.has("c")) c = in.number("c", 0, 0, 1e9, true);
  if (in.has("a")) a = in.number("a", 0, 0, 1e9, true);
  B = in.number_or_tensor("B");
}

}  // namespace bayes
