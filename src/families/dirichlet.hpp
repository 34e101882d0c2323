// The weights of a finite mixture: pi ~ Dirichlet(alpha_1 .. alpha_K).
#pragma once

#include "families/posterior_factor.hpp"

namespace bayes {

/// E[log pi_k] (002 L9, t4).
Vector expected_log_weights(const Vector &alpha);

/// KL(Dirichlet(q) || Dirichlet(prior)).
double dirichlet_divergence(const Vector &q, const Vector &prior);

/// log density of weights at a point; a weight of 0 contributes nothing where its alpha is 1.
double dirichlet_log_density(const Vector &weights, const Vector &alpha);

/// The standard deviation of an entry with parameter alpha if all parameters sum to `whole`.
double dirichlet_deviation(double alpha, double whole);

/// The factor Dirichlet(alpha): its natural parameters are alpha, its quantities the weights.
PosteriorFactor dirichlet_factor(const Vector &alpha);

}  // namespace bayes
