// The steps that fits of all models share: limits of memory and time, restarts of which the best is
// kept, and the description of the fit in the model.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "data/rows.hpp"
#include "document/model.hpp"
#include "fit/fit_options.hpp"
#include "fit/schedule.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

/// Throws Error if there are no rows (invalid_argument), if they have more elements than `what`,
/// such as "a Gaussian mixture", accepts (too_large), or if their number of elements differs from
/// that of the start model, if there is one (array_shape).
void require_rows(const RowSource &rows, const char *what, int max_elements,
                  const Model *start = nullptr);

/// Throws Error(too_large) if a model of `what`, which takes this many doubles, would not fit into
/// a value. `hint`: the HINT of the error.
void require_model_size(const std::string &what, double doubles, const std::string &hint);

/// The memory that a fit takes in addition to its data, and the words for the error message.
struct MemoryNeed {
  /// "3 components of dimension 2"
  std::string what;
  double bytes = 0;
  /// the data that are not included
  const char *data = "rows";
  /// a further sentence for the DETAIL, or empty
  std::string detail = {};
  /// the alternative to raising maintenance_work_mem; follows a comma
  std::string hint = "or use a smaller k.";
};
/// Throws Error(too_large) if the need is more than the control allows.
void require_memory(const MemoryNeed &need, const Control &control);

/// The options of a fit that a FitRun uses.
struct FitPlan {
  FitPlan() = default;
  FitPlan(const FitOptions &options);

  Method method = Method::exact;
  std::uint64_t seed = 1;
  int restarts = 1;
  /// `restarts` is a limit: there are fewer once the best optimum was found often enough
  /// (fit_run.cpp)
  bool restarts_settled = false;
  int max_iterations = 1000;
  double tolerance = 1e-4;
  /// Schedule::span
  double span = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  /// A run may stop early and be continued from its state, with the same result as without the
  /// stop.
  bool resumes = true;
  /// the fit is to be recorded in a checkpoint of the control
  bool resumable = false;
  /// If above 0 and there are several restarts, each makes at most this many iterations; the best
  /// of them is then continued.
  int brief_iterations = 0;
  /// Schedule::gain_window
  int gain_window = 1;
  /// a restart that ends with a degenerate component may be the best
  bool degenerate = true;
  /// FitOptions::given_prior
  Document given_prior;
};

/// Takes k and the error of a fit of a selection that is impossible.
using FailedFit = std::function<void(int k, const Error &)>;
/// May another k have a fit where one has this error?
BAYES_API bool may_depend_on_k(const Error &error);

/// The time of the fits of one statement, which option max_seconds gives to all of them together:
/// each may take an equal share of what is left when it begins.
class BAYES_API SharedTime {
 public:
  /// `options`: those of the fits, checked.
  SharedTime(const Document &options, std::size_t fits, Control &control);
  /// The scope of the next fit.
  BudgetScope next();
  /// Makes the next fit of a selection, and passes its model to `emit`, or its failure to `failed`.
  template <class Fit, class Emit> void select(int k, Fit fit, Emit emit, const FailedFit &failed) {
    const BudgetScope share = next();
    decltype(fit()) model;
    try {
      model = fit();
    } catch (const Error &error) {
      if (!may_depend_on_k(error)) throw;
      return failed(k, error);
    }
    emit(std::move(model));
  }

 private:
  Control &control_;
  const Budget all_;
  std::size_t left_;
};

/// A part of the data, on which restarts run where runs on all data would take too long. `weight`:
/// its weight, as in FitRun::set_weight().
template <class Data> struct TrialData {
  Data *data = nullptr;
  double weight = 0;
};

/// One fit, whose time runs from construction: while the fit lives, the budget of its control is
/// the plan's max_seconds, or what an outer budget has left if that is less. Its results go into
/// the model's info, trace and draws. Throws Error(invalid_argument) if the fit is to be recorded,
/// but the control has no checkpoint.
class FitRun {
 public:
  FitRun(Model &model, FitPlan plan, Control &control);
  FitRun(const FitRun &) = delete;
  ~FitRun();

  Control &control() const { return control_; }
  /// of the current restart
  const Schedule &schedule() const { return schedule_; }
  /// Sets the total weight of all rows (or steps), and their number.
  void set_weight(double weight, std::int64_t rows);
  double weight() const { return weight_; }

  /// Runs every restart and returns the best one: of those without degenerate components, if there
  /// are any and the plan asks for them. `begin(restart)`, from 1, returns the first state of a
  /// restart; it may take the state of the best restart so far, or null, as a second argument.
  /// `go(state, data)` runs it.
  ///
  /// If there are several restarts and runs can be resumed, each stops when its objective hardly
  /// changes any more, or after the plan's brief_iterations; the best one alone is then continued
  /// to the tolerance. If the plan allows it, there are fewer restarts where they come to the same
  /// optimum again and again (fit_run.cpp). If there are trial data, restarts run on them, and
  /// the best one is continued on all data: its trace is the last.
  template <class Data, class Begin, class Go>
  auto best_of_restarts(Data &all, TrialData<Data> trial, Begin begin, Go go) {
    std::optional<decltype(go(begin(1), all))> best, run;
    if (plan_.restarts == 1) trial.data = nullptr;
    const Restarts restarts{
        [&](int restart) -> const RunTrace & {
          run.reset();  // the memory check assumes two runs at once: this one and the best
          Data &data = trial.data ? *trial.data : all;
          if constexpr (requires { begin(restart, &best->state); })
            run = go(begin(restart, best ? &best->state : nullptr), data);
          else
            run = go(begin(restart), data);
          return *run;
        },
        [&] { best = std::move(run); },
        [&]() -> const RunTrace & {
          run.reset();
          best = go(std::move(best->state), all);
          return *best;
        }};
    run_restarts(restarts, trial.data ? &trial.weight : nullptr);
    return *std::move(best);
  }
  template <class Data, class Begin, class Go>
  auto best_of_restarts(Data &all, Begin begin, Go go) {
    return best_of_restarts(all, TrialData<Data>{}, std::move(begin), std::move(go));
  }

  /// Does the current run go on from a checkpoint? Then its first state need only have the right
  /// sizes: its numbers are replaced.
  bool continues() const { return record_ && !record_->loops.empty(); }
  /// Whether the current run has failed from its first state, and another took its place.
  bool has_begun_afresh() const { return record_ && record_->begun_afresh; }
  void begins_afresh();

  /// which restart was the best, from 1
  int best_restart() const { return best_restart_; }
  /// Iterations of all restarts on all data, and on trial data.
  double iterations() const { return iterations_; }
  double trial_iterations() const { return trial_iterations_; }

  /// Records that a further step has brought the best run to this objective.
  void improve(double objective);

  /// Renumbers the degenerate components: order[i] is the former index of component i.
  void reorder(const std::vector<int> &order);

  /// Records the results of chains.
  void take(ChainRun chains);

  /// Fills in the model's info; where the number of restarts was not given, its options name the
  /// number that was made. To be called last, as it records the duration of the fit.
  void describe(std::int64_t rows, std::int64_t skipped, int dimension, int components,
                Document options);

 private:
  struct Restarts {
    std::function<const RunTrace &(int restart)> run;
    /// records that the last run is the best so far
    std::function<void()> keep;
    std::function<const RunTrace &()> go_on;
  };
  /// `trial_weight`: null if restarts run on all data.
  void run_restarts(const Restarts &restarts, const double *trial_weight);
  void take(const RunTrace &run, int before);
  void go_on(const Restarts &restarts, std::size_t best, bool trial);
  /// Begins run number `index`, from 0, in the record.
  void begin_run(int index);
  /// The best of the runs that have ended by the record, from 0; -1 if none has.
  int best_recorded() const;
  /// Is a run that ended at this objective better than one that ended at the other?
  bool is_better(double objective, bool degenerate, double other, bool other_degenerate) const;
  /// Forgets the runs of the record that another limit of iterations would change.
  void drop_limited_runs();
  /// Records how the current run ended; of the runs that have ended only the best, from 0, keeps
  /// its loops.
  void end_run(const RunTrace &run, int best);

  Model &model_;
  const FitPlan plan_;
  Control &control_;
  const BudgetScope time_;
  /// was an outer fit cut short before this one began?
  const bool cut_before_;
  Schedule schedule_;
  /// the record of the current run, if the fit can be resumed
  RunRecord *record_ = nullptr;
  double weight_ = 1;
  int best_restart_ = 1, restarts_made_ = 0;
  /// Keeps the traces of the ten best restarts and empties the others: traces of tens of restarts
  /// would make the model of a small table tens of times as large.
  void drop_traces();

  /// index of the best run's trace in the model
  std::size_t best_trace_ = 0;
  double iterations_ = 0, trial_iterations_ = 0;
};

}  // namespace bayes
