// The conjugate normal-Wishart prior of normal components ("linked" in options): Lambda ~
// Wishart(a, B), E[Lambda] = a B^-1, mu | Lambda ~ N(m, (c Lambda)^-1).
//
// Density of the Wishart: |Lambda|^{(a-p-1)/2} e^{-tr(B Lambda)/2} |B|^{a/2} / (2^{ap/2}
// Gamma_p(a/2)) (002 L9 eq. 22), a > p - 1. In the diagonal shape every column has a precision
// Wishart_1(a, B_jj), that is Gamma(a/2, rate B_jj/2); in the spherical shape all columns share
// one; in the tied shape all components share Lambda. The posterior update is 000 and 002 L10 eq.
// 20 with its last term corrected: the factor of (mean - m)(mean - m)' is c n / (c + n), not n / (a
// n + 1).
#pragma once

#include "families/normal/normal_point.hpp"

namespace bayes {

class NormalClusters;  // families/normal/normal_clusters.hpp

/// Squared distances are bounded by this, which is larger than any meaningful one, and in the range
/// of simd::log.
inline constexpr double max_square = 1e300;

/// The parameters of K priors or posteriors.
struct NormalWishart {
  /// The collapsed form; the tied shape has none.
  using Clusters = NormalClusters;
  CovarianceShape shape = full_covariance;
  Matrix m;               // d x K
  Vector c;               // K, > 0
  Vector a;               // shape.count(K), > p - 1
  std::vector<Matrix> B;  // shape.count(K), in the shape's form, positive definite

  int components() const { return int(m.cols()); }
  int dimension() const { return int(m.rows()); }
};

inline void exchange(StateNumbers &numbers, NormalWishart &q) {
  numbers.dense(q.m);
  numbers.dense(q.c);
  numbers.dense(q.a);
  for (Matrix &each : q.B) numbers.dense(each);
}

/// Log determinant of B in its own form: for the spherical shape that of one variance, while
/// `factor` counts it d times.
double own_log_determinant(const CovarianceShape &shape, const FactoredScale &factored, int d);

/// E[log |Lambda|], Lambda the d x d precision (002 L9 eq. 23, with its d log 2).
double expected_log_determinant(const CovarianceShape &shape, double a, const FactoredScale &b,
                                int d);

/// log of the Wishart's normaliser: (a/2) log |B| - (a p / 2) log 2 - log Gamma_p(a/2), over the
/// shape's copies.
double wishart_log_normaliser(const CovarianceShape &shape, double a, const FactoredScale &b,
                              int d);

/// The posterior given the statistics: exact for hard assignments, q(mu, Lambda) of variational
/// inference for soft ones.
NormalWishart posterior(const NormalStatistics &statistics, const NormalWishart &prior);

/// The same, for learners that pass the previous state.
NormalWishart posterior(const NormalStatistics &statistics, const NormalWishart &prior,
                        const NormalWishart &);

/// Scores rows with E_q[log N(x | mu_k, Lambda_k^-1)].
NormalScorer make_scorer(const NormalWishart &q);

/// KL(q || prior) summed over the components.
double divergence(const NormalWishart &q, const NormalWishart &prior);

/// A natural-gradient step of size rho in [0, 1] from q towards `target` (002 L8): averages of c, c
/// m, a and B + c m m', the last taken about the new mean so that no digits cancel.
NormalWishart natural_gradient_step(const NormalWishart &q, const NormalWishart &target,
                                    double rho);

/// Do components have their own predictive densities, and so a collapsed form? Not if they share a
/// scale.
inline bool has_clusters(const NormalWishart &q) { return !q.shape.shared; }

/// The numbers that represent a component.
double parameters_of(const NormalWishart &q);

/// The numbers that a sampler or learner holds per component: posteriors before and after a step,
/// factors, statistics and every thread's share of them.
double working_numbers(const NormalWishart &q, int threads);

/// The components in this order: a subset, a permutation, or repetitions. A shared scale stays as
/// it is.
NormalWishart pick(const NormalWishart &q, const std::vector<int> &order);

/// k copies of the first component.
NormalWishart replicate(const NormalWishart &q, int k);

/// The components of both. A shared scale is taken from `first`.
NormalWishart joined(const NormalWishart &first, const NormalWishart &second);

/// E[mu] and E[Lambda]^-1 = B / a.
NormalPoint point_estimate(const NormalWishart &q);

/// log p(mu, Lambda) at a point, summed over the components (the density of the precision, not of
/// the covariance).
double log_prior(const NormalPoint &point, const NormalWishart &prior);

/// The divisor of B in the covariance at the joint mode: twice the exponent of |Lambda| in the
/// density, for a scale that `components` components share.
double mode_divisor(const CovarianceShape &shape, double a, double components, int d);

/// The joint mode of (mu, Lambda) given the statistics: mean m, covariance B / (a - d) for one
/// component with its own d x d Lambda.
NormalPoint maximum_posterior(const NormalStatistics &statistics, const NormalWishart &prior);

/// log p(rows of every group), exact for hard assignments with weights 1. Groups that share a scale
/// have only a joint one, returned as that of the first group.
Vector log_marginal_likelihoods(const NormalStatistics &statistics, const NormalWishart &prior);

/// log p(all rows), the sum over the groups.
double log_marginal_likelihood(const NormalStatistics &statistics, const NormalWishart &prior);

/// q with a copy of the scale for every component if they share one; otherwise q itself.
NormalWishart untied(const NormalWishart &q);

}  // namespace bayes
