// The number of runs of a fit without option restarts: as many as are cheap. The work of a run is
// estimated, never measured, so the same rows get the same runs on every machine.
#pragma once

#include <algorithm>

namespace bayes {

/// The work of one run of a learner, as estimated before the run.
struct RunEffort {
  /// size of an iteration: rows (tokens, cells) x parameters used for each of them
  double numbers;
  /// expected number
  double iterations;

  /// On one core of 2020. The work for each number differs between families by a small factor,
  /// which does not matter here.
  double seconds() const { return numbers * iterations / 1e8; }
};

/// The number of runs that take two seconds in total by this estimate, but at least `least` and at
/// most `most`. `least` is the number that a family needs even if a run is expensive; more than
/// `most` runs seldom find a better optimum.
inline int affordable_restarts(const RunEffort &effort, int least, int most) {
  const double runs = 2 / effort.seconds();
  return int(std::clamp(runs, double(least), double(most)));
}

}  // namespace bayes
