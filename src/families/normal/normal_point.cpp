#include "families/normal/normal_point.hpp"

#include <cmath>
#include <numbers>

#include "base/control.hpp"

namespace bayes {

void accumulate(NormalPoint &sum, const NormalPoint &term, double factor) {
  sum.mean += factor * term.mean;
  for (std::size_t s = 0; s < sum.covariance.size(); ++s)
    sum.covariance[s] += factor * term.covariance[s];
}

NormalScorer make_scorer(const NormalPoint &point) {
  const int d = point.dimension(), k = point.components();
  const auto scales = factor_all(point.shape, point.covariance, d, "covariance");
  Vector constant(k);
  for (int j = 0; j < k; ++j)
    constant(j) = -0.5 * (d * std::log(2 * std::numbers::pi) +
                          scales[std::size_t(point.shape.index(j))].log_determinant);
  return {point.shape, point.mean, scales, std::move(constant)};
}

NormalPoint maximum_likelihood(const NormalStatistics &statistics, const NormalPoint &previous,
                               const CovarianceFloor &floor) {
  NormalPoint out = previous;
  const CovarianceShape &shape = previous.shape;
  const int d = statistics.dimension();
  const double total = statistics.total();
  for (int k = 0; k < statistics.components(); ++k)
    if (statistics.count(k) > dead_share * total) out.mean.col(k) = statistics.mean.col(k);
  for (std::size_t c = 0; c < out.covariance.size(); ++c) {
    poll_here();
    const double count = shape.shared ? total : statistics.count(Eigen::Index(c));
    if (!(count > dead_share * total)) continue;
    Matrix covariance = statistics.scatter[c] / (shape.isotropic ? count * d : count);
    if (!covariance.allFinite()) not_positive_definite("covariance", int(c));
    floor.apply(shape, covariance);
    out.covariance[c] = std::move(covariance);
  }
  return out;
}

double rows_needed(const NormalPoint &point) {
  return point.shape.shared ? 0 : point.shape.dense ? point.dimension() + 2 : 3;
}

std::vector<bool> at_floor(const NormalPoint &point, const CovarianceFloor &floor) {
  const std::vector<bool> scales = floor.reached(point.shape, point.covariance);
  std::vector<bool> out;
  for (int k = 0; k < point.components(); ++k)
    out.push_back(scales[std::size_t(point.shape.index(k))]);
  return out;
}

NormalPoint pick(const NormalPoint &point, const std::vector<int> &order) {
  NormalPoint out{point.shape, Matrix(point.mean.rows(), Eigen::Index(order.size())),
                  point.covariance};
  if (!point.shape.shared) out.covariance.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.mean.col(Eigen::Index(i)) = point.mean.col(order[i]);
    if (!point.shape.shared) out.covariance[i] = point.covariance[std::size_t(order[i])];
  }
  return out;
}

}  // namespace bayes
