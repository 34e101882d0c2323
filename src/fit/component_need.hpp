// Do the rows tell the components of a variational fit apart?
//
// vi finds one maximum of its bound, and what is known of the parameters is how far they may be
// from there (fit/linear_response.hpp). Where components overlap and rows are few, the bound has
// other maxima, as high and far away: with a component that is nearly empty, or of few rows that
// happen to lie together. Nothing that is computed at one of them tells of the others. The rows do:
// the components are told apart if the log likelihood falls by enough without any one of them, its
// rows being given to the others, which are fitted to them.
//
// How much is enough was measured, not derived (tests/bench/intervals.cpp): at half a dozen numbers
// a component, intervals of 90 % hold the parameters in 85 % and more from some 17 nats on,
// whatever the number of rows, the overlap and the family. A further component gains some nats with
// every parameter even where there is none, so that the limit grows with them.
#pragma once

#include <cmath>
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

/// Do the data tell the first `components` components of q apart, the result of a fit to them? Any
/// others stand for no component of their own, and are left out with each. Falls are multiplied by
/// the rows behind `all` and divided by those of the data, which may be a sample, or rows beside
/// those that the prior knows of. `poll` is called before every pass.
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
        // Further steps bring it closer to the whole. Not finite: there are no others for its rows.
        if (!std::isfinite(left.sums.objective)) break;
        if (whole.sums.objective - left.sums.objective < least) return false;
        if (step == steps) break;
        state = learner.update(left.statistics, state);
      }
    } catch (const Error &error) {
      // The others have no fit to its rows, as where states of the steps are known.
      if (error.code() != Errc::numeric && error.code() != Errc::invalid_argument) throw;
    }
  }
  return true;
}

}  // namespace bayes
