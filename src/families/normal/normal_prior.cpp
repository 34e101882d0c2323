#include "families/normal/normal_prior.hpp"

#include <cmath>

#include "base/aligned.hpp"
#include "base/message.hpp"
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
  for (int j = 0; j < d; ++j)
    if (out.variance(j) < least_variance) require_constant(rows, j, control);
  return out;
}

namespace {

[[noreturn]] void wrong_shape(const char *key, const Tensor &given, const std::string &wanted) {
  throw Error(Errc::invalid_argument, message("option \"prior.{}\" is {}, but must be {}", key,
                                              describe_shape(given.shape), wanted));
}

}  // namespace

Matrix given_scale(const CovarianceShape &shape, const char *key, const Tensor &given, int d) {
  Matrix out;
  if (given.shape.empty()) {
    out = shape.dense ? Matrix(given.values[0] * Matrix::Identity(d, d))
                      : Matrix::Constant(shape.rows(d), 1, given.values[0]);
  } else if (shape.dense) {
    if (given.shape != std::vector<std::int64_t>{d, d})
      wrong_shape(key, given, message("a number or an array of {} x {} numbers", d, d));
    out = Eigen::Map<const Matrix>(given.values.data(), d, d);
    if (out != out.transpose())
      throw Error(Errc::invalid_argument, message("option \"prior.{}\" is not symmetric", key));
  } else {
    if (shape.isotropic || given.shape != std::vector<std::int64_t>{d})
      wrong_shape(key, given,
                  shape.isotropic ? "a number" : message("a number or an array of {} numbers", d));
    out = Eigen::Map<const Vector>(given.values.data(), d);
  }
  FactoredScale factored;
  if (!factor(shape, out, d, factored))
    throw Error(Errc::invalid_argument,
                message("option \"prior.{}\" is not positive definite", key));
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
  Vector mean = rows.mean;
  if (given.m) {
    const std::vector<double> &m = given.m->values;
    if (m.size() != std::size_t(d))
      throw Error(Errc::invalid_argument,
                  message("option \"prior.m\" has {} numbers, but the rows have {}", m.size(), d));
    mean = Eigen::Map<const Vector>(m.data(), d);
  }
  const double a = given.a.value_or(p + 2.0);
  if (!(a > p - 1))
    throw Error(Errc::invalid_argument,
                message("option \"prior.a\" is {}, but must be above {}", describe(a), p - 1));
  return {
      shape, mean, Vector::Constant(1, given.c.value_or(0.01)), Vector::Constant(1, a), {scale}};
}

Tensor scale_tensor(const CovarianceShape &shape, const Matrix &scale) {
  Tensor out{{}, {scale.data(), scale.data() + scale.size()}};
  if (!shape.isotropic) out.shape.push_back(scale.rows());
  if (shape.dense) out.shape.push_back(scale.cols());
  return out;
}

NormalPriorKeys keys_of(const NormalWishart &prior) {
  NormalPriorKeys out;
  out.m = Tensor{{prior.m.rows()}, to_vector(prior.m.col(0))};
  out.c = prior.c(0);
  out.a = prior.a(0);
  out.B = scale_tensor(prior.shape, prior.B[0]);
  return out;
}

void write_normal_prior(Document &out, const NormalWishart &prior) {
  OptionTable t = OptionTable::writing(std::move(out));
  keys_of(prior).lines(t);
  out = t.document();
}

}  // namespace bayes
