// Records of fits that can be resumed: numbers are written and read back only into a state of their
// form, and a loop that is stopped and goes on takes the course of one that is not.
#include "base/checkpoint.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "fit/driver.hpp"
#include "fit/fit_run.hpp"
#include "support.hpp"

using namespace support;

namespace {

using namespace bayes;

double now;
double fake_clock() { return now; }

/// x moves towards 1; every step takes a second. `noise` is added to the objective.
class Approach final : public detail::Iteration {
 public:
  explicit Approach(double noise = 0) : noise_(noise) {}
  RowSums expectation(int index, Control &) override {
    now += 1;
    ++steps;
    return {-std::pow(1 - x, 2) + noise_ * std::sin(index), 0};
  }
  double objective() const override { return 0; }
  void update(int index) override { x += (1 - x) * (0.3 + 0.01 * (index % 3)); }
  void exchange_state(StateNumbers &numbers) override { numbers.number(x); }

  double x = 0.1;
  int steps = 0;

 private:
  const double noise_;
};

struct Course {
  std::vector<double> trace;
  bool converged;
  int iterations, slices;
  double x;
};

/// Runs in slices of so many seconds.
Course run(double seconds, bool stochastic, const Schedule &schedule, double noise = 0) {
  Checkpoint checkpoint;
  for (int slice = 1;; ++slice) {
    Control control;
    now = 0;
    control.budget = Budget(seconds, fake_clock);
    control.checkpoint = &checkpoint;
    checkpoint.rewind();
    Approach iteration(noise);
    const RunTrace found = stochastic ? detail::iterate_stochastic(iteration, control, schedule, 10)
                                      : detail::iterate(iteration, control, schedule);
    if (!control.is_cut_short)
      return {found.trace, found.converged, found.iterations, slice, iteration.x};
    BOOST_TEST(!found.converged);
    BOOST_TEST_REQUIRE(slice < 1000);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint)

BOOST_AUTO_TEST_CASE(numbers_are_read_back) {
  double number = -0.0;
  bool flag = true;
  int whole = 12;
  std::vector<double> list{1, std::numeric_limits<double>::infinity(), 3}, none;
  std::vector<int> labels{0, 65535, 7, 1, 65534, 3, 2};
  std::vector<float> floats{0.1f, -3e30f};
  Vector dense = Vector::LinSpaced(5, 0, 1);
  const auto exchange = [&](StateNumbers &numbers) {
    numbers.number(number);
    numbers.flag(flag);
    numbers.whole(whole, 0, 12);
    numbers.list(list, 3);
    numbers.list(none, 3);
    numbers.labels(labels, 65535);
    numbers.numbers(floats);
    numbers.dense(dense);
  };
  std::vector<double> written;
  StateNumbers writes = StateNumbers::writing(written);
  exchange(writes);
  number = 5, flag = false, whole = 0;
  list.clear();
  none = {1};
  labels.assign(7, 0);
  floats.assign(2, 0);
  dense.setZero();
  StateNumbers reads = StateNumbers::reading(written);
  exchange(reads);
  reads.end();
  BOOST_TEST((number == 0 && std::signbit(number)));
  BOOST_TEST((flag && whole == 12));
  BOOST_TEST((list == std::vector<double>{1, std::numeric_limits<double>::infinity(), 3}));
  BOOST_TEST(none.empty());
  BOOST_TEST((labels == std::vector<int>{0, 65535, 7, 1, 65534, 3, 2}));
  BOOST_TEST((floats == std::vector<float>{0.1f, -3e30f}));
  BOOST_TEST((dense == Vector::LinSpaced(5, 0, 1)));
}

BOOST_AUTO_TEST_CASE(numbers_of_another_form_are_refused) {
  const auto refused = [](const std::vector<double> &from, auto exchange) {
    StateNumbers numbers = StateNumbers::reading(from);
    try {
      exchange(numbers);
      numbers.end();
    } catch (const Error &error) {
      return error.code() == Errc::invalid_argument;
    }
    return false;
  };
  const auto whole = [](StateNumbers &numbers) {
    int x = 0;
    numbers.whole(x, 1, 5);
  };
  BOOST_TEST(!refused({5}, whole));
  for (const double x : {0.0, 6.0, 1.5, std::nan(""), 1e300, -1.0}) BOOST_TEST(refused({x}, whole));
  BOOST_TEST(refused({}, whole));
  BOOST_TEST(refused({1, 1}, whole));
  const auto list = [](StateNumbers &numbers) {
    std::vector<double> x;
    numbers.list(x, 2);
  };
  BOOST_TEST(!refused({2, 0, 0}, list));
  BOOST_TEST(refused({2, 0}, list));
  BOOST_TEST(refused({3, 0, 0, 0}, list));
  BOOST_TEST(refused({1e15}, list));
  const auto labels = [](StateNumbers &numbers) {
    std::vector<int> x(4);
    numbers.labels(x, 9);
  };
  BOOST_TEST(!refused({999, 9}, labels));  // three digits of base 10 in each number
  BOOST_TEST(refused({1000, 9}, labels));
  BOOST_TEST(refused({0, 10}, labels));
  BOOST_TEST(refused({0, 65536}, labels));
  BOOST_TEST(refused({0}, labels));
}

BOOST_AUTO_TEST_CASE(a_loop_in_slices_takes_the_course_of_one_that_never_stopped) {
  for (const bool stochastic : {false, true})
    for (const double noise : {0.0, 1e-3}) {
      Schedule schedule;
      schedule.max_iterations = 200;
      schedule.tolerance = stochastic ? 1e-3 : noise > 0 ? 0 : 1e-9;
      const Course whole =
          run(std::numeric_limits<double>::infinity(), stochastic, schedule, noise);
      for (const double seconds : {1e-9, 1.5, 3.5, 12.5}) {
        BOOST_TEST_CONTEXT("stochastic " << stochastic << " noise " << noise << " seconds "
                                         << seconds) {
          const Course found = run(seconds, stochastic, schedule, noise);
          BOOST_TEST((found.trace == whole.trace));
          BOOST_TEST(found.converged == whole.converged);
          BOOST_TEST(found.iterations == whole.iterations);
          BOOST_TEST(found.x == whole.x);
          BOOST_TEST(found.slices > 2);
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(a_slice_repeats_no_more_than_its_first_step) {
  Checkpoint checkpoint;
  Schedule schedule;
  schedule.max_iterations = 60;
  schedule.tolerance = 0;
  int steps = 0, slices = 0;
  for (bool cut = true; cut; ++slices) {
    Control control;
    now = 0;
    control.budget = Budget(9.5, fake_clock);
    control.checkpoint = &checkpoint;
    checkpoint.rewind();
    Approach iteration;
    detail::iterate(iteration, control, schedule);
    steps += iteration.steps;
    cut = control.is_cut_short;
  }
  BOOST_TEST(steps == 61 + slices - 1);
}

BOOST_AUTO_TEST_CASE(other_data_are_refused) {
  Checkpoint checkpoint;
  Schedule schedule;
  const auto slice = [&](double noise) {
    Control control;
    now = 0;
    control.budget = Budget(3.5, fake_clock);
    control.checkpoint = &checkpoint;
    checkpoint.rewind();
    Approach iteration(noise);
    detail::iterate(iteration, control, schedule);
  };
  slice(0);
  BOOST_CHECK_THROW(slice(1e-15), Error);
  slice(0);
}

BOOST_AUTO_TEST_CASE(nothing_is_recorded_once_the_clock_has_decided) {
  Checkpoint checkpoint;
  Control control;
  now = 0;
  control.budget = Budget(1, fake_clock);
  control.checkpoint = &checkpoint;
  now = 2;
  BOOST_TEST(control.out_of_time());
  BOOST_TEST(checkpoint.frozen());
  Approach iteration;
  detail::iterate(iteration, control, Schedule());
  BOOST_TEST(checkpoint.runs.empty());
  // A slice that has no time left when it begins goes further nevertheless.
  checkpoint.runs.resize(1);
  checkpoint.rewind();
  BOOST_TEST(!control.out_of_time());
  checkpoint.go_further();
  BOOST_TEST(control.out_of_time());
}

BOOST_AUTO_TEST_SUITE_END()
