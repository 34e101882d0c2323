// The weights of a finite mixture: pi ~ Dirichlet(alpha_1 .. alpha_K).
#pragma once

#include "base/linalg.hpp"
#include "base/special.hpp"

namespace bayes {

/// E[log pi_k] (002 L9, t4).
inline Vector expected_log_weights(const Vector &alpha) {
  const double whole = digamma(alpha.sum());
  return alpha.unaryExpr([whole](double a) { return digamma(a) - whole; });
}

/// log of the density's normaliser: log Gamma(sum alpha) - sum log Gamma(alpha_k).
inline double dirichlet_log_normaliser(const Vector &alpha) {
  return -log_dirichlet_normaliser({alpha.data(), std::size_t(alpha.size())});
}

/// KL(Dirichlet(q) || Dirichlet(prior)).
inline double dirichlet_divergence(const Vector &q, const Vector &prior) {
  return dirichlet_log_normaliser(q) - dirichlet_log_normaliser(prior) +
         (q - prior).dot(expected_log_weights(q));
}

/// Log density at a point; a weight of 0 contributes nothing if its alpha is 1.
inline double dirichlet_log_density(const Vector &weights, const Vector &alpha) {
  double total = dirichlet_log_normaliser(alpha);
  for (Eigen::Index k = 0; k < alpha.size(); ++k)
    if (alpha(k) != 1) total += (alpha(k) - 1) * std::log(weights(k));
  return total;
}

}  // namespace bayes
