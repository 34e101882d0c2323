// How long a run of a learner may go on, and how it went.
#pragma once

#include <chrono>
#include <limits>
#include <vector>

#include "data/local_step.hpp"

namespace bayes {

/// When to stop, and how to say where one is.
struct Schedule {
  const char *method = "";
  int restart = 1, restarts = 1;
  int max_iterations = 1000;
  /// Converged when the predicted remaining gain of the objective is at most this; 0: when the
  /// objective no longer changes.
  double tolerance = 1e-4;
  /// The share of the iterations so far over which changes are compared for the estimate of what is
  /// left; 0: single iterations.
  double span = 0;
  /// A change of no more than this ends the run too, for now: it may go on from its state.
  double pause = 0;
  /// Above 1: gains are judged in windows of so many iterations, and the gain to come by the worst
  /// of the last three ratios between them. For objectives whose gains are uneven, and fade ever
  /// more slowly.
  int gain_window = 1;
  /// If the objective is minus a sum of squares: of how many numbers. Then the tolerance is for the
  /// log-likelihood of normals with their mean square as variance.
  double squares = 0;
  /// for the whole fit
  double max_seconds = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

/// How a run went.
struct RunTrace {
  /// objective at the start and after every iteration
  std::vector<double> trace;
  bool converged = false;
  int iterations = 0;
  /// of the rows at the last local step
  RowSums sums;
  /// Components with rows, from 0, that a bound of maximum likelihood holds: without it the
  /// likelihood would be higher, as a rule without limit.
  std::vector<int> degenerate;
};

}  // namespace bayes
