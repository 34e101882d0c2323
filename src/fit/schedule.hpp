// When a run of a learner ends, and how it went.
#pragma once

#include <vector>

#include "data/local_step.hpp"

namespace bayes {

/// When a run ends, unless the time of the fit is over before (Control::budget), and its labels in
/// progress reports.
struct Schedule {
  const char *method = "";
  int restart = 1, restarts = 1;
  int max_iterations = 1000;
  /// are made even if the time is over
  int min_iterations = 1;
  /// Converged when the predicted remaining gain of the objective is at most this; 0: when the
  /// objective no longer changes.
  double tolerance = 1e-4;
  /// The share of the iterations so far over which changes of the objective are compared to
  /// estimate the remaining gain; 0: single iterations.
  double span = 0;
  /// A change of at most this pauses the run: it may be continued from its state.
  double pause = 0;
  /// If above 1, gains are compared in windows of this many iterations, and the remaining gain is
  /// estimated from the largest of the last three ratios between windows. For objectives whose
  /// gains are uneven and shrink ever more slowly.
  int gain_window = 1;
  /// If the objective is minus a sum of squares, the number of squares, else 0. The tolerance then
  /// applies to the log-likelihood of normal variables whose variance is the mean square.
  double squares = 0;
};

/// How a run went.
struct RunTrace {
  /// objective at the start and after every iteration
  std::vector<double> trace;
  bool converged = false;
  int iterations = 0;
  /// sums over the rows at the last local step
  RowSums sums;
  /// Degenerate components, from 0: those with rows that are held at a bound of maximum likelihood.
  /// Without the bound the likelihood would be higher, as a rule without limit.
  std::vector<int> degenerate;
};

}  // namespace bayes
