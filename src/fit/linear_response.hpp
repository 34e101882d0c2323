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

#include "fit/driver.hpp"
#include "fit/learners.hpp"

namespace bayes {

/// Natural parameters of a posterior that linear response takes: there are two passes over the rows
/// for each, and matrices of so many rows and columns.
inline constexpr int max_linear_response = 2000;

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
/// The same; but farther from the maximum goes there, as far as steps with the response found here
/// lead, and returns nothing.
Vector approach(Vector &natural, const std::vector<PosteriorFactor> &factors,
                const std::function<Vector(const Vector &)> &pass);
/// The deviations of `own`, multiplied by what makes of those of `there` the corrected ones.
Vector rescaled(const std::vector<PosteriorFactor> &own, const std::vector<PosteriorFactor> &there,
                const Vector &corrected);
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

/// What a fit has done, by which it is told whether linear response pays.
struct ResponseCost {
  /// rows (or steps) of all data, and of the part of it that restarts ran on; 0: none
  double rows = 0, trial_rows = 0;
  /// rows that the fit has passed over
  double visits = 0;

  /// Does linear response of so many natural parameters over so many rows take no more operations
  /// than the fit, or no more than `free_operations`? A row takes about two for each parameter.
  bool pays(double natural, double over) const;
};
inline constexpr double free_operations = 5e8;

/// What linear response finds where nobody has asked for it.
template <Learner L> struct Response {
  /// empty where it does not pay, or does not exist
  Vector deviations;
  /// nearer to the maximum of the bound, if the fit ended too far from it, and there:
  std::optional<typename L::State> moved;
  double objective = 0;
  std::optional<typename L::Statistics> statistics;
};

/// Where a fit ended farther from the maximum than linear response allows, as it does where it
/// hardly moved from one iteration to the next, Newton's method goes there; what it needs is known.
/// Throws Error(numeric).
template <Learner L, class Data>
Response<L> linear_response_and_approach(const L &learner, const typename L::State &q, Data &data,
                                         Control &control) {
  constexpr int max_turns = 3;
  Response<L> out;
  typename L::State at = q;
  for (int turn = 0; turn < max_turns && out.deviations.size() == 0; ++turn) {
    Vector natural = natural_parameters(at, at);
    out.deviations = detail::approach(natural, posterior_factors(at), [&](const Vector &from) {
      const typename L::State state = from_natural_parameters(from, at);
      return natural_parameters(
          learner.update(expected_statistics(learner, state, data, control).statistics, state), at);
    });
    if (out.deviations.size() == 0) out.moved = at = from_natural_parameters(natural, at);
  }
  if (!out.moved) return out;
  const auto objective = [&](const typename L::State &state) {
    auto local = expected_statistics(learner, state, data, control);
    out.statistics = std::move(local.statistics);
    return local.sums.objective + learner.objective(state);
  };
  const double before = objective(q);
  out.objective = objective(*out.moved);
  if (!(out.objective >= before)) return {};
  return out;
}

/// Where linear response pays on the `trial` data only (null: there are none), the fit goes on
/// there to its own maximum, and by what linear response multiplies mean field's deviations there
/// it multiplies those of q.
template <Learner L, class Data>
Response<L> linear_response_that_pays(const L &learner, const typename L::State &q, Data &data,
                                      Data *trial, const ResponseCost &cost, Control &control) {
  const double natural = double(natural_parameters(q, q).size());
  try {
    if (cost.pays(natural, cost.rows))
      return linear_response_and_approach(learner, q, data, control);
    if (!trial || !cost.pays(natural, cost.trial_rows)) return {};
    QuietControl quiet(control);
    Schedule schedule;
    typename L::State there = optimize(learner, q, *trial, quiet, schedule).state;
    Response<L> found = linear_response_and_approach(learner, there, *trial, control);
    if (found.moved) there = std::move(*found.moved);
    if (found.deviations.size() == 0) return {};
    Response<L> out;
    out.deviations =
        detail::rescaled(posterior_factors(q), posterior_factors(there), found.deviations);
    return out;
  } catch (const Error &error) {
    if (error.code() != Errc::numeric) throw;
    return {};
  }
}

}  // namespace bayes
