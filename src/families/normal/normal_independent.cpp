#include "families/normal/normal_independent.hpp"

#include <cmath>
#include <numbers>

namespace bayes {

Matrix inverse(const FactoredScale &factored) {
  const Matrix square = transposed_product(factored.whiten, factored.whiten);
  // symmetric to the last bit, as stored models must be
  return 0.5 * (square + square.transpose());
}

NormalIndependent posterior(const NormalStatistics &statistics, const NormalIndependent &prior,
                            const NormalIndependent &previous) {
  const CovarianceShape &shape = full_covariance;
  NormalIndependent out = prior;
  const int d = prior.dimension();
  const auto prior_mean = factor_all(shape, prior.C, d, "prior covariance C"),
             scale = factor_all(shape, previous.B, d, "posterior scale B");
  for (int k = 0; k < prior.components(); ++k) {
    const std::size_t s = std::size_t(k);
    const double n = statistics.count(k);
    const Matrix before = inverse(prior_mean[s]), data = n * previous.a(k) * inverse(scale[s]);
    FactoredScale precision;
    if (!factor(shape, before + data, d, precision))
      not_positive_definite("precision of the mean", k);
    out.C[s] = inverse(precision);
    // About the prior mean, so that large coordinates do not cancel.
    out.m.col(k) =
        prior.m.col(k) +
        product(out.C[s], product(data, Vector(statistics.mean.col(k) - prior.m.col(k))));
    out.a(k) += n;
    const Vector difference = statistics.mean.col(k) - out.m.col(k);
    out.B[s] += statistics.scatter[s] + n * (difference * difference.transpose() + out.C[s]);
  }
  return out;
}

NormalScorer make_scorer(const NormalIndependent &q) {
  const CovarianceShape &shape = full_covariance;
  const int d = q.dimension();
  std::vector<FactoredScale> scales = factor_all(shape, q.B, d, "posterior scale B");
  Vector constant(q.components());
  for (int k = 0; k < q.components(); ++k) {
    FactoredScale &scale = scales[std::size_t(k)];
    constant(k) = 0.5 * (expected_log_determinant(shape, q.a(k), scale, d) -
                         d * std::log(2 * std::numbers::pi) -
                         q.a(k) * trace_solve(shape, q.C[std::size_t(k)], scale));
  }
  for (int k = 0; k < q.components(); ++k) scales[std::size_t(k)].whiten *= std::sqrt(q.a(k));
  return {full_covariance, q.m, scales, std::move(constant)};
}

double divergence(const NormalIndependent &q, const NormalIndependent &prior) {
  const CovarianceShape &shape = full_covariance;
  const int d = q.dimension();
  const auto b = factor_all(shape, q.B, d, "posterior scale B"),
             b0 = factor_all(shape, prior.B, d, "prior scale B");
  const auto c = factor_all(shape, q.C, d, "posterior covariance of the mean"),
             c0 = factor_all(shape, prior.C, d, "prior covariance C");
  double total = 0;
  for (int k = 0; k < q.components(); ++k) {
    const std::size_t s = std::size_t(k);
    total += (q.a(k) - prior.a(k)) / 2 * expected_log_determinant(shape, q.a(k), b[s], d) +
             q.a(k) / 2 * (trace_solve(shape, prior.B[s], b[s]) - d) +
             wishart_log_normaliser(shape, q.a(k), b[s], d) -
             wishart_log_normaliser(shape, prior.a(k), b0[s], d);
    total +=
        0.5 * (trace_solve(shape, q.C[s], c0[s]) + c0[s].quadratic(q.m.col(k) - prior.m.col(k)) -
               d + c0[s].log_determinant - c[s].log_determinant);
  }
  return total;
}

NormalIndependent natural_gradient_step(const NormalIndependent &q, const NormalIndependent &target,
                                        double rho) {
  const CovarianceShape &shape = full_covariance;
  NormalIndependent out = q;
  const int d = q.dimension();
  const auto c1 = factor_all(shape, q.C, d, "posterior covariance of the mean"),
             c2 = factor_all(shape, target.C, d, "posterior covariance of the mean");
  out.a = (1 - rho) * q.a + rho * target.a;
  for (int k = 0; k < q.components(); ++k) {
    const std::size_t s = std::size_t(k);
    const Matrix p1 = (1 - rho) * inverse(c1[s]), p2 = rho * inverse(c2[s]);
    FactoredScale precision;
    if (!factor(shape, p1 + p2, d, precision)) not_positive_definite("precision of the mean", k);
    out.C[s] = inverse(precision);
    out.m.col(k) = q.m.col(k) + out.C[s] * (p2 * (target.m.col(k) - q.m.col(k)));
    out.B[s] = (1 - rho) * q.B[s] + rho * target.B[s];
  }
  return out;
}

NormalIndependent pick(const NormalIndependent &q, const std::vector<int> &order) {
  NormalIndependent out{
      Matrix(q.m.rows(), Eigen::Index(order.size())), {}, Vector(Eigen::Index(order.size())), {}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.m.col(Eigen::Index(i)) = q.m.col(order[i]);
    out.a(Eigen::Index(i)) = q.a(order[i]);
    out.C.push_back(q.C[std::size_t(order[i])]);
    out.B.push_back(q.B[std::size_t(order[i])]);
  }
  return out;
}

NormalPoint point_estimate(const NormalIndependent &q) {
  NormalPoint out{full_covariance, q.m, q.B};
  for (int k = 0; k < q.components(); ++k) out.covariance[std::size_t(k)] /= q.a(k);
  return out;
}

}  // namespace bayes
