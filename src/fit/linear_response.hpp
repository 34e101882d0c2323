// Do the rows tell the components of a variational fit apart?
//
// vi finds one maximum of its bound, and linear response says how far parameters may be from there.
// Where components overlap and rows are few, the bound has other maxima, as high and far away: with
// a component that is nearly empty, or of few rows that happen to lie together. The value at one
// maximum says nothing about the others. The rows do: the components are told apart if the log
// likelihood falls by enough without any one of them, its rows being given to the others, which are
// fitted to them.
//
// How much is enough was measured, not derived (tests/bench/intervals.cpp): at half a dozen numbers
// a component, intervals of 90 % hold the parameters in 85 % and more from some 17 nats on,
// whatever the number of rows, the overlap and the family. A further component gains some nats with
// every parameter even where there is none, so that the limit grows with them.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "fit/driver.hpp"
#include "fit/learners.hpp"

namespace bayes {

/// The fall of the log likelihood, in nats, from which on a component counts as told apart from the
/// others. `numbers`: natural parameters of the posterior of a component, with its weight.
inline double least_fall(double numbers) { return 10 + numbers; }

/// The weight of the rows and of the prior, in rows, behind the weights of components.
template <class Q> double rows_behind(const MixturePosterior<Q> &q) { return q.alpha.sum(); }

/// A local step with the components `out` left out.
template <RowLearner L>
LocalResult<typename L::Statistics> expected_statistics_without(const std::vector<int> &out,
                                                                const L &learner,
                                                                const typename L::State &state,
                                                                RowSource &rows, Control &control) {
  std::vector<double> log_weights = learner.log_weights(state);
  for (const int j : out) log_weights[std::size_t(j)] = -std::numeric_limits<double>::infinity();
  return local_step<typename L::Allocation>(rows, control, learner.scorer(state), log_weights);
}

/// Do the data tell the first `components` components of q apart, the result of a fit to them?
/// Other components stand for no component of their own, and are left out with each. Falls are
/// scaled by the rows behind `all` over the rows of the data, which may be a sample, or may come in
/// addition to rows that the prior knows. `poll` is called before every pass.
template <Learner L, class Data, class Poll>
bool are_told_apart(const L &learner, const typename L::State &q, int components,
                    const typename L::State &all, Data &data, Control &control, Poll poll) {
  if (components < 2) return true;
  poll();
  const auto whole = expected_statistics(learner, q, data, control);
  const int parts = int(whole.statistics.count.size()),
            // With one component left its fit needs a single step.
      steps = components == 2 ? 1 : 5;
  const double least = least_fall(double(natural_parameters(q, q).size()) / parts) *
                       whole.statistics.count.sum() / rows_behind(all);
  for (int j = 0; j < components; ++j) {
    std::vector<int> out = {j};
    for (int other = components; other < parts; ++other) out.push_back(other);
    typename L::State state = q;
    try {
      for (int step = 0;; ++step) {
        poll();
        const auto left = expected_statistics_without(out, learner, state, data, control);
        // Further steps bring it closer to the whole. Not finite: no other component can take its
        // rows.
        if (!std::isfinite(left.sums.objective)) break;
        if (whole.sums.objective - left.sums.objective < least) return false;
        if (step == steps) break;
        state = learner.update(left.statistics, state);
      }
    } catch (const Error &error) {
      // The other components cannot be fitted to its rows, for example where states of steps are
      // known.
      if (error.code() != Errc::numeric && error.code() != Errc::invalid_argument) throw;
    }
  }
  return true;
}

/// The largest number of natural parameters of a posterior that linear response accepts: it takes
/// two passes over the rows for each, and matrices with a row and a column for each.
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
/// Thrown if the time of the fit is over.
struct TimeIsOver {};
inline void require_time(const Control &control) {
  if (control.time_is_over()) throw TimeIsOver();
}

/// `pass` maps natural parameters to those after a local and a global step.
Vector linear_response(const Vector &natural, const std::vector<PosteriorFactor> &factors,
                       const std::function<Vector(const Vector &)> &pass);
/// The same near the maximum. Farther away, moves `natural` towards the maximum by Newton steps
/// with the response computed here, and returns an empty vector. `factors_at`: the factors of a
/// posterior with these natural parameters. Throws Error(numeric) if a step ends at no posterior.
Vector approach(Vector &natural,
                const std::function<std::vector<PosteriorFactor>(const Vector &)> &factors_at,
                const std::function<Vector(const Vector &)> &pass);
/// The standard deviations of `own`, multiplied by the ratios of `corrected` to those of `there`.
Vector rescaled(const std::vector<PosteriorFactor> &own, const std::vector<PosteriorFactor> &there,
                const Vector &corrected);
}  // namespace detail

/// Calls `respond` if the fit was not cut short. Returns an empty response, and counts the fit as
/// cut short, if the time is over before it has ended.
template <class Respond> auto if_time_is_left(Control &control, Respond respond) {
  try {
    if (!control.is_cut_short) return respond();
  } catch (const detail::TimeIsOver &) {
    control.cut_short();
  }
  return decltype(respond()){};
}

/// The standard deviations of the quantities of all factors of q, the result of a variational fit
/// to the data; not finite where those under q are not. Throws Error(numeric) if q is not near a
/// maximum of the bound. Empty if the fit was cut short, or the time is over.
template <Learner L, class Data>
Vector linear_response(const L &learner, const typename L::State &q, Data &data, Control &control) {
  return if_time_is_left(control, [&] {
    return detail::linear_response(
        natural_parameters(q, q), posterior_factors(q), [&](const Vector &natural) {
          detail::require_time(control);
          const typename L::State from = from_natural_parameters(natural, q);
          return natural_parameters(
              learner.update(expected_statistics(learner, from, data, control).statistics, from),
              q);
        });
  });
}

/// The cost of a fit so far, from which it is decided whether linear response pays.
struct ResponseCost {
  /// rows (or steps) of all data, and of the trial data that restarts ran on; 0 if there are none
  double rows = 0, trial_rows = 0;
  /// rows visited by the fit, summed over passes
  double visits = 0;

  /// Does linear response for this many natural parameters over this many rows take no more
  /// operations than the fit, or no more than `free_operations`? A row takes about two for each
  /// parameter.
  bool pays(double natural, double over) const;
};
inline constexpr double free_operations = 5e8;

/// The result of linear response if option linear_response was not given.
template <Learner L> struct Response {
  /// empty if it does not pay, or does not exist
  Vector deviations;
  /// Whether the rows tell the components apart; if not, there are no deviations.
  bool told_apart = true;
  /// a state nearer to the maximum of the bound, if the fit ended too far from it; `objective` and
  /// `statistics` are then those of this state
  std::optional<typename L::State> moved;
  double objective = 0;
  std::optional<typename L::Statistics> statistics;
};

/// Linear response; if the fit ended farther from the maximum than that allows, as happens when it
/// hardly moves from one iteration to the next, Newton's method first moves there, with the matrix
/// that linear response has computed. Throws Error(numeric), and TimeIsOver.
template <Learner L, class Data>
Response<L> linear_response_and_approach(const L &learner, const typename L::State &q, Data &data,
                                         Control &control) {
  constexpr int max_turns = 3;
  Response<L> out;
  typename L::State at = q;
  for (int turn = 0; turn < max_turns && out.deviations.size() == 0; ++turn) {
    Vector natural = natural_parameters(at, at);
    out.deviations = detail::approach(
        natural,
        [&](const Vector &from) { return posterior_factors(from_natural_parameters(from, at)); },
        [&](const Vector &from) {
          detail::require_time(control);
          const typename L::State state = from_natural_parameters(from, at);
          return natural_parameters(
              learner.update(expected_statistics(learner, state, data, control).statistics, state),
              at);
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

/// Linear response where it pays. If it pays only on the `trial` data (null if there are none), the
/// fit is continued on them to their own maximum, and the mean-field standard deviations of q are
/// multiplied by the factors that linear response finds there. The first `components` components of
/// q must be told apart by the data. If the time ends before, the deviations are empty, and the fit
/// does not count as cut short, unless it can be resumed.
template <Learner L, class Data>
Response<L> linear_response_that_pays(const L &learner, const typename L::State &q, int components,
                                      Data &data, Data *trial, const ResponseCost &cost,
                                      Control &control) {
  if (control.is_cut_short) return {};
  const double natural = double(natural_parameters(q, q).size());
  // Where the response does not exist, the components can be in doubt all the same.
  const auto judged = [&](const typename L::State &from, Data &on) {
    Response<L> out;
    try {
      out = linear_response_and_approach(learner, from, on, control);
    } catch (const Error &error) {
      if (error.code() != Errc::numeric) throw;
    }
    out.told_apart = are_told_apart(learner, out.moved ? *out.moved : from, components, q, on,
                                    control, [&] { detail::require_time(control); });
    if (!out.told_apart) out.deviations = {};
    return out;
  };
  try {
    if (cost.pays(natural, cost.rows)) return judged(q, data);
    if (!trial || !cost.pays(natural, cost.trial_rows)) return {};
    QuietControl quiet(control);
    Schedule schedule;
    typename L::State there = optimize(learner, q, *trial, quiet, schedule).state;
    if (control.checkpoint && control.is_cut_short) return {};
    control.is_cut_short = false;
    Response<L> found = judged(there, *trial);
    if (found.moved) there = std::move(*found.moved);
    Response<L> out;
    out.told_apart = found.told_apart;
    if (found.deviations.size() > 0)
      out.deviations =
          detail::rescaled(posterior_factors(q), posterior_factors(there), found.deviations);
    return out;
  } catch (const Error &error) {
    if (error.code() != Errc::numeric) throw;
    return {};
  } catch (const detail::TimeIsOver &) {
    if (control.checkpoint) control.cut_short();
    return {};
  }
}

}  // namespace bayes
