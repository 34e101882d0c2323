#include "fit/fit_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

// The rule by which restarts end: they have found the best optimum so often that more are not worth
// their time.

/// The optima that the restarts of a fit have come to, and how often each. The decision depends on
/// objectives alone, so that the same rows get the same number of restarts on every machine, in
/// every plan of a statement.
class FoundOptima {
 public:
  /// Runs whose objectives differ by at most `resolution` have come to the same optimum.
  explicit FoundOptima(double resolution) : resolution_(resolution) {}

  /// Records the objective at which a run ended.
  void add(double objective);

  /// Whether at least eight runs have ended, at least five of them at the best optimum, and at
  /// most a tenth of them at optima that were found once. That share estimates the probability
  /// that another run comes to an optimum that none has come to yet (Good 1953, The population
  /// frequencies of species and the estimation of population parameters, Biometrika 40).
  bool enough() const;

 private:
  struct Optimum {
    double objective;
    int runs;
  };
  double resolution_;
  int runs_ = 0;
  std::vector<Optimum> optima_;
};

void FoundOptima::add(double objective) {
  ++runs_;
  for (Optimum &each : optima_)
    if (std::abs(each.objective - objective) <= resolution_) {
      each.objective = std::max(each.objective, objective);
      ++each.runs;
      return;
    }
  optima_.push_back({objective, 1});
}

bool FoundOptima::enough() const {
  constexpr int least_runs = 8, least_of_best = 5;
  constexpr double most_found_once = 0.1;
  if (runs_ < least_runs) return false;
  const auto best = std::max_element(
      optima_.begin(), optima_.end(),
      [](const Optimum &a, const Optimum &b) { return a.objective < b.objective; });
  const auto once = std::count_if(optima_.begin(), optima_.end(),
                                  [](const Optimum &each) { return each.runs == 1; });
  return best != optima_.end() && best->runs >= least_of_best &&
         double(once) <= most_found_once * runs_;
}

std::string megabytes(double bytes) { return std::to_string(std::int64_t(bytes / 1048576)); }

}  // namespace

void require_rows(const RowSource &rows, const char *what, int max_elements, const Model *start) {
  if (rows.rows() == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  const int d = rows.shape().dimension;
  if (d > max_elements)
    throw Error(Errc::too_large,
                message("rows have {} elements, but {} takes at most {}", d, what, max_elements));
  if (start && start->info.dimension != d)
    throw Error(Errc::array_shape, message("rows have {} elements, but the start model has {}", d,
                                           start->info.dimension));
}

void require_model_size(const std::string &what, double doubles, const std::string &hint) {
  if (doubles * 8 > 9e8)
    throw Error(Errc::too_large,
                "a model of " + what + " would be larger than a value can be (1 GB)", {}, hint);
}

void require_memory(const MemoryNeed &need, const Control &control) {
  if (need.bytes > control.memory)
    throw Error(Errc::too_large,
                "fitting " + need.what + " takes about " + megabytes(need.bytes) +
                    " MB in addition to the " + need.data + ", but the limit is " +
                    megabytes(control.memory) + " MB",
                "The limit is maintenance_work_mem, or 1 GB if that is more." +
                    (need.detail.empty() ? "" : " " + need.detail),
                "Raise maintenance_work_mem, " + need.hint);
}

FitPlan::FitPlan(const FitOptions &options)
    : method(options.method),
      seed(options.seed),
      restarts(options.restarts),
      // The objective of k-means has no unit by which two optima could be told to be the same.
      restarts_settled(options.restarts_settled && !options.noisy() &&
                       options.method != Method::kmeans),
      max_iterations(options.max_iterations),
      tolerance(options.tolerance),
      max_seconds(options.max_seconds),
      resumes(!options.noisy()),
      resumable(options.resumable),
      degenerate(options.degenerate),
      given_prior(options.given_prior) {}

SharedTime::SharedTime(const Document &options, std::size_t fits, Control &control)
    : control_(control),
      all_([&] {
        const Document *const given = options.find("max_seconds");
        const std::optional<double> seconds = given ? to_number(*given, false) : std::nullopt;
        return control.budget.from_now(seconds.value_or(control.budget.limit()));
      }()),
      left_(fits) {}

bool may_depend_on_k(const Error &error) {
  return error.code() == Errc::invalid_argument || error.code() == Errc::numeric ||
         error.code() == Errc::too_large;
}

BudgetScope SharedTime::next() {
  return BudgetScope(control_, all_.share(1 / double(std::max<std::size_t>(1, left_--))));
}

FitRun::FitRun(Model &model, FitPlan plan, Control &control)
    : model_(model),
      plan_(std::move(plan)),
      control_(control),
      time_(control, control.budget.from_now(plan_.max_seconds)),
      cut_before_(std::exchange(control.is_cut_short, false)) {
  schedule_.method = method_name(plan_.method).data();
  schedule_.restarts = plan_.restarts;
  schedule_.max_iterations = plan_.max_iterations;
  schedule_.tolerance = plan_.tolerance;
  schedule_.span = plan_.span;
  schedule_.gain_window = plan_.gain_window;
  if (plan_.resumable && !control_.checkpoint)
    throw Error(Errc::invalid_argument, "option \"resumable\" does not apply here",
                "It makes a model larger, but this function does not return the model of one fit.",
                "Leave the option out, or use the aggregate that fits such a model.");
  control_.begins(plan_.method, control_.budget.limit());
}

FitRun::~FitRun() { control_.is_cut_short = cut_before_; }

void FitRun::set_weight(double weight, std::int64_t rows) {
  weight_ = weight;
  // If the mean weight is below 1, weights are taken as relative, not as meaning that there is less
  // than one row; the tolerance is scaled as the objective is.
  schedule_.tolerance = plan_.tolerance * std::min(1.0, weight / double(rows));
}

void FitRun::run_restarts(const Restarts &restarts, const double *trial_weight) {
  const ModelInfo &info = model_.info;
  schedule_.restarts = plan_.restarts + (trial_weight ? 1 : 0);
  // Restarts may pause early: the gain that remains then seldom decides which of them is the best.
  if (plan_.restarts > 1 && plan_.resumes) {
    schedule_.pause = 1e-6 * (trial_weight ? *trial_weight : weight_);
    if (plan_.brief_iterations > 0)
      schedule_.max_iterations = std::min(plan_.max_iterations, plan_.brief_iterations);
  }
  if (control_.checkpoint) drop_limited_runs();
  const int recorded = best_recorded();
  FoundOptima found(10 * schedule_.pause);
  std::size_t best = 0;
  int kept = 0;  // the number of the restart whose result is held
  for (int restart = 1; restart <= plan_.restarts; ++restart) {
    control_.poll();
    schedule_.restart = restart;
    begin_run(restart - 1);
    RunTrace known;
    const bool repeats = record_ && record_->ended && restart - 1 != recorded;
    if (repeats) {
      known.trace = record_->trace;
      known.converged = record_->converged;
      known.iterations = record_->iterations;
      known.degenerate = record_->degenerate;
    }
    const RunTrace &run = repeats ? known : restarts.run(restart);
    model_.trace.push_back(run.trace);
    (trial_weight ? trial_iterations_ : iterations_) += run.iterations;
    restarts_made_ = restart;
    if (plan_.degenerate || run.degenerate.empty()) found.add(run.trace.back());
    if (restart == 1 || is_better(run.trace.back(), !run.degenerate.empty(), info.objective,
                                  !info.degenerate.empty())) {
      best = model_.trace.size() - 1;
      best_restart_ = restart;
      take(run, 0);
      if (!repeats) {
        end_run(run, int(best));
        restarts.keep();
        kept = restart;
      }
    } else if (!repeats) {
      end_run(run, int(best));
    }
    if (plan_.restarts_settled && found.enough()) break;
    if (restart < plan_.restarts && control_.out_of_time()) break;
  }
  // The record contradicts itself: a run that it does not repeat was better than its best one.
  if (kept != best_restart_) refuse_checkpoint();
  go_on(restarts, best, trial_weight != nullptr);
  best_trace_ = trial_weight ? model_.trace.size() - 1 : best;
  drop_traces();
}

/// Takes over the results of a run. `before`: the number of iterations before its own.
void FitRun::take(const RunTrace &run, int before) {
  ModelInfo &info = model_.info;
  info.iterations = before + run.iterations;
  // without iterations there is nothing to converge
  info.converged = run.converged || plan_.max_iterations == 0;
  info.objective = run.trace.back();
  info.degenerate = run.degenerate;
}

/// The best restart, whose trace has this index, goes on: with all rows after a trial, or from
/// where it paused.
void FitRun::go_on(const Restarts &restarts, std::size_t best, bool trial) {
  const bool paused = std::exchange(schedule_.pause, 0) > 0;
  schedule_.max_iterations = plan_.max_iterations;
  begin_run(plan_.restarts);
  if (trial) {
    schedule_.restart = schedule_.restarts;
    const RunTrace &last = restarts.go_on();
    model_.trace.push_back(last.trace);
    iterations_ += last.iterations;
    take(last, 0);
  } else if (paused) {
    const int before = model_.info.iterations;
    schedule_.restart = int(best) + 1;
    schedule_.max_iterations = plan_.max_iterations - before;
    schedule_.min_iterations = 0;  // those of the restart are enough
    const RunTrace &last = restarts.go_on();
    // its first objective is already in the trace
    model_.trace[best].insert(model_.trace[best].end(), last.trace.begin() + 1, last.trace.end());
    iterations_ += last.iterations;
    take(last, before);
  }
}

bool FitRun::is_better(double objective, bool degenerate, double other,
                       bool other_degenerate) const {
  if (!plan_.degenerate && degenerate != other_degenerate) return other_degenerate;
  return objective > other;
}

void FitRun::begin_run(int index) {
  record_ = control_.checkpoint ? control_.checkpoint->begin_run(std::size_t(index)) : nullptr;
}

void FitRun::begins_afresh() {
  if (!record_ || control_.checkpoint->frozen()) return;
  record_->begun_afresh = true;
  record_->loops.clear();
  begin_run(int(record_ - control_.checkpoint->runs.data()));
}

void FitRun::drop_limited_runs() {
  std::vector<RunRecord> &runs = control_.checkpoint->runs;
  for (std::size_t i = 0; i < runs.size() && runs[i].ended; ++i) {
    RunRecord &run = runs[i];
    if (!run.limited || run.limit == schedule_.max_iterations) continue;
    // The best run has its loops, and goes on from them.
    run.ended = run.limited = false;
    runs.resize(run.loops.empty() ? i : i + 1);
    break;
  }
  // A better run came after the best one that remains. The remaining one must be made again, and
  // may have begun where the run before it ended, so all runs are made again.
  const int best = best_recorded();
  if (best >= 0 && runs[std::size_t(best)].loops.empty()) runs.clear();
}

int FitRun::best_recorded() const {
  if (!control_.checkpoint) return -1;
  const std::vector<RunRecord> &runs = control_.checkpoint->runs;
  int best = -1;
  for (std::size_t i = 0; i < runs.size() && int(i) < plan_.restarts && runs[i].ended; ++i)
    if (best < 0 || is_better(runs[i].trace.back(), !runs[i].degenerate.empty(),
                              runs[std::size_t(best)].trace.back(),
                              !runs[std::size_t(best)].degenerate.empty()))
      best = int(i);
  return best;
}

void FitRun::end_run(const RunTrace &run, int best) {
  if (!record_ || control_.checkpoint->frozen()) return;
  record_->ended = true;
  record_->converged = run.converged;
  record_->iterations = run.iterations;
  record_->limit = schedule_.max_iterations;
  record_->trace = run.trace;
  record_->degenerate = run.degenerate;
  std::vector<RunRecord> &runs = control_.checkpoint->runs;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].ended && int(i) != best) runs[i].loops.clear();
}

void FitRun::drop_traces() {
  constexpr std::size_t max_kept = 10;
  std::vector<std::vector<double>> &traces = model_.trace;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < traces.size(); ++i)
    if (i != best_trace_) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&traces](std::size_t a, std::size_t b) {
    return traces[a].back() > traces[b].back();
  });
  for (std::size_t i = max_kept - 1; i < order.size(); ++i) traces[order[i]] = {};
}

void FitRun::improve(double objective) {
  model_.info.objective = objective;
  ++model_.info.iterations;
  model_.trace[best_trace_].push_back(objective);
}

void FitRun::reorder(const std::vector<int> &order) {
  std::vector<int> &degenerate = model_.info.degenerate;
  for (int &k : degenerate) k = int(std::find(order.begin(), order.end(), k) - order.begin());
  std::sort(degenerate.begin(), degenerate.end());
}

void FitRun::take(ChainRun chains) {
  model_.info.objective = chains.best;
  model_.info.iterations = chains.sweeps;
  model_.info.converged = chains.agree;
  model_.draws = std::move(chains.quantities);
}

void FitRun::describe(std::int64_t rows, std::int64_t skipped, int dimension, int components,
                      Document options) {
  ModelInfo &info = model_.info;
  info.method = plan_.method;
  info.rows = rows;
  info.skipped = skipped;
  info.dimension = dimension;
  info.components = components;
  info.seed = std::int64_t(plan_.seed);
  info.seconds = control_.budget.seconds();
  info.out_of_time = control_.is_cut_short;
  if (info.out_of_time) info.converged = false;
  info.options = std::move(options);
  if (plan_.restarts_settled && restarts_made_ > 0 && info.options.find("restarts"))
    info.options.set("restarts", std::int64_t(restarts_made_));
  info.given_prior = plan_.given_prior;
}

}  // namespace bayes
