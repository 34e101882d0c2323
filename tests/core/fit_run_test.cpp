// Restarts of a fit: the best run is the result, and no more runs are in memory than are reckoned.
#include "fit/fit_run.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support.hpp"

namespace {

using namespace bayes;

class Nothing final : public Model {
  void write(Document &) const override {}
};

/// A run's state; counts those that are alive.
struct State {
  double objective;
  explicit State(double value) : objective(value) { ++alive; }
  State(State &&from) noexcept : objective(from.objective) { ++alive; }
  State(const State &) = delete;
  State &operator=(State &&from) noexcept {
    objective = from.objective;
    return *this;
  }
  ~State() { --alive; }
  inline static int alive = 0;
};

struct Run : RunTrace {
  State state;
  explicit Run(State from) : state(std::move(from)) { trace = {state.objective}; }
};

/// Records what a control is told of a fit.
struct Listening final : Control {
  void begins(Method method, double max_seconds) override {
    told.emplace_back(method, max_seconds);
  }
  void progress(const Progress &line) override { lines.push_back(line); }
  std::vector<std::pair<Method, double>> told;
  std::vector<Progress> lines;
};

struct Constant final : ChainSampler {
  double sweep(int, Control &) override { return -1; }
  void record(std::vector<double> &) const override {}
  void store(double) override {}
  void exchange_state(StateNumbers &) override {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fit_run)

BOOST_AUTO_TEST_CASE(a_control_is_told_of_the_fit) {
  Listening control;
  Nothing model;
  FitPlan plan;
  plan.method = Method::svi;
  plan.max_seconds = 7;
  const FitRun run(model, plan, control);
  BOOST_REQUIRE(control.told.size() == 1u);
  BOOST_TEST((control.told[0].first == Method::svi));
  BOOST_TEST(control.told[0].second == 7);
  // One of several fits has its share of the time, not all of it.
  Listening shared;
  shared.budget = Budget(12, [] { return 0.0; });
  SharedTime time(Document::object().set("max_seconds", 7.0), 2, shared);
  const BudgetScope share = time.next();
  const FitRun first(model, plan, shared);
  BOOST_TEST(shared.told[0].second == 3.5);
}

BOOST_AUTO_TEST_CASE(chains_make_draws) {
  Listening control;
  ChainSettings settings;
  settings.method = "gibbs";
  settings.plan.chains = 2;
  settings.plan.draws = 3;
  settings.plan.warmup = 1;
  run_chains(settings, control, [](int) { return std::make_unique<Constant>(); });
  BOOST_REQUIRE(control.lines.size() == 6u);
  for (int i = 0; i < 6; ++i) {
    const Progress &line = control.lines[std::size_t(i)];
    BOOST_TEST(line.draw);
    BOOST_TEST(line.restart == 1 + i / 3);
    BOOST_TEST(line.restarts == 2);
    BOOST_TEST(line.iteration == 1 + i % 3);
    BOOST_TEST(line.max_iterations == 3);
  }
  BOOST_TEST(!Progress{}.draw);
}

BOOST_AUTO_TEST_CASE(one_run_beside_the_best_is_in_memory) {
  for (const std::vector<double> &objectives :
       {std::vector<double>{3, 2, 1}, {1, 2, 3}, {2, 3, 1}, {1, 3, 2}}) {
    for (const bool trial : {false, true}) {
      Nothing model;
      FitPlan plan;
      plan.restarts = int(objectives.size());
      Control control;
      FitRun run(model, plan, control);
      int all = 0, some = 1, at_most = 0, last = -1;
      const Run best = run.best_of_restarts(
          all, TrialData<int>{trial ? &some : nullptr, 1},
          [&](int restart) { return State(objectives[std::size_t(restart) - 1]); },
          [&](State state, int &data) {
            at_most = std::max(at_most, State::alive);
            last = data;
            return Run(std::move(state));
          });
      BOOST_TEST(best.state.objective == 3);
      BOOST_TEST(model.info.objective == 3);
      BOOST_TEST(model.trace.size() == objectives.size() + (trial ? 1 : 0));
      BOOST_TEST(last == 0);
      // The best so far, and the one that goes.
      BOOST_TEST(at_most <= 2);
    }
  }
  BOOST_TEST(State::alive == 0);
}

// Caught: the best one dropped, the ten worst or the ten first kept.
BOOST_AUTO_TEST_CASE(ten_traces_stay) {
  for (const bool trial : {false, true}) {
    Nothing model;
    FitPlan plan;
    plan.restarts = 25;
    Control control;
    FitRun run(model, plan, control);
    int all = 0, some = 1;
    // 0, 7, 14, 21, 3, ...: the best is in the middle
    run.best_of_restarts(
        all, TrialData<int>{trial ? &some : nullptr, 1},
        [](int restart) { return State((restart - 1) * 7 % 25); },
        [](State state, int &) { return Run(std::move(state)); });
    BOOST_TEST(model.trace.size() == (trial ? 26u : 25u));
    const int kept = trial ? 9 : 10;  // beside that of all data
    for (int restart = 1; restart <= 25; ++restart)
      BOOST_TEST(model.trace[std::size_t(restart) - 1].empty() ==
                 ((restart - 1) * 7 % 25 < 25 - kept));
    if (trial) BOOST_TEST(model.trace.back() == std::vector<double>{24});
  }
}

/// A clock that the tests set.
double fit_clock = 0;

// Restarts that time leaves out make a fit that has not converged, though each of its runs has.
BOOST_AUTO_TEST_CASE(a_fit_without_time_is_unfinished) {
  for (const double seconds : {0.5, 1.5, 10.0}) {
    Nothing model;
    FitPlan plan;
    plan.method = Method::em;
    plan.restarts = 3;
    plan.max_seconds = seconds;
    Control control;
    fit_clock = 7;
    control.budget = Budget(1000, [] { return fit_clock; });
    int all = 0;
    {
      FitRun run(model, plan, control);
      run.best_of_restarts(
          all, [](int restart) { return State(restart); },
          [](State state, int &) {
            fit_clock += 1;
            Run out(std::move(state));
            out.converged = true;
            return out;
          });
      run.describe(1, 0, 1, 1, {});
    }
    const bool enough = seconds > 3;
    BOOST_TEST(model.trace.size() == (enough ? 3u : std::size_t(seconds + 1)));
    BOOST_TEST(model.info.out_of_time == !enough);
    BOOST_TEST(model.info.converged == enough);
    BOOST_TEST((*stopped(model.info) == (enough ? "converged" : "max_seconds")));
    // the control is as it was
    BOOST_TEST(control.budget.limit() == 1000);
    BOOST_TEST(!control.is_cut_short);
  }
}

BOOST_AUTO_TEST_CASE(what_stopped_a_fit) {
  ModelInfo info;
  BOOST_TEST(!stopped(info).has_value());
  info.method = Method::laplace;
  BOOST_TEST((*stopped(info) == "max_iter"));
  info.converged = true;
  BOOST_TEST((*stopped(info) == "converged"));
  info.method = Method::slice;
  BOOST_TEST((*stopped(info) == "draws"));
  info.out_of_time = true;
  BOOST_TEST((*stopped(info) == "max_seconds"));
}

// Caught: a share of the whole instead of what is left.
BOOST_AUTO_TEST_CASE(the_fits_of_a_selection_share_the_time) {
  Control control;
  fit_clock = 3;
  control.budget = Budget(1000, [] { return fit_clock; });
  SharedTime time(Document::object().set("max_seconds", 30.0), 3, control);
  const auto fit = [&](double seconds) {
    const BudgetScope scope = time.next();
    Nothing model;
    const FitRun run(model, FitPlan(), control);
    const double limit = control.budget.left();
    fit_clock += seconds;
    return limit;
  };
  BOOST_TEST(fit(4) == 10);
  BOOST_TEST(fit(20) == 13);
  BOOST_TEST(fit(100) == 6);
  BOOST_TEST(control.budget.limit() == 1000);
  fit_clock = 3;
  SharedTime unlimited({}, 3, control);
  const BudgetScope scope = unlimited.next();
  BOOST_TEST(std::abs(control.budget.left() - 1000.0 / 3) < 1e-9);
}

// Caught: a limit forgotten, the estimate inverted, a number of restarts that options gave
// replaced.
BOOST_AUTO_TEST_CASE(cheap_runs_are_many) {
  // a run of a second, of 100 ms, of nothing, of a year
  BOOST_TEST(affordable_restarts({1e6, 100}, 1, 50) == 2);
  BOOST_TEST(affordable_restarts({1e5, 100}, 1, 50) == 20);
  BOOST_TEST(affordable_restarts({1e5, 100}, 1, 10) == 10);
  BOOST_TEST(affordable_restarts({0, 0}, 1, 50) == 50);
  BOOST_TEST(affordable_restarts({3e15, 1}, 5, 50) == 5);
  FitOptions options;
  options.restarts = 7;
  options.settle_restarts({1, 1}, 1, 50);
  BOOST_TEST(options.restarts == 7);
  options.restarts = 0;
  options.settle_restarts({1, 1}, 1, 50);
  BOOST_TEST(options.restarts == 50);
}

// Caught: runs that stop after five, however many optima were found; runs that options gave left
// out; optima told apart by rounding; a degenerate run that counts.
BOOST_AUTO_TEST_CASE(restarts_end_when_the_best_comes_again_and_again) {
  const auto made = [](const std::function<double(int restart)> &objective, bool settled,
                       const std::function<bool(int restart)> &degenerate = {}) {
    Nothing model;
    FitPlan plan;
    plan.restarts = 40;
    plan.restarts_settled = settled;
    plan.degenerate = !degenerate;
    Control control;
    FitRun run(model, plan, control);
    int all = 0, last = 0;
    run.best_of_restarts(
        all,
        [&](int restart) {
          last = restart;
          return State(objective(restart));
        },
        [&](State state, int &) {
          Run out(std::move(state));
          if (degenerate && degenerate(last)) out.degenerate = {0};
          return out;
        });
    run.describe(1, 0, 1, 1, Document::object().set("restarts", std::int64_t(40)));
    BOOST_TEST(*model.info.options.find("restarts")->as<std::int64_t>() == last);
    return last;
  };
  BOOST_TEST(made([](int) { return 1.0; }, true) == 8);
  BOOST_TEST(made([](int restart) { return 1 + 1e-6 * restart; }, true) == 8);
  BOOST_TEST(made([](int) { return 1.0; }, false) == 40);
  BOOST_TEST(made([](int restart) { return double(restart); }, true) == 40);
  // Five of the best at the ninth run, and then two optima that came once among twenty.
  BOOST_TEST(made([](int restart) { return restart % 2 ? 1.0 : 0.0; }, true) == 9);
  BOOST_TEST(made([](int restart) { return restart < 3 ? double(-restart) : 1.0; }, true) == 20);
  // A better optimum begins the count anew.
  BOOST_TEST(made([](int restart) { return restart < 8 ? 1.0 : 2.0; }, true) == 12);
  BOOST_TEST(made([](int restart) { return restart % 2 ? 1.0 : 9.0; }, true,
                  [](int restart) { return restart % 2 == 0; }) == 15);
}

BOOST_AUTO_TEST_CASE(rows_must_suit_the_model) {
  const MemoryRows rows = support::rows_of(Matrix::Ones(2, 3)), none(RowShape{3, false});
  Nothing start;
  start.info.dimension = 2;
  require_rows(rows, "a mixture", 3);
  BOOST_CHECK_THROW(require_rows(none, "a mixture", 3), Error);
  BOOST_CHECK_THROW(require_rows(rows, "a mixture", 2), Error);
  BOOST_CHECK_THROW(require_rows(rows, "a mixture", 3, &start), Error);
}

BOOST_AUTO_TEST_SUITE_END()
