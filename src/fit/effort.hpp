// How many runs a fit makes if option restarts does not say: as many as are cheap. The work of a
// run is estimated, never measured, so the same rows get the same runs on every machine.
#pragma once

#include <algorithm>

namespace bayes {

/// The work of one run of a learner, as far as it is known before it.
struct RunEffort {
  /// what an iteration goes through: rows (tokens, cells) x parameters used for each of them
  double numbers;
  /// expected
  double iterations;

  /// On one core of 2020. The work behind a number differs between families by a factor of a few,
  /// which does not matter here.
  double seconds() const { return numbers * iterations / 1e8; }
};

/// As many runs as take two seconds together by this estimate, but at least `least` and at most
/// `most`. `least` is what a family needs where a run is expensive, `most` is the number beyond
/// which it seldom finds anything better.
inline int affordable_restarts(const RunEffort &effort, int least, int most) {
  const double runs = 2 / effort.seconds();
  return int(std::clamp(runs, double(least), double(most)));
}

}  // namespace bayes
