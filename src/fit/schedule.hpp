// A run of a learner: when it ends, its step sizes, how it went, and its loop, which can be
// resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
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

// Step sizes and samples of stochastic variational inference.

/// The step sizes (t0 + t)^-kappa and sample sizes of stochastic inference (002 L8).
struct StochasticPlan {
  std::int64_t batch_rows = 1024;
  /// Minibatches of rows are chosen by their contents (data/hashed_rows.hpp), not by their places.
  bool by_hash = false;
  double kappa = 0.7, t0 = 10;
  std::uint64_t seed = 1;
};

// A loop of a fit that can be resumed: what it has done before, and what is recorded of it.

/// Where the control has no checkpoint, every function does nothing.
class LoopCourse {
 public:
  /// `exchange` writes or reads the state before a step. If the loop has run before, its state
  /// before the last step is read here.
  LoopCourse(Control &control, std::function<void(StateNumbers &)> exchange);

  /// The objectives of the steps that are not to be repeated: all that were recorded but the last.
  std::span<const double> repeated() const;
  /// Is there a record, so that prepare() has to be called before every step that may be the last?
  bool records() const { return record_ && !control_.checkpoint->frozen(); }
  /// Takes down the state before a step.
  void prepare();
  /// The objective at that step. Throws Error(invalid_argument) if the step was made before, for
  /// the fit that is resumed, and had another objective: then the data are not those of that fit.
  void check(double objective);
  /// Records that the loop ended with the step prepared for. `trace`: the objectives; `limited`:
  /// further iterations were not allowed.
  void save(const std::vector<double> &trace, bool limited);
  /// A step was made that the resumed fit had not made.
  void go_further() {
    if (control_.checkpoint) control_.checkpoint->go_further();
  }

 private:
  Control &control_;
  const std::function<void(StateNumbers &)> exchange_;
  LoopRecord *const record_;
  /// the state before the step at hand
  std::vector<double> state_;
  /// the step that is repeated is still to come
  bool repeats_ = false;
};

/// Throws Error(invalid_argument): the data are not those of the fit that is to be resumed.
[[noreturn]] BAYES_API void refuse_other_data(const std::string &detail);

}  // namespace bayes
