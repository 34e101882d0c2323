// Standard deviations of a variational posterior by linear response (R. Giordano, T. Broderick and
// M. I. Jordan, Covariances, robustness, and variational Bayes, JMLR 19, 2018).
//
// Mean field takes labels (or paths) and parameters as independent, and so leaves out what their
// dependence adds to the variances of the parameters. But its means are good, also those of other
// posteriors nearby. The covariance of g and h is the derivative, at t = 0, of the mean of g under
// the posterior whose log density has t h added; linear response is that derivative of the mean
// under mean field's own optimum.
//
// Let q(parameters) have natural parameters eta, expectations m = E[phi] and V = dm/deta =
// Cov[phi]. A pass over the rows takes m to the expected statistics S(m) of the optimal q(labels),
// and at the optimum eta = prior + S. Its derivative H = dS/dm is a covariance of sums over labels;
// it is what is left of the Hessian of the expected log joint when the labels have been eliminated.
// With t g added, dm/dt = V dS/dt + c and dS/dt = H dm/dt, c = Cov[phi, g], so
//
//   linear response variance of g = Var[g] + c' dS/dt = Var[g] + c' H (I - V H)^-1 c
//
// where Var[g], V and c are those of q. With V = L L', a factor of q at a time, w = L^-1 c and
// M = L' H L that is Var[g] + w' ((I - M)^-1 - I) w. M is computed by central differences over
// passes, in steps that change m by a thousandth of a standard deviation. It is not negative
// definite, so variances only grow; I - M is positive definite where the bound has a maximum.
#pragma once

#include <functional>
#include <vector>

#include "fit/learners.hpp"

namespace bayes {

/// Natural parameters of a posterior that linear response takes: there are two passes over the rows
/// for each, and matrices of so many rows and columns.
inline constexpr int most_linear_response = 2000;

/// Throws Error(too_large) if there are more.
void require_linear_response_size(double natural_parameters);

template <class Q>
Vector natural_parameters(const MixturePosterior<Q> &q, const MixturePosterior<Q> &about) {
  const Vector components = natural_parameters(q.components, about.components);
  Vector out(q.alpha.size() + components.size());
  out << q.alpha, components;
  return out;
}
template <class Q>
MixturePosterior<Q> from_natural_parameters(const Vector &natural,
                                            const MixturePosterior<Q> &about) {
  const Eigen::Index k = about.alpha.size();
  return {natural.head(k),
          from_natural_parameters(Vector(natural.tail(natural.size() - k)), about.components)};
}
template <class Q> std::vector<PosteriorFactor> posterior_factors(const MixturePosterior<Q> &q) {
  std::vector<PosteriorFactor> out = posterior_factors(q.components);
  out.insert(out.begin(), dirichlet_factor(q.alpha));
  return out;
}

namespace detail {
/// `pass`: natural parameters after a local and a global step from these.
Vector linear_response(const Vector &natural, const std::vector<PosteriorFactor> &factors,
                       const std::function<Vector(const Vector &)> &pass);
}  // namespace detail

/// The standard deviations of the quantities of all factors of q, where a variational fit to the
/// data ended; not finite where they are not under q. Throws Error(numeric) if that is not near a
/// maximum of the bound.
template <Learner L, class Data>
Vector linear_response(const L &learner, const typename L::State &q, Data &data, Control &control) {
  return detail::linear_response(
      natural_parameters(q, q), posterior_factors(q), [&](const Vector &natural) {
        const typename L::State from = from_natural_parameters(natural, q);
        return natural_parameters(
            learner.update(expected_statistics(learner, from, data, control).statistics, from), q);
      });
}

}  // namespace bayes
