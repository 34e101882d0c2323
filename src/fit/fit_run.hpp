// What every fit goes through, whatever the model: limits of memory and time, restarts of which the
// best is kept, and what is said of the fit at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/model.hpp"
#include "fit/fit_options.hpp"
#include "fit/schedule.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

/// Throws Error if there are no rows (invalid_argument), or rows of more elements than `what`, such
/// as "a Gaussian mixture", takes (too_large), or of another number than those of the model that
/// the fit starts from, if there is one (array_shape).
void require_rows(const RowSource &rows, const char *what, int most_elements,
                  const Model *start = nullptr);

/// Throws Error(too_large) if a model of `what`, so many doubles, would not fit into a value.
/// `hint`: what to use.
void require_model_size(const std::string &what, double doubles, const std::string &hint);

/// How much memory a fit takes beside its data, and how to say so.
struct MemoryNeed {
  /// "3 components of dimension 2"
  std::string what;
  double bytes = 0;
  /// beside which data
  const char *data = "rows";
  /// more to say of what is needed, or empty
  std::string detail = {};
  /// what to do but to raise maintenance_work_mem, after a comma
  std::string hint = "or use a smaller k.";
};
/// Throws Error(too_large) if that is more than the control allows.
void require_memory(const MemoryNeed &need, const Control &control);

/// The options of a fit that a FitRun looks at.
struct FitPlan {
  FitPlan() = default;
  FitPlan(const FitOptions &options);

  Method method = Method::exact;
  std::uint64_t seed = 1;
  int restarts = 1, max_iterations = 1000;
  double tolerance = 1e-4;
  /// Schedule::span
  double span = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  /// A run may stop early and go on from its state, as if nothing had happened.
  bool resumes = true;
  /// Above 0: of several restarts each makes at most so many iterations, which show which is the
  /// best, before that one goes on.
  int brief_iterations = 0;
  /// Schedule::gain_window
  int gain_window = 1;
  /// a restart that ends with a degenerate component may be the best
  bool degenerate = true;
  /// FitOptions::given_prior
  Document given_prior;
};

/// Data on which restarts run where all of it would take too long. `weight`: the weight of the
/// objective on them.
template <class Data> struct TrialData {
  Data *data = nullptr;
  double weight = 0;
};

/// One fit, from when it is made. What it finds out goes into the model's info, trace and draws.
class FitRun {
 public:
  FitRun(Model &model, FitPlan plan, Control &control);
  FitRun(const FitRun &) = delete;

  Control &control() const { return control_; }
  /// of the restart that runs
  const Schedule &schedule() const { return schedule_; }
  /// The weight of all rows (or steps), and their number.
  void set_weight(double weight, std::int64_t rows);
  double weight() const { return weight_; }

  /// Runs every restart and keeps the best, if the plan says so one without degenerate components
  /// if there is any: `begin(restart)`, from 1, gives its first state, `go(state, data)` runs it.
  /// If there are several restarts, they stop where they hardly change and show which is the best,
  /// and that one alone goes on to the tolerance, or are short, if the plan says so; if there are
  /// trial data, they run there, and the
  /// best goes on with all data: its trace is the last.
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

  /// which restart was the best, from 1
  int winner() const { return winner_; }
  /// Iterations of all restarts on all data, and on trial data.
  double iterations() const { return iterations_; }
  double trial_iterations() const { return trial_iterations_; }

  /// The best run was brought to this objective by one step more.
  void improve(double objective);

  /// The components get these places: to be called with the order of what a fit left.
  void reorder(const std::vector<int> &order);

  /// What chains found.
  void take(ChainRun chains, const ChainPlan &plan);

  /// The last thing that a fit does.
  void describe(std::int64_t rows, std::int64_t skipped, int dimension, int components,
                Document options);

 private:
  struct Restarts {
    std::function<const RunTrace &(int restart)> run;
    /// what ran last is the best so far
    std::function<void()> keep;
    std::function<const RunTrace &()> go_on;
  };
  /// `trial_weight`: null if restarts run on all data.
  void run_restarts(const Restarts &restarts, const double *trial_weight);

  Model &model_;
  const FitPlan plan_;
  Control &control_;
  Schedule schedule_;
  double weight_ = 1;
  int winner_ = 1;
  /// Tens of restarts would make the model of a small table tens of times as large: of more than
  /// ten the traces of the ten best stay, and those of the others are empty.
  void drop_traces();

  /// of the model's traces that of the best run
  std::size_t best_trace_ = 0;
  double iterations_ = 0, trial_iterations_ = 0;
};

}  // namespace bayes
