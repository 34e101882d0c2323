// The prior of 002 L9 eq. 21 for normal components with full covariance, mean and precision
// independent: mu ~ N(m, C), Lambda ~ Wishart(a, B), and its variational posterior q(mu) q(Lambda)
// (eqs. 27-32, with the d log 2 that the algorithm's t1 drops: harmless in the responsibilities,
// wrong in the objective).
#pragma once

#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// Predictive densities with more degrees of freedom are computed with these, as the integral over
/// the precision's weight would lose digits.
inline constexpr double most_integrated_degrees = 1e8;

/// The parameters of K priors or posteriors.
struct NormalIndependent {
  Matrix m;               // d x K
  std::vector<Matrix> C;  // K covariances of mu, d x d
  Vector a;               // K, > d - 1
  std::vector<Matrix> B;  // K, d x d

  int components() const { return int(m.cols()); }
  int dimension() const { return int(m.rows()); }
};

inline void exchange(StateNumbers &numbers, NormalIndependent &q) {
  numbers.dense(q.m);
  for (Matrix &each : q.C) numbers.dense(each);
  numbers.dense(q.a);
  for (Matrix &each : q.B) numbers.dense(each);
}

/// The inverse of the factored matrix, exactly symmetric, as stored models must be.
Matrix inverse(const FactoredScale &factored);

/// One step of coordinate ascent: q(mu) given E[Lambda] of `previous` (eq. 30), then q(Lambda)
/// given q(mu) (eq. 32).
NormalIndependent posterior(const NormalStatistics &statistics, const NormalIndependent &prior,
                            const NormalIndependent &previous);

/// Scores rows with E_q[log N(x | mu_k, Lambda_k^-1)] (eq. 27).
NormalScorer make_scorer(const NormalIndependent &q);

/// KL(q || prior) summed over the components.
double divergence(const NormalIndependent &q, const NormalIndependent &prior);

/// A natural-gradient step of size rho from q towards `target`: of q(mu) in the precision and
/// precision x mean, of q(Lambda) in a and B.
NormalIndependent natural_gradient_step(const NormalIndependent &q, const NormalIndependent &target,
                                        double rho);

/// The components in this order: a subset, a permutation, or repetitions.
NormalIndependent pick(const NormalIndependent &q, const std::vector<int> &order);

/// E[mu] and E[Lambda]^-1 = B / a.
NormalPoint point_estimate(const NormalIndependent &q);

}  // namespace bayes
