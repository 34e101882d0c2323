// The log density of a row with missing elements under a mixture, from its definition: the ratio of
// two evidences, component by component, without what the library computes once for many rows.
#pragma once

#include <Eigen/Dense>

#include "mixture/bmm_state.hpp"
#include "mixture/dpmm_state.hpp"
#include "mixture/gmm_state.hpp"
#include "slow_mixture.hpp"

namespace questions {

/// A weight, and the log density of a row under what it belongs to.
struct Weighted {
  double weight, log_density;
};

inline std::vector<int> observed(const std::vector<double> &x) {
  std::vector<int> out;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (!std::isnan(x[j])) out.push_back(int(j));
  return out;
}

/// Student t of these degrees, normal if infinite: centre and squared scale of all elements.
inline double log_elliptical(const std::vector<double> &x, const Eigen::VectorXd &centre,
                             const Eigen::MatrixXd &square, double degrees) {
  const std::vector<int> some = observed(x);
  const Eigen::Index o = Eigen::Index(some.size());
  if (o == 0) return 0;
  Eigen::VectorXd away(o);
  Eigen::MatrixXd block(o, o);
  for (Eigen::Index i = 0; i < o; ++i) {
    away(i) = x[std::size_t(some[std::size_t(i)])] - centre(some[std::size_t(i)]);
    for (Eigen::Index j = 0; j < o; ++j)
      block(i, j) = square(some[std::size_t(i)], some[std::size_t(j)]);
  }
  const double distance = away.dot(block.fullPivLu().solve(away)), n = double(o),
               half_log_determinant = 0.5 * std::log(block.determinant());
  if (std::isinf(degrees)) return -0.5 * (n * std::log(2 * M_PI) + distance) - half_log_determinant;
  return std::lgamma((degrees + n) / 2) - std::lgamma(degrees / 2) -
         0.5 * n * std::log(degrees * M_PI) - half_log_determinant -
         (degrees + n) / 2 * std::log1p(distance / degrees);
}

inline Eigen::MatrixXd full_matrix(const bayes::CovarianceShape &shape, const bayes::Matrix &scale,
                                   int d) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(d, d);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      if (shape.dense || i == j)
        out(i, j) = shape.dense ? scale(i, j) : scale(shape.isotropic ? 0 : i, 0);
  return out;
}

inline double log_component(const std::vector<double> &x, const bayes::NormalPoint &point, int k) {
  const auto &shape = point.shape;
  return log_elliptical(
      x, point.mean.col(k),
      full_matrix(shape, point.covariance[std::size_t(shape.index(k))], point.dimension()),
      std::numeric_limits<double>::infinity());
}

/// With its parameters integrated out (002 L10 eq. 22): of a diagonal covariance element by
/// element.
inline double log_component(const std::vector<double> &x, const bayes::NormalWishart &q, int k) {
  const auto &shape = q.shape;
  const int d = q.dimension(), s = shape.index(k);
  const double nu = shape.dense ? q.a(s) + 1 - d : q.a(s);
  const Eigen::MatrixXd square =
      full_matrix(shape, q.B[std::size_t(s)], d) * ((q.c(k) + 1) / (q.c(k) * nu));
  if (shape.dense || shape.isotropic) return log_elliptical(x, q.m.col(k), square, nu);
  double out = 0;
  for (int j = 0; j < d; ++j) {
    std::vector<double> one(x.size(), std::nan(""));
    one[std::size_t(j)] = x[std::size_t(j)];
    out += log_elliptical(one, q.m.col(k), square, nu);
  }
  return out;
}

/// Of columns: f(column, where its numbers begin, the statistics of the row alone).
template <class F>
double log_columns(const bayes::Columns &columns, const std::vector<double> &x, F f) {
  double out = 0;
  for (const int j : observed(x)) {
    const bayes::Column &column = columns.column(j);
    std::vector<double> statistics(std::size_t(column.size().statistics), 0.0);
    const double element = column.element(x[std::size_t(j)]);
    column.add(element, statistics.data());
    out += column.log_carrier(element) + f(j, column, statistics.data());
  }
  return out;
}

inline double log_component(const std::vector<double> &x, const bayes::ProductPoint &point, int k) {
  return log_columns(*point.columns, x, [&](int j, const bayes::Column &column, const double *s) {
    return column.log_likelihood(point.column(k, j), s);
  });
}

inline double log_component(const std::vector<double> &x, const bayes::ProductPosterior &q, int k) {
  return log_columns(*q.columns, x, [&](int j, const bayes::Column &column, const double *s) {
    return column.log_marginal_likelihood(s, q.column(k, j));
  });
}

inline double log_mixture(const std::vector<Weighted> &all) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const Weighted &each : all) most = std::max(most, each.log_density);
  for (const Weighted &each : all) sum += each.weight * std::exp(each.log_density - most);
  return most + std::log(sum);
}

template <class Q>
double log_finite(const std::vector<double> &x, const bayes::Vector &weights, const Q &of) {
  std::vector<Weighted> all;
  for (int k = 0; k < of.components(); ++k) all.push_back({weights(k), log_component(x, of, k)});
  return log_mixture(all);
}

template <class Q>
double log_drawn(const std::vector<double> &x, const bayes::FiniteDraws<Q> &draws) {
  std::vector<Weighted> all;
  for (int i = 0; i < draws.components.components(); ++i)
    all.push_back(
        {draws.weights[std::size_t(i)] / draws.draws, log_component(x, draws.components, i)});
  return log_mixture(all);
}

inline double defined_log_density(const bayes::GaussianMixture &model,
                                  const std::vector<double> &x) {
  const bayes::GmmFitted &of = model.state->fitted;
  if (of.draws) return log_drawn(x, *of.draws);
  if (of.linked)
    return log_finite(x, of.linked->alpha / of.linked->alpha.sum(), of.linked->components);
  return log_finite(x, of.point.weights, of.point.components);
}

inline double defined_log_density(const bayes::BernoulliMixture &model,
                                  const std::vector<double> &x) {
  const auto &of = *model.state;
  if (of.draws) return log_drawn(x, *of.draws);
  if (of.posterior)
    return log_finite(x, of.posterior->alpha / of.posterior->alpha.sum(), of.posterior->components);
  return log_finite(x, of.point.weights, of.point.components);
}

/// The clusters of every draw, and the clusters to come, which are distributed as the prior says.
inline double defined_log_density(const bayes::DirichletProcessMixture &model,
                                  const std::vector<double> &x) {
  return std::visit(
      [&](const auto &fitted) {
        std::vector<Weighted> all;
        for (int i = 0; i < fitted.components.components(); ++i)
          all.push_back({fitted.weights[std::size_t(i)], log_component(x, fitted.components, i)});
        for (const double rest : fitted.rest)
          all.push_back({rest, log_component(x, fitted.prior, 0)});
        return log_mixture(all) - std::log(double(fitted.rest.size()));
      },
      model.state->fitted);
}

}  // namespace questions
