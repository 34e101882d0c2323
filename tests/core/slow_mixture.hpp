// Mixtures of normals straight from their definitions, slowly, in long double and without any of
// the library's code, for comparison with it.
//
// A prior or posterior of k components is a vector of GmmPosterior; every term of an objective is
// an expectation written out on its own.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "support.hpp"

namespace slow {

using Real = long double;
using bayes::GmmComponent;
using bayes::GmmPosterior;
using support::Matrix;
using support::Vector;

constexpr Real pi = 3.14159265358979323846264338327950288L;
inline const Real log_2pi = std::log(2 * pi);
inline const Real ln2 = std::log(Real(2));

inline Real digamma(Real x) {
  Real sum = 0;
  for (; x < 30; ++x) sum -= 1 / x;
  const Real y = 1 / (x * x);
  return sum + std::log(x) - 1 / (2 * x) -
         y * (1 / 12.0L -
              y * (1 / 120.0L -
                   y * (1 / 252.0L - y * (1 / 240.0L - y * (1 / 132.0L - y * (691 / 32760.0L))))));
}

/// A d x d matrix.
struct Square {
  int d;
  std::vector<Real> v;
  Square(int size) : d(size), v(std::size_t(size * size), 0) {}
  template <class T>
  Square(int size, const std::vector<T> &values) : d(size),
                                                   v(values.begin(), values.end()) {}
  Real &operator()(int i, int j) { return v[std::size_t(i * d + j)]; }
  Real operator()(int i, int j) const { return v[std::size_t(i * d + j)]; }
};

inline Square cholesky(const Square &a) {
  Square l(a.d);
  for (int i = 0; i < a.d; ++i)
    for (int j = 0; j <= i; ++j) {
      Real s = a(i, j);
      for (int t = 0; t < j; ++t) s -= l(i, t) * l(j, t);
      l(i, j) = i == j ? std::sqrt(s) : s / l(j, j);
    }
  return l;
}
inline Real log_det(const Square &a) {
  const Square l = cholesky(a);
  Real s = 0;
  for (int i = 0; i < a.d; ++i) s += 2 * std::log(l(i, i));
  return s;
}
inline Square inverse(const Square &a) {
  const Square l = cholesky(a);
  Square out(a.d);
  for (int c = 0; c < a.d; ++c) {
    std::vector<Real> y(std::size_t(a.d), 0);
    for (int i = 0; i < a.d; ++i) {
      Real s = i == c;
      for (int j = 0; j < i; ++j) s -= l(i, j) * y[std::size_t(j)];
      y[std::size_t(i)] = s / l(i, i);
    }
    for (int i = a.d - 1; i >= 0; --i) {
      Real s = y[std::size_t(i)];
      for (int j = i + 1; j < a.d; ++j) s -= l(j, i) * out(j, c);
      out(i, c) = s / l(i, i);
    }
  }
  return out;
}
inline Real quadratic(const Square &a, const std::vector<Real> &v) {
  Real s = 0;
  for (int i = 0; i < a.d; ++i)
    for (int j = 0; j < a.d; ++j) s += v[std::size_t(i)] * a(i, j) * v[std::size_t(j)];
  return s;
}
inline Real trace_product(const Square &a, const Square &b) {
  Real s = 0;
  for (int i = 0; i < a.d; ++i)
    for (int j = 0; j < a.d; ++j) s += a(i, j) * b(j, i);
  return s;
}
template <class A, class B> std::vector<Real> minus(const A &a, const B &b, int d) {
  std::vector<Real> out;
  for (int j = 0; j < d; ++j) out.push_back(Real(a[std::size_t(j)]) - Real(b[std::size_t(j)]));
  return out;
}
inline Real log_sum_exp(const std::vector<Real> &x) {
  const Real most = *std::max_element(x.begin(), x.end());
  Real s = 0;
  for (const Real v : x) s += std::exp(v - most);
  return most + std::log(s);
}

/// Log density of N(mean, precision^-1).
inline Real log_normal(const std::vector<Real> &centred, const Square &precision) {
  return 0.5L * (log_det(precision) - precision.d * log_2pi - quadratic(precision, centred));
}

inline Real weight_of(const Vector &w, Eigen::Index i) { return w.size() ? Real(w(i)) : 1; }

inline Real log_likelihood(const Matrix &x, const Vector &w,
                           const std::vector<GmmComponent> &components) {
  const int d = int(x.cols());
  std::vector<Square> precision;
  std::vector<Real> constant;
  for (const auto &c : components) {
    precision.push_back(inverse({d, c.covariance}));
    constant.push_back(std::log(Real(c.weight)) -
                       0.5L * (d * log_2pi + log_det({d, c.covariance})));
  }
  Real total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    std::vector<Real> terms;
    for (std::size_t k = 0; k < components.size(); ++k)
      terms.push_back(constant[k] - 0.5L * quadratic(precision[k], minus(support::row(x, i),
                                                                         components[k].mean, d)));
    total += weight_of(w, i) * log_sum_exp(terms);
  }
  return total;
}

/// A Wishart(a, B): density |L|^{(a-p-1)/2} e^{-tr(B L)/2} |B|^{a/2} / (2^{ap/2} Gamma_p(a/2)).
struct Wishart {
  Real a;
  Square B;
  Real log_normaliser() const {
    const int p = B.d;
    Real log_gamma = p * (p - 1) / 4.0L * std::log(pi);
    for (int j = 1; j <= p; ++j) log_gamma += std::lgamma(a / 2 + (1 - j) / 2.0L);
    return a / 2 * log_det(B) - a * p / 2 * ln2 - log_gamma;
  }
  Real log_density(const Square &lambda) const {
    return log_normaliser() + (a - B.d - 1) / 2 * log_det(lambda) - trace_product(B, lambda) / 2;
  }
  Real mean_log_det() const {
    Real s = B.d * ln2 - log_det(B);
    for (int i = 1; i <= B.d; ++i) s += digamma((a + 1 - i) / 2);
    return s;
  }
  /// E_this[log density of `other`].
  Real mean_log_density_of(const Wishart &other) const {
    return other.log_normaliser() + (other.a - B.d - 1) / 2 * mean_log_det() -
           a * trace_product(other.B, inverse(B)) / 2;
  }
};

/// The independent Wisharts of which component k's precision is made: one of d dimensions, d of
/// one, or a single one of one.
inline std::vector<Wishart> wisharts(const std::string &shape, const GmmPosterior &q, int d) {
  if (shape == "full" || shape == "tied") return {{q.a, {d, q.B}}};
  std::vector<Wishart> out;
  for (int j = 0; j < (shape == "diagonal" ? d : 1); ++j)
    out.push_back({q.a, {1, std::vector<double>{q.B[std::size_t(j * d + j)]}}});
  return out;
}
inline Real mean_log_det(const std::string &shape, const GmmPosterior &q, int d) {
  Real s = 0;
  for (const auto &w : wisharts(shape, q, d)) s += w.mean_log_det();
  return shape == "spherical" ? d * s : s;
}
inline Square mean_precision(const GmmPosterior &q, int d) {
  Square out = inverse({d, q.B});
  for (Real &v : out.v) v *= q.a;
  return out;
}

inline Real dirichlet_log_normaliser(const std::vector<GmmPosterior> &p) {
  Real s = 0, whole = 0;
  for (const auto &c : p) {
    whole += c.alpha;
    s -= std::lgamma(Real(c.alpha));
  }
  return s + std::lgamma(whole);
}
inline std::vector<Real> mean_log_weights(const std::vector<GmmPosterior> &q) {
  Real whole = 0;
  for (const auto &c : q) whole += c.alpha;
  std::vector<Real> out;
  for (const auto &c : q) out.push_back(digamma(c.alpha) - digamma(whole));
  return out;
}

/// E_q[log N(row | mu, Lambda^-1)].
inline Real mean_log_density(const std::string &shape, const GmmPosterior &q,
                             const std::vector<double> &row) {
  const int d = int(row.size());
  const Square precision = mean_precision(q, d);
  const Real spread = std::isnan(q.c) ? trace_product(precision, {d, q.S}) : d / Real(q.c);
  return 0.5L * (mean_log_det(shape, q, d) - d * log_2pi -
                 quadratic(precision, minus(row, q.m, d)) - spread);
}

/// E_q[log q(mu, Lambda)] - E_q[log p(mu, Lambda)], all components.
inline Real divergence(const std::string &shape, const std::vector<GmmPosterior> &prior,
                       const std::vector<GmmPosterior> &q) {
  const int d = int(q[0].m.size());
  Real total = 0;
  for (std::size_t k = 0; k < q.size(); ++k) {
    const std::vector<Real> away = minus(q[k].m, prior[k].m, d);
    if (std::isnan(q[k].c)) {
      const Square C = {d, prior[k].S}, S = {d, q[k].S}, precision0 = inverse(C);
      total -= -0.5L * (d * log_2pi + log_det(C) + quadratic(precision0, away) +
                        trace_product(precision0, S));
      total += -0.5L * (d * log_2pi + log_det(S) + d);
    } else {
      const Real c0 = prior[k].c, c = q[k].c, mean_det = mean_log_det(shape, q[k], d);
      total -= 0.5L * (d * (std::log(c0) - log_2pi) + mean_det -
                       c0 * (quadratic(mean_precision(q[k], d), away) + d / c));
      total += 0.5L * (d * (std::log(c) - log_2pi) + mean_det - d);
    }
    if (shape == "tied" && k > 0) continue;  // all share the first one's
    const auto p_blocks = wisharts(shape, prior[k], d), q_blocks = wisharts(shape, q[k], d);
    for (std::size_t b = 0; b < q_blocks.size(); ++b)
      total += q_blocks[b].mean_log_density_of(q_blocks[b]) -
               q_blocks[b].mean_log_density_of(p_blocks[b]);
  }
  return total;
}

/// E_q[log p(x, z, pi, mu, Lambda)] - E_q[log q(z, pi, mu, Lambda)], with the optimal q(z) given
/// the rest.
inline Real elbo(const std::string &shape, const Matrix &x, const Vector &w,
                 const std::vector<GmmPosterior> &prior, const std::vector<GmmPosterior> &q) {
  const int d = int(x.cols());
  const std::vector<Real> log_pi = mean_log_weights(q);
  std::vector<Square> precision;
  std::vector<Real> constant;  // of the expected log density: what it is at the mean
  for (const auto &c : q) {
    precision.push_back(mean_precision(c, d));
    constant.push_back(mean_log_density(shape, c, c.m));
  }
  Real total = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    std::vector<Real> logit;
    for (std::size_t k = 0; k < q.size(); ++k)
      logit.push_back(log_pi[k] + constant[k] -
                      0.5L * quadratic(precision[k], minus(support::row(x, i), q[k].m, d)));
    const Real whole = log_sum_exp(logit);
    for (const Real l : logit) {
      const Real r = std::exp(l - whole);
      if (r > 0) total += weight_of(w, i) * r * (l - std::log(r));
    }
  }
  total += dirichlet_log_normaliser(prior) - dirichlet_log_normaliser(q);
  for (std::size_t k = 0; k < q.size(); ++k)
    total += (Real(prior[k].alpha) - Real(q[k].alpha)) * log_pi[k];
  return total - divergence(shape, prior, q);
}

/// log p(pi, mu, Lambda) of the linked prior at a point (a density of precisions).
inline Real log_prior(const std::string &shape, const std::vector<GmmPosterior> &prior,
                      const std::vector<GmmComponent> &at) {
  const int d = int(at[0].mean.size());
  Real total = dirichlet_log_normaliser(prior);
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (prior[k].alpha != 1) total += (Real(prior[k].alpha) - 1) * std::log(Real(at[k].weight));
    const Square precision = inverse({d, at[k].covariance});
    Square scaled = precision;
    for (Real &v : scaled.v) v *= prior[k].c;
    total += log_normal(minus(at[k].mean, prior[k].m, d), scaled);
    if (shape == "tied" && k > 0) continue;
    const auto blocks = wisharts(shape, prior[k], d);
    for (int b = 0; b < int(blocks.size()); ++b) {
      const Square own = shape == "full" || shape == "tied"
                             ? precision
                             : Square(1, std::vector<Real>{precision(b, b)});
      total += blocks[std::size_t(b)].log_density(own);
    }
  }
  return total;
}

/// log p(rows | assignment) under the linked prior, parameters integrated out. A group without rows
/// contributes nothing.
inline Real log_marginal(const std::string &shape, const Matrix &x,
                         const std::vector<int> &assignment,
                         const std::vector<GmmPosterior> &prior) {
  const int d = int(x.cols());
  const bool tied = shape == "tied";
  Real total = -0.5L * d * Real(x.rows()) * log_2pi;
  GmmPosterior shared = prior[0];
  for (std::size_t k = 0; k < prior.size(); ++k) {
    GmmPosterior after = tied ? shared : prior[k];
    Real n = 0;
    std::vector<Real> mean(std::size_t(d), 0);
    for (Eigen::Index i = 0; i < x.rows(); ++i)
      if (assignment[std::size_t(i)] == int(k)) {
        ++n;
        for (int j = 0; j < d; ++j) mean[std::size_t(j)] += x(i, j);
      }
    const Real c = prior[k].c;
    for (Real &v : mean) v /= n > 0 ? n : 1;
    Square scatter(d);
    const auto add = [&](const std::vector<Real> &v, Real factor) {
      for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b) scatter(a, b) += factor * v[std::size_t(a)] * v[std::size_t(b)];
    };
    for (Eigen::Index i = 0; i < x.rows(); ++i)
      if (assignment[std::size_t(i)] == int(k)) add(minus(support::row(x, i), mean, d), 1);
    if (n > 0) add(minus(mean, prior[k].m, d), c * n / (c + n));
    total += 0.5L * d * std::log(c / (c + n));
    after.a += double(shape == "spherical" ? n * d : n);
    Real trace = 0;
    for (int j = 0; j < d; ++j) trace += scatter(j, j);
    for (int a = 0; a < d; ++a)
      for (int b = 0; b < d; ++b)
        after.B[std::size_t(a * d + b)] +=
            double(shape == "spherical" ? (a == b ? trace : 0) : scatter(a, b));
    if (tied) shared = after;
    if (tied && k + 1 < prior.size()) continue;
    const auto p = wisharts(shape, tied ? prior[0] : prior[k], d), q = wisharts(shape, after, d);
    for (std::size_t b = 0; b < p.size(); ++b)
      total += p[b].log_normaliser() - q[b].log_normaliser();
  }
  return total;
}

/// log p(assignment), weights integrated out.
inline Real log_assignment(const std::vector<int> &assignment,
                           const std::vector<GmmPosterior> &prior) {
  std::vector<GmmPosterior> after = prior;
  for (const int k : assignment) after[std::size_t(k)].alpha += 1;
  return dirichlet_log_normaliser(prior) - dirichlet_log_normaliser(after);
}

/// Calls f with every one of the k^n assignments.
template <class F> void for_each_assignment(int n, int k, F f) {
  std::vector<int> z(std::size_t(n), 0);
  for (;;) {
    f(z);
    int i = 0;
    while (i < n && ++z[std::size_t(i)] == k) z[std::size_t(i++)] = 0;
    if (i == n) return;
  }
}

/// The prior that a fit was made with, as it reports it in its options.
inline std::vector<GmmPosterior> prior_of(const bayes::GaussianMixture &model) {
  const bayes::Document *prior = model.info.options.find("prior");
  BOOST_REQUIRE(prior);
  const int d = model.dimension();
  const auto number = [&](const char *key) {
    const bayes::Document *value = prior->find(key);
    return value ? *value->as<double>() : std::nan("");
  };
  const auto matrix = [&](const char *key) {
    std::vector<double> out;
    const bayes::Document *value = prior->find(key);
    if (!value) return out;
    out.assign(std::size_t(d * d), 0);
    const bayes::Tensor *tensor = value->as<bayes::Tensor>();
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j)
        if (tensor && tensor->shape.size() == 2)
          out[std::size_t(i * d + j)] = tensor->values[std::size_t(i * d + j)];
        else if (i == j)
          out[std::size_t(i * d + j)] =
              tensor ? tensor->values[std::size_t(i)] : *value->as<double>();
    return out;
  };
  GmmPosterior one{number("alpha"), prior->find("m")->as<bayes::Tensor>()->values,
                   number("c"),     matrix("C"),
                   number("a"),     matrix("B")};
  return std::vector<GmmPosterior>(std::size_t(model.size()), one);
}

}  // namespace slow
