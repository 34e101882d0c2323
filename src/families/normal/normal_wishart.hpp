// The conjugate prior of normal components, linked: Lambda ~ Wishart(a, B), E[Lambda] = a B^-1, mu
// | Lambda ~ N(m, (c Lambda)^-1).
//
// Density of the Wishart: |Lambda|^{(a-p-1)/2} e^{-tr(B Lambda)/2} |B|^{a/2} / (2^{ap/2}
// Gamma_p(a/2)) (002 L9 eq. 22), a > p - 1. In the diagonal shape every column has a precision
// Wishart_1(a, B_jj), that is Gamma(a/2, rate B_jj/2); in the spherical shape all columns share
// one; in the tied shape all components share Lambda. The posterior update is 000 and 002 L10 eq.
// 20 with its last term corrected: the factor of (mean - m)(mean - m)' is c n / (c + n), not n / (a
// n + 1).
#pragma once

#include <numbers>
#include <type_traits>

#include "base/special.hpp"
#include "families/normal/normal_point.hpp"

namespace bayes {

template <class S> class NormalClusters;  // families/normal_clusters.hpp

/// The parameters of K priors or posteriors.
template <class S> struct NormalWishart {
  /// the collapsed form, row by row; there is none for the tied shape
  using Clusters = std::conditional_t<S::shared, void, NormalClusters<S>>;
  Matrix m;               // d x K
  Vector c;               // K, > 0
  Vector a;               // scale_count(K), > p - 1
  std::vector<Matrix> B;  // scale_count(K), in the shape's form, positive definite

  int components() const { return int(m.cols()); }
  int dimension() const { return int(m.rows()); }
};

/// How the d x d precision of a component is made of Wisharts: of which dimension, and how many
/// independent ones (with the same a).
template <class S> constexpr int wishart_dimension(int d) { return S::dense ? d : 1; }
template <class S> constexpr int wishart_copies(int d) { return S::dense || S::isotropic ? 1 : d; }
/// The spherical precision counts in the determinant once for every column.
template <class S> constexpr int determinant_power(int d) { return S::isotropic ? d : 1; }

/// Log determinant of B itself, in its own form: what `factor` finds, without the spherical shape's
/// repetition.
template <class S> double own_log_determinant(const FactoredScale &factored, int d) {
  return factored.log_determinant / determinant_power<S>(d);
}

/// E[log |Lambda|], Lambda the d x d precision (002 L9 eq. 23, with its d log 2).
template <class S> double expected_log_determinant(double a, const FactoredScale &b, int d) {
  const int p = wishart_dimension<S>(d);
  return determinant_power<S>(d) *
         (wishart_copies<S>(d) * (p * std::numbers::ln2 + wishart_digamma(a, p)) -
          own_log_determinant<S>(b, d));
}

/// log of the Wishart's normaliser: (a/2) log |B| - (a p / 2) log 2 - log Gamma_p(a/2), over the
/// shape's copies.
template <class S> double wishart_log_normaliser(double a, const FactoredScale &b, int d) {
  const int p = wishart_dimension<S>(d);
  return a / 2 * own_log_determinant<S>(b, d) -
         wishart_copies<S>(d) * (a * p / 2 * std::numbers::ln2 + log_multivariate_gamma(a / 2, p));
}

template <class S>
std::vector<FactoredScale> factor_all(const std::vector<Matrix> &scales, int d, const char *what) {
  std::vector<FactoredScale> out(scales.size());
  for (std::size_t s = 0; s < scales.size(); ++s) {
    poll_here();
    if (!factor<S>(scales[s], d, out[s])) not_positive_definite(what, int(s));
  }
  return out;
}

/// The posterior after the statistics, exact for hard groups, and q(mu, Lambda) of variational
/// inference for soft ones.
template <class S>
NormalWishart<S> posterior(const NormalStatistics<S> &statistics, const NormalWishart<S> &prior) {
  NormalWishart<S> out = prior;
  const int d = prior.dimension();
  for (int k = 0; k < prior.components(); ++k) {
    const std::size_t s = std::size_t(scale_index<S>(k));
    const double n = statistics.count(k), c = prior.c(k);
    const Vector difference = statistics.mean.col(k) - prior.m.col(k);
    out.c(k) = c + n;
    out.m.col(k) = prior.m.col(k) + n / (c + n) * difference;
    out.a(Eigen::Index(s)) += S::isotropic ? n * d : n;
    out.B[s] += c * n / (c + n) * outer<S>(difference);
  }
  for (std::size_t s = 0; s < out.B.size(); ++s) out.B[s] += statistics.scatter[s];
  return out;
}

/// The same, for learners whose posteriors need the state before.
template <class S>
NormalWishart<S> posterior(const NormalStatistics<S> &statistics, const NormalWishart<S> &prior,
                           const NormalWishart<S> &) {
  return posterior<S>(statistics, prior);
}

/// Scores rows with E_q[log N(x | mu_k, Lambda_k^-1)].
template <class S> NormalScorer<S> make_scorer(const NormalWishart<S> &q) {
  const int d = q.dimension();
  std::vector<FactoredScale> scales = factor_all<S>(q.B, d, "posterior scale B");
  Vector constant(q.components());
  for (int k = 0; k < q.components(); ++k) {
    const std::size_t s = std::size_t(scale_index<S>(k));
    constant(k) = 0.5 * (expected_log_determinant<S>(q.a(Eigen::Index(s)), scales[s], d) -
                         d * std::log(2 * std::numbers::pi) - d / q.c(k));
  }
  for (std::size_t s = 0; s < scales.size(); ++s)
    scales[s].whiten *= std::sqrt(q.a(Eigen::Index(s)));
  return {q.m, scales, std::move(constant)};
}

/// KL(q || prior) summed over the components.
template <class S> double divergence(const NormalWishart<S> &q, const NormalWishart<S> &prior) {
  const int d = q.dimension(), p = wishart_dimension<S>(d), copies = wishart_copies<S>(d);
  const auto factored = factor_all<S>(q.B, d, "posterior scale B"),
             factored_prior = factor_all<S>(prior.B, d, "prior scale B");
  double total = 0;
  for (std::size_t s = 0; s < factored.size(); ++s) {
    const double a = q.a(Eigen::Index(s)), a0 = prior.a(Eigen::Index(s));
    const double expected =
        expected_log_determinant<S>(a, factored[s], d) / determinant_power<S>(d);
    total += (a - a0) / 2 * expected +
             a / 2 * (trace_solve<S>(prior.B[s], factored[s]) - copies * p) +
             wishart_log_normaliser<S>(a, factored[s], d) -
             wishart_log_normaliser<S>(a0, factored_prior[s], d);
  }
  for (int k = 0; k < q.components(); ++k) {
    const std::size_t s = std::size_t(scale_index<S>(k));
    const double ratio = prior.c(k) / q.c(k);
    total += 0.5 * (d * (ratio - 1 - std::log(ratio)) +
                    prior.c(k) * q.a(Eigen::Index(s)) *
                        factored[s].quadratic(q.m.col(k) - prior.m.col(k)));
  }
  return total;
}

/// q moved by a step of size rho in [0, 1] towards `target` in natural parameters (002 L8): sums of
/// c, c m, a and B + c m m', the last two taken about the new mean so that nothing cancels.
template <class S>
NormalWishart<S> blend(const NormalWishart<S> &q, const NormalWishart<S> &target, double rho) {
  NormalWishart<S> out = q;
  out.a = (1 - rho) * q.a + rho * target.a;
  for (std::size_t s = 0; s < q.B.size(); ++s) out.B[s] = (1 - rho) * q.B[s] + rho * target.B[s];
  for (int k = 0; k < q.components(); ++k) {
    const double c1 = (1 - rho) * q.c(k), c2 = rho * target.c(k), c = c1 + c2;
    const Vector difference = target.m.col(k) - q.m.col(k);
    out.c(k) = c;
    out.m.col(k) = q.m.col(k) + c2 / c * difference;
    out.B[std::size_t(scale_index<S>(k))] += c1 * c2 / c * outer<S>(difference);
  }
  return out;
}

/// Numbers that a component takes.
template <class S> double parameters_of(const NormalWishart<S> &q) {
  return 2.0 + q.dimension() +
         double(scale_rows<S>(q.dimension())) * scale_columns<S>(q.dimension());
}

/// Numbers that a sampler or a learner holds for a component on so many threads: posteriors before
/// and after, factors, statistics and each thread's share of them.
template <class S> double working_numbers(const NormalWishart<S> &q, int threads) {
  return (8.0 + threads) * parameters_of(q);
}

/// The components in this order: a subset, a permutation, or repetitions. Where components share a
/// scale it stays as it is.
template <class S> NormalWishart<S> pick(const NormalWishart<S> &q, const std::vector<int> &order) {
  const Eigen::Index k = Eigen::Index(order.size());
  NormalWishart<S> out{Matrix(q.m.rows(), k), Vector(k), Vector(k),
                       std::vector<Matrix>(order.size())};
  if constexpr (S::shared) {
    out.a = q.a;
    out.B = q.B;
  }
  for (Eigen::Index i = 0; i < k; ++i) {
    const int from = order[std::size_t(i)];
    out.m.col(i) = q.m.col(from);
    out.c(i) = q.c(from);
    if constexpr (!S::shared) {
      out.a(i) = q.a(from);
      out.B[std::size_t(i)] = q.B[std::size_t(from)];
    }
  }
  return out;
}

/// k copies of the first component.
template <class S> NormalWishart<S> replicate(const NormalWishart<S> &q, int k) {
  return pick(q, std::vector<int>(std::size_t(k), 0));
}

/// The components of both. Where components share a scale, it is the first's.
template <class S>
NormalWishart<S> joined(const NormalWishart<S> &first, const NormalWishart<S> &second) {
  NormalWishart<S> out = first;
  const Eigen::Index k = first.components(), more = second.components();
  out.m.conservativeResize(second.dimension(), k + more);
  out.m.rightCols(more) = second.m;
  out.c.conservativeResize(k + more);
  out.c.tail(more) = second.c;
  if (!S::shared || k == 0) {
    out.a.conservativeResize(out.a.size() + second.a.size());
    out.a.tail(second.a.size()) = second.a;
    out.B.insert(out.B.end(), second.B.begin(), second.B.end());
  }
  return out;
}

/// E[mu] and E[Lambda]^-1 = B / a.
template <class S> NormalPoint<S> point_estimate(const NormalWishart<S> &q) {
  NormalPoint<S> out{q.m, q.B};
  for (std::size_t s = 0; s < q.B.size(); ++s) out.covariance[s] /= q.a(Eigen::Index(s));
  return out;
}

/// log p(mu, Lambda) at a point, summed over the components (the density of the precision, not of
/// the covariance).
template <class S> double log_prior(const NormalPoint<S> &point, const NormalWishart<S> &prior) {
  const int d = prior.dimension(), p = wishart_dimension<S>(d);
  const auto covariance = factor_all<S>(point.covariance, d, "covariance"),
             scale = factor_all<S>(prior.B, d, "prior scale B");
  double total = 0;
  for (std::size_t s = 0; s < scale.size(); ++s)
    total += wishart_log_normaliser<S>(prior.a(Eigen::Index(s)), scale[s], d) -
             (prior.a(Eigen::Index(s)) - p - 1) / 2 * own_log_determinant<S>(covariance[s], d) -
             0.5 * trace_solve<S>(prior.B[s], covariance[s]);
  for (int k = 0; k < prior.components(); ++k) {
    const FactoredScale &sigma = covariance[std::size_t(scale_index<S>(k))];
    total += 0.5 * (d * std::log(prior.c(k) / (2 * std::numbers::pi)) - sigma.log_determinant -
                    prior.c(k) * sigma.quadratic(point.mean.col(k) - prior.m.col(k)));
  }
  return total;
}

/// The exponent of |Lambda| in density is half of this, summed over what shares Lambda: the divisor
/// of the mode. `components` share the scale.
template <class S> double mode_divisor(double a, double components, int d) {
  return S::isotropic ? a - 2 + components * d : a - wishart_dimension<S>(d) - 1 + components;
}

/// The joint mode of (mu, Lambda) given the statistics: mean m, covariance B / (a - d) for one
/// component with its own d x d Lambda.
template <class S>
NormalPoint<S> maximum_posterior(const NormalStatistics<S> &statistics,
                                 const NormalWishart<S> &prior) {
  const NormalWishart<S> q = posterior<S>(statistics, prior);
  NormalPoint<S> out{q.m, q.B};
  for (std::size_t s = 0; s < q.B.size(); ++s)
    out.covariance[s] /=
        mode_divisor<S>(q.a(Eigen::Index(s)), S::shared ? q.components() : 1, q.dimension());
  return out;
}

/// log p(rows of every group): exact for hard groups with weights 1. Groups that share a scale only
/// have one together, which is the first's.
template <class S>
Vector log_marginal_likelihoods(const NormalStatistics<S> &statistics,
                                const NormalWishart<S> &prior) {
  const int d = prior.dimension();
  const NormalWishart<S> after = posterior<S>(statistics, prior);
  const auto b0 = factor_all<S>(prior.B, d, "prior scale B"),
             b = factor_all<S>(after.B, d, "posterior scale B");
  Vector out = Vector::Zero(prior.components());
  for (std::size_t s = 0; s < b.size(); ++s)
    out(Eigen::Index(s)) = wishart_log_normaliser<S>(prior.a(Eigen::Index(s)), b0[s], d) -
                           wishart_log_normaliser<S>(after.a(Eigen::Index(s)), b[s], d);
  for (int k = 0; k < prior.components(); ++k)
    out(scale_index<S>(k)) +=
        0.5 * d *
        (std::log(prior.c(k) / after.c(k)) - statistics.count(k) * std::log(2 * std::numbers::pi));
  return out;
}

/// log p(rows of the groups), one value for all components together.
template <class S>
double log_marginal_likelihood(const NormalStatistics<S> &statistics,
                               const NormalWishart<S> &prior) {
  return log_marginal_likelihoods(statistics, prior).sum();
}

/// Components of one scale as components with a scale each; others as they are.
template <class S> NormalWishart<S> untied(const NormalWishart<S> &q) { return q; }
inline NormalWishart<FullCovariance> untied(const NormalWishart<TiedCovariance> &q) {
  return {q.m, q.c, Vector::Constant(q.components(), q.a(0)),
          std::vector<Matrix>(std::size_t(q.components()), q.B[0])};
}

}  // namespace bayes
