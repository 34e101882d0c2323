// Convergence: what is left to gain is within the tolerance, however slowly it comes and however
// many rows there are.
#include "fit/driver.hpp"
#include "support.hpp"

using namespace support;

namespace {

/// An objective that rises to 0, its distance being what a function of the iteration says.
class Rise final : public bayes::detail::Iteration {
 public:
  explicit Rise(std::function<double(int)> left) : left_(std::move(left)) {}
  bayes::RowSums expectation(int index, bayes::Control &) override { return {-left_(index), 0}; }
  double objective() const override { return 0; }
  void update(int) override {}
  void exchange_state(bayes::StateNumbers &) override {}

 private:
  std::function<double(int)> left_;
};

bayes::RunTrace run(const std::function<double(int)> &left, double tolerance, int window = 1,
                    double squares = 0, double span = 0, int gain_window = 1, double pause = 0) {
  Rise rise(left);
  bayes::Control control;
  bayes::Schedule schedule;
  schedule.max_iterations = 100000;
  schedule.tolerance = tolerance;
  schedule.squares = squares;
  schedule.span = span;
  schedule.gain_window = gain_window;
  schedule.pause = pause;
  return bayes::detail::iterate(rise, control, schedule, window);
}

/// Rows of three normals so close that EM is slow.
Matrix overlapping_rows(int n) {
  bayes::Random random(21);
  Matrix x(n, 2);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 2; ++j) x(i, j) = random.normal() + (j ? 1.2 : 2.4) * double(i % 3);
  return x;
}

/// The largest difference of the components' means in units of their posterior standard deviations.
double deviations_between(const GaussianMixture &a, const GaussianMixture &b) {
  double largest = 0;
  for (int k = 0; k < a.size(); ++k) {
    const auto q = a.posterior(k);
    double nearest = std::numeric_limits<double>::infinity();
    for (int l = 0; l < b.size(); ++l) {  // the order of equal weights may differ
      double away = 0;
      for (std::size_t j = 0; j < q.m.size(); ++j)
        away = std::max(away, std::abs(q.m[j] - b.posterior(l).m[j]) /
                                  std::sqrt(q.B[j * (q.m.size() + 1)] / (q.c * (q.a - 3))));
      nearest = std::min(nearest, away);
    }
    largest = std::max(largest, nearest);
  }
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(convergence)

BOOST_AUTO_TEST_CASE(what_is_left_is_within_the_tolerance) {
  for (const double tolerance : {1e-2, 1e-4, 1e-6})
    for (const double ratio : {0.01, 0.5, 0.9, 0.99, 0.999})
      for (const double size : {1.0, 1e6}) {
        const auto left = [&](int t) { return size * std::pow(ratio, t); };
        const auto found = run(left, tolerance);
        BOOST_TEST_CONTEXT("ratio " << ratio << " tolerance " << tolerance << " size " << size) {
          BOOST_TEST(found.converged);
          BOOST_TEST(left(found.iterations) <= 1.01 * tolerance);
          // and not much more is done than that takes: the step, too, is within the tolerance
          BOOST_TEST(left(found.iterations - 2) * std::max(1.0, (1 - ratio) / ratio) > tolerance);
        }
      }
}

// Steps that shrink as a power of time, by ratios that are not quite smooth, as parts of a model
// converge at many rates: two single steps promise too much.
BOOST_AUTO_TEST_CASE(with_a_span_slow_parts_are_not_forgotten) {
  std::vector<double> rest(100001, 0.0);
  for (int t = 100000; t-- > 0;)
    rest[std::size_t(t)] = rest[std::size_t(t) + 1] +
                           40 * std::pow(1 + t / 50.0, -2.5) * (1 + 0.03 * std::sin(double(t)));
  const auto left = [&](int t) { return rest[std::size_t(t)]; };
  for (const double tolerance : {1.0, 5.0, 20.0}) {
    const auto steps = run(left, tolerance), found = run(left, tolerance, 1, 0, 0.25);
    BOOST_TEST(steps.converged);
    BOOST_TEST(found.converged);
    BOOST_TEST(left(steps.iterations) > 5 * tolerance);
    BOOST_TEST(left(found.iterations) < 3 * tolerance);
    BOOST_TEST(left(found.iterations / 2) > 5 * tolerance);
  }
}

// A slow beginning is not the end.
BOOST_AUTO_TEST_CASE(steps_that_grow_are_no_convergence) {
  const auto found = run([](int t) { return 1 / (1 + std::exp(0.05 * (t - 300))); }, 1e-4);
  BOOST_TEST(found.converged);
  BOOST_TEST(found.iterations > 400);
}

BOOST_AUTO_TEST_CASE(an_objective_that_stands_still_has_converged) {
  BOOST_TEST(run([](int) { return 3.0; }, 1e-4).iterations == 1);
  BOOST_TEST(run([](int) { return 3.0; }, 0).iterations == 1);
  // up to rounding errors
  BOOST_TEST(run([](int t) { return 1e15 + 0.125 * (t % 3); }, 1e-4).iterations < 10);
  const auto exact = run([](int t) { return t < 500 ? std::pow(0.9, t) : 0.0; }, 0);
  BOOST_TEST(exact.iterations == 501);
}

// Parts of a model may be held at first, and documents restart in turn. So a stretch without a gain
// ends neither a run that is judged in windows, nor pauses it.
BOOST_AUTO_TEST_CASE(with_windows_a_plateau_is_no_convergence) {
  const auto left = [](int t) { return t < 2 ? 30.0 : t < 7 ? 10.0 : 10 * std::pow(0.7, t - 6); };
  for (const double tolerance : {1.0, 1e-4, 0.0})
    for (const double pause : {0.0, 1e-3}) {
      const auto found = run(left, tolerance, 1, 0, 0, 8, pause);
      BOOST_TEST(found.converged);
      BOOST_TEST(left(found.iterations) <= std::max(tolerance, pause));
    }
  // Rounding errors of an objective that stands still are no gains.
  const auto noisy = [](int t) { return 1e5 + 1e-9 * std::sin(double(t)); };
  BOOST_TEST(run(noisy, 1e-4, 1, 0, 0, 8).iterations < 40);
}

// In the unit of the log-likelihood, not in that of the squares.
BOOST_AUTO_TEST_CASE(sums_of_squares_count_as_likelihoods) {
  std::vector<int> iterations;
  for (const double unit : {1e-12, 1.0, 1e12})
    iterations.push_back(
        run([&](int t) { return unit * (100 + std::pow(0.9, t)); }, 1e-3, 1, 1000).iterations);
  BOOST_TEST(iterations[0] == iterations[1]);
  BOOST_TEST(iterations[2] == iterations[1]);
  // what is left is 1000 / 2 x 0.9^t / 100
  BOOST_TEST(5 * std::pow(0.9, iterations[0]) <= 1.01e-3);
  BOOST_TEST(run([](int) { return 0.0; }, 1e-3, 1, 1000).iterations == 1);
}

BOOST_AUTO_TEST_CASE(tolerance_0_makes_all_steps_of_a_noisy_objective) {
  bayes::Random random(22);
  const auto noise = [&](int) { return random.normal(); };
  BOOST_TEST(run(noise, 1e-4, 20).iterations < 1000);
  BOOST_TEST(run(noise, 0, 20).iterations == 100000);
}

BOOST_AUTO_TEST_CASE(more_rows_do_not_loosen_it, *boost::unit_test::label("long")) {
  for (const int rows : {1000, 30000}) BOOST_TEST_CONTEXT(rows << " rows") {
      const Matrix x = overlapping_rows(rows);
      const auto found = fit(x, 3, {{"restarts", 2}, {"max_iter", 10000}});
      const auto exact = fit(x, 3, {{"tol", 1e-9}, {"max_iter", 100000}}, {}, found.get());
      BOOST_TEST(found->info.converged);
      BOOST_TEST(exact->info.objective - found->info.objective < 3e-4);
      BOOST_TEST(deviations_between(*found, *exact) < 0.1);
    }
}

BOOST_AUTO_TEST_CASE(the_best_restart_alone_goes_on) {
  const Matrix x = overlapping_rows(2000);
  const auto model = fit(x, 3, {{"restarts", 4}, {"max_iter", 10000}});
  int ending = 0;
  for (const auto &trace : model->trace) {
    const bool best = trace.back() == model->info.objective;
    ending += best;
    if (best) BOOST_TEST(model->info.iterations + 1 == int(trace.size()));
    // the others stop earlier
    const double change = trace.back() - trace[trace.size() - 2];
    BOOST_TEST((best ? change < 1e-4 : change > 1e-5));
    for (std::size_t t = 1; t < trace.size(); ++t) BOOST_TEST(trace[t] > trace[t - 1] - 1e-9);
  }
  BOOST_TEST(model->trace.size() == 4);
  BOOST_TEST(ending == 1);
  // Together they have no more iterations than the option says.
  const auto limited = fit(x, 3, {{"restarts", 4}, {"max_iter", 60}});
  BOOST_TEST(!limited->info.converged);
  BOOST_TEST(limited->info.iterations == 60);
}

BOOST_AUTO_TEST_CASE(the_unit_of_weights_does_not_matter) {
  const Matrix x = overlapping_rows(300);
  const Options options = {{"method", "em"}, {"restarts", 2}, {"max_iter", 10000}};
  const auto one = fit(x, 3, options, Vector::Ones(300)),
             little = fit(x, 3, options, Vector::Constant(300, std::ldexp(1.0, -60)));
  BOOST_TEST(one->info.iterations == little->info.iterations);
  BOOST_TEST(distance(one->component(0).mean, little->component(0).mean) < 1e-12);
}

// Steps that get smaller reach the optimum in the end.
BOOST_AUTO_TEST_CASE(stochastic_steps_approach_the_optimum, *boost::unit_test::label("long")) {
  const Matrix x = overlapping_rows(20000);
  const auto begin = fit(x, 3, {{"restarts", 1}, {"max_iter", 5}, {"tol", 0.0}});
  const auto exact = fit(x, 3, {{"tol", 1e-6}, {"max_iter", 100000}}, {}, begin.get());
  std::vector<double> left;
  for (const int steps : {200, 2000, 20000}) {
    const auto svi =
        fit(x, 3, {{"method", "svi"}, {"max_iter", steps}, {"tol", 0.0}}, {}, begin.get());
    BOOST_TEST(svi->info.iterations == steps);
    left.push_back(exact->info.objective - svi->info.objective);
  }
  BOOST_TEST_MESSAGE("nats left: " << left[0] << ", " << left[1] << ", " << left[2]);
  BOOST_TEST(left[1] < left[0] / 2);
  BOOST_TEST(left[2] < left[1] / 2);
  BOOST_TEST(left[2] < 3);
}

BOOST_AUTO_TEST_SUITE_END()
