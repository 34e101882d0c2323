#include "families/normal/normal_wishart.hpp"

#include <cmath>
#include <numbers>

#include "base/special.hpp"

namespace bayes {

double own_log_determinant(const CovarianceShape &shape, const FactoredScale &factored, int d) {
  return factored.log_determinant / shape.determinant_power(d);
}

double expected_log_determinant(const CovarianceShape &shape, double a, const FactoredScale &b,
                                int d) {
  const int p = shape.wishart_dimension(d);
  return shape.determinant_power(d) *
         (shape.wishart_copies(d) * (p * std::numbers::ln2 + wishart_digamma(a, p)) -
          own_log_determinant(shape, b, d));
}

double wishart_log_normaliser(const CovarianceShape &shape, double a, const FactoredScale &b,
                              int d) {
  const int p = shape.wishart_dimension(d);
  return a / 2 * own_log_determinant(shape, b, d) -
         shape.wishart_copies(d) *
             (a * p / 2 * std::numbers::ln2 + log_multivariate_gamma(a / 2, p));
}

NormalWishart posterior(const NormalStatistics &statistics, const NormalWishart &prior) {
  const CovarianceShape &shape = statistics.shape;
  NormalWishart out = prior;
  const int d = prior.dimension();
  for (int k = 0; k < prior.components(); ++k) {
    const std::size_t s = std::size_t(shape.index(k));
    const double n = statistics.count(k), c = prior.c(k);
    const Vector difference = statistics.mean.col(k) - prior.m.col(k);
    out.c(k) = c + n;
    out.m.col(k) = prior.m.col(k) + n / (c + n) * difference;
    out.a(Eigen::Index(s)) += shape.isotropic ? n * d : n;
    out.B[s] += c * n / (c + n) * outer(shape, difference);
  }
  for (std::size_t s = 0; s < out.B.size(); ++s) out.B[s] += statistics.scatter[s];
  return out;
}

NormalWishart posterior(const NormalStatistics &statistics, const NormalWishart &prior,
                        const NormalWishart &) {
  return posterior(statistics, prior);
}

NormalScorer make_scorer(const NormalWishart &q) {
  const CovarianceShape &shape = q.shape;
  const int d = q.dimension();
  std::vector<FactoredScale> scales = factor_all(shape, q.B, d, "posterior scale B");
  Vector constant(q.components());
  for (int k = 0; k < q.components(); ++k) {
    const std::size_t s = std::size_t(shape.index(k));
    constant(k) = 0.5 * (expected_log_determinant(shape, q.a(Eigen::Index(s)), scales[s], d) -
                         d * std::log(2 * std::numbers::pi) - d / q.c(k));
  }
  for (std::size_t s = 0; s < scales.size(); ++s)
    scales[s].whiten *= std::sqrt(q.a(Eigen::Index(s)));
  return {q.shape, q.m, scales, std::move(constant)};
}

double divergence(const NormalWishart &q, const NormalWishart &prior) {
  const CovarianceShape &shape = q.shape;
  const int d = q.dimension(), p = shape.wishart_dimension(d), copies = shape.wishart_copies(d);
  const auto factored = factor_all(shape, q.B, d, "posterior scale B"),
             factored_prior = factor_all(shape, prior.B, d, "prior scale B");
  double total = 0;
  for (std::size_t s = 0; s < factored.size(); ++s) {
    const double a = q.a(Eigen::Index(s)), a0 = prior.a(Eigen::Index(s));
    const double expected =
        expected_log_determinant(shape, a, factored[s], d) / shape.determinant_power(d);
    total += (a - a0) / 2 * expected +
             a / 2 * (trace_solve(shape, prior.B[s], factored[s]) - copies * p) +
             wishart_log_normaliser(shape, a, factored[s], d) -
             wishart_log_normaliser(shape, a0, factored_prior[s], d);
  }
  for (int k = 0; k < q.components(); ++k) {
    const std::size_t s = std::size_t(shape.index(k));
    const double ratio = prior.c(k) / q.c(k);
    total += 0.5 * (d * (ratio - 1 - std::log(ratio)) +
                    prior.c(k) * q.a(Eigen::Index(s)) *
                        factored[s].quadratic(q.m.col(k) - prior.m.col(k)));
  }
  return total;
}

NormalWishart natural_gradient_step(const NormalWishart &q, const NormalWishart &target,
                                    double rho) {
  const CovarianceShape &shape = q.shape;
  NormalWishart out = q;
  out.a = (1 - rho) * q.a + rho * target.a;
  for (std::size_t s = 0; s < q.B.size(); ++s) out.B[s] = (1 - rho) * q.B[s] + rho * target.B[s];
  for (int k = 0; k < q.components(); ++k) {
    const double c1 = (1 - rho) * q.c(k), c2 = rho * target.c(k), c = c1 + c2;
    const Vector difference = target.m.col(k) - q.m.col(k);
    out.c(k) = c;
    out.m.col(k) = q.m.col(k) + c2 / c * difference;
    out.B[std::size_t(shape.index(k))] += c1 * c2 / c * outer(shape, difference);
  }
  return out;
}

double parameters_of(const NormalWishart &q) {
  const CovarianceShape &shape = q.shape;
  return 2.0 + q.dimension() + double(shape.rows(q.dimension())) * shape.columns(q.dimension());
}

double working_numbers(const NormalWishart &q, int threads) {
  return (8.0 + threads) * parameters_of(q);
}

NormalWishart pick(const NormalWishart &q, const std::vector<int> &order) {
  const CovarianceShape &shape = q.shape;
  const Eigen::Index k = Eigen::Index(order.size());
  NormalWishart out{q.shape, Matrix(q.m.rows(), k), Vector(k), Vector(k),
                    std::vector<Matrix>(order.size())};
  if (shape.shared) {
    out.a = q.a;
    out.B = q.B;
  }
  for (Eigen::Index i = 0; i < k; ++i) {
    const int from = order[std::size_t(i)];
    out.m.col(i) = q.m.col(from);
    out.c(i) = q.c(from);
    if (!shape.shared) {
      out.a(i) = q.a(from);
      out.B[std::size_t(i)] = q.B[std::size_t(from)];
    }
  }
  return out;
}

NormalWishart replicate(const NormalWishart &q, int k) {
  return pick(q, std::vector<int>(std::size_t(k), 0));
}

NormalWishart joined(const NormalWishart &first, const NormalWishart &second) {
  const CovarianceShape &shape = first.shape;
  NormalWishart out = first;
  const Eigen::Index k = first.components(), more = second.components();
  out.m.conservativeResize(second.dimension(), k + more);
  out.m.rightCols(more) = second.m;
  out.c.conservativeResize(k + more);
  out.c.tail(more) = second.c;
  if (!shape.shared || k == 0) {
    out.a.conservativeResize(out.a.size() + second.a.size());
    out.a.tail(second.a.size()) = second.a;
    out.B.insert(out.B.end(), second.B.begin(), second.B.end());
  }
  return out;
}

NormalPoint point_estimate(const NormalWishart &q) {
  NormalPoint out{q.shape, q.m, q.B};
  for (std::size_t s = 0; s < q.B.size(); ++s) out.covariance[s] /= q.a(Eigen::Index(s));
  return out;
}

double log_prior(const NormalPoint &point, const NormalWishart &prior) {
  const CovarianceShape &shape = point.shape;
  const int d = prior.dimension(), p = shape.wishart_dimension(d);
  const auto covariance = factor_all(shape, point.covariance, d, "covariance"),
             scale = factor_all(shape, prior.B, d, "prior scale B");
  double total = 0;
  for (std::size_t s = 0; s < scale.size(); ++s)
    total += wishart_log_normaliser(shape, prior.a(Eigen::Index(s)), scale[s], d) -
             (prior.a(Eigen::Index(s)) - p - 1) / 2 * own_log_determinant(shape, covariance[s], d) -
             0.5 * trace_solve(shape, prior.B[s], covariance[s]);
  for (int k = 0; k < prior.components(); ++k) {
    const FactoredScale &sigma = covariance[std::size_t(shape.index(k))];
    total += 0.5 * (d * std::log(prior.c(k) / (2 * std::numbers::pi)) - sigma.log_determinant -
                    prior.c(k) * sigma.quadratic(point.mean.col(k) - prior.m.col(k)));
  }
  return total;
}

double mode_divisor(const CovarianceShape &shape, double a, double components, int d) {
  return shape.isotropic ? a - 2 + components * d : a - shape.wishart_dimension(d) - 1 + components;
}

NormalPoint maximum_posterior(const NormalStatistics &statistics, const NormalWishart &prior) {
  const CovarianceShape &shape = statistics.shape;
  const NormalWishart q = posterior(statistics, prior);
  NormalPoint out{q.shape, q.m, q.B};
  for (std::size_t s = 0; s < q.B.size(); ++s)
    out.covariance[s] /=
        mode_divisor(shape, q.a(Eigen::Index(s)), shape.shared ? q.components() : 1, q.dimension());
  return out;
}

Vector log_marginal_likelihoods(const NormalStatistics &statistics, const NormalWishart &prior) {
  const CovarianceShape &shape = statistics.shape;
  const int d = prior.dimension();
  const NormalWishart after = posterior(statistics, prior);
  const auto b0 = factor_all(shape, prior.B, d, "prior scale B"),
             b = factor_all(shape, after.B, d, "posterior scale B");
  Vector out = Vector::Zero(prior.components());
  for (std::size_t s = 0; s < b.size(); ++s)
    out(Eigen::Index(s)) = wishart_log_normaliser(shape, prior.a(Eigen::Index(s)), b0[s], d) -
                           wishart_log_normaliser(shape, after.a(Eigen::Index(s)), b[s], d);
  for (int k = 0; k < prior.components(); ++k)
    out(shape.index(k)) +=
        0.5 * d *
        (std::log(prior.c(k) / after.c(k)) - statistics.count(k) * std::log(2 * std::numbers::pi));
  return out;
}

double log_marginal_likelihood(const NormalStatistics &statistics, const NormalWishart &prior) {
  return log_marginal_likelihoods(statistics, prior).sum();
}

NormalWishart untied(const NormalWishart &q) {
  if (!q.shape.shared) return q;
  return {full_covariance, q.m, q.c, Vector::Constant(q.components(), q.a(0)),
          std::vector<Matrix>(std::size_t(q.components()), q.B[0])};
}

}  // namespace bayes
