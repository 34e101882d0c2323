// Rows that miss elements, for tests: what is observed by its definition, in long double, and
// integrals over what is missing by quadrature.
#pragma once

#include <functional>
#include <limits>

#include "base/special.hpp"
#include "slow_mixture.hpp"

namespace missing {

using slow::Real;
using slow::Square;
using support::Matrix;

inline constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The rows with a share of their elements missing, and row 3 entirely.
inline Matrix with_holes(Matrix x, double share, std::uint64_t seed, bool one_empty = false) {
  bayes::Random random(seed);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      if (random.uniform() < share || (one_empty && i == 3)) x(i, j) = none;
  return x;
}

inline std::vector<int> observed(const std::vector<double> &x) {
  std::vector<int> out;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (!std::isnan(x[j])) out.push_back(int(j));
  return out;
}
inline std::vector<int> holes(const std::vector<double> &x) {
  std::vector<int> out;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (std::isnan(x[j])) out.push_back(int(j));
  return out;
}
inline Square block(const Square &of, const std::vector<int> &which) {
  Square out(int(which.size()));
  for (int i = 0; i < out.d; ++i)
    for (int j = 0; j < out.d; ++j) out(i, j) = of(which[std::size_t(i)], which[std::size_t(j)]);
  return out;
}

/// log of the integral over x's missing elements of exp(-(x - m)' P (x - m) / 2): by the
/// covariance of the rest, not as the library has it.
inline Real log_integral(const Square &precision, const std::vector<double> &x,
                         const std::vector<double> &m) {
  const std::vector<int> o = observed(x), h = holes(x);
  if (h.empty()) return -0.5L * quadratic(precision, slow::minus(x, m, precision.d));
  const Real whole = 0.5L * (Real(h.size()) * slow::log_2pi - log_det(block(precision, h)));
  if (o.empty()) return whole;
  const Square rest = inverse(block(inverse(precision), o));
  std::vector<Real> y;
  for (const int j : o) y.push_back(Real(x[std::size_t(j)]) - m[std::size_t(j)]);
  return whole - 0.5L * quadratic(rest, y);
}

/// log sum of weight x density of what is observed.
inline Real log_density(const std::vector<double> &x,
                        const std::vector<bayes::GmmComponent> &components) {
  std::vector<Real> terms;
  for (const auto &c : components) {
    const Square covariance{int(x.size()), c.covariance};
    terms.push_back(std::log(Real(c.weight)) -
                    0.5L * (Real(x.size()) * slow::log_2pi + log_det(covariance)) +
                    log_integral(inverse(covariance), x, c.mean));
  }
  return slow::log_sum_exp(terms);
}
inline Real log_likelihood(const Matrix &x, const std::vector<bayes::GmmComponent> &components) {
  Real total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    if (!observed(support::row(x, i)).empty()) total += log_density(support::row(x, i), components);
  return total;
}

/// E_q[log p(observed, missing, z, pi, mu, Lambda)] - E_q[log q], with the best q(z, missing). A
/// row that misses everything is no part of the model.
inline Real elbo(const std::string &shape, const Matrix &x,
                 const std::vector<bayes::GmmPosterior> &prior,
                 const std::vector<bayes::GmmPosterior> &q) {
  const int d = int(x.cols());
  const std::vector<Real> log_pi = slow::mean_log_weights(q);
  Real total = slow::dirichlet_log_normaliser(prior) - slow::dirichlet_log_normaliser(q);
  for (std::size_t k = 0; k < q.size(); ++k)
    total += (Real(prior[k].alpha) - Real(q[k].alpha)) * log_pi[k];
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const std::vector<double> row = support::row(x, i);
    if (observed(row).empty()) continue;
    std::vector<Real> logits;
    for (std::size_t k = 0; k < q.size(); ++k)
      logits.push_back(log_pi[k] + slow::mean_log_density(shape, q[k], q[k].m) +
                       log_integral(slow::mean_precision(q[k], d), row, q[k].m));
    total += slow::log_sum_exp(logits);
  }
  return total - slow::divergence(shape, prior, q);
}

/// log of the integral of exp(f) over the missing elements of x, by the trapezoid rule in t, x =
/// centre + scale sinh t, which is exact to many digits also for heavy tails.
inline double log_quadrature(const std::vector<double> &x, const std::vector<double> &centre,
                             double scale, const std::function<double(std::vector<double>)> &f,
                             double step = 0.1, double end = 9) {
  const std::vector<int> h = holes(x);
  std::vector<double> terms;
  const std::function<void(std::size_t, std::vector<double>, double)> go =
      [&](std::size_t i, std::vector<double> at, double log_weight) {
        if (i == h.size()) return terms.push_back(log_weight + f(at));
        for (double t = -end; t <= end; t += step) {
          at[std::size_t(h[i])] = centre[std::size_t(h[i])] + scale * std::sinh(t);
          go(i + 1, at, log_weight + std::log(scale * std::cosh(t) * step));
        }
      };
  go(0, x, 0);
  return bayes::log_sum_exp(terms);
}

}  // namespace missing
