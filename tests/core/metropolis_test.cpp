// Metropolis sampling: one step of it against the kernel written down, moments and quantiles of
// densities that are known, simulation-based calibration.
//
// Means are held within 5.5 Monte Carlo standard errors of what they are (from the effective sample
// size): 60 comparisons, a false alarm in 400,000 runs of other seeds.
#include "mcmc/metropolis.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/random.hpp"
#include "mcmc/diagnostics.hpp"
#include "support.hpp"

namespace {

using namespace bayes;

constexpr double inf = std::numeric_limits<double>::infinity();

struct Sampled {
  MetropolisRun run;
  /// [chain][draw][element]
  std::vector<std::vector<std::vector<double>>> x;
};

Sampled sample(const LogDensity &log_density, std::vector<double> starts, std::size_t dimension,
               const MetropolisOptions &options) {
  Sampled out;
  Control control;
  out.x.resize(std::size_t(options.plan.chains));
  out.run =
      metropolis(log_density, starts, dimension, options, control, [&](const MetropolisDraw &draw) {
        BOOST_REQUIRE(draw.log_density == log_density(draw.x));
        out.x[std::size_t(draw.chain) - 1].push_back({draw.x.begin(), draw.x.end()});
      });
  return out;
}

MetropolisOptions plan(std::size_t dimension, int draws, std::uint64_t seed, int thin = 1) {
  MetropolisOptions options;
  options.plan = {.chains = 4, .draws = 2 * draws, .warmup = draws, .thin = thin};
  options.seed = seed;
  options.scale.assign(dimension, 1);
  return options;
}

/// The distance of the mean of f(x) from `expected`, in standard errors.
template <class F> double distance(const Sampled &sampled, double expected, F f) {
  Control control;
  std::vector<std::vector<double>> values;
  double sum = 0, count = 0;
  for (const auto &chain : sampled.x) {
    values.emplace_back();
    for (const auto &x : chain) {
      values.back().push_back(f(x));
      sum += values.back().back();
      ++count;
    }
  }
  std::vector<Chain> chains;
  for (const auto &chain : values) chains.push_back({1, chain});
  const auto error = mcse_mean(chains, control);
  BOOST_REQUIRE(error.has_value());
  return std::fabs(sum / count - expected) / *error;
}

/// A normal whose elements have standard deviations 1, 10, 100, ... and correlation 0.8 between
/// neighbours, as those of an autoregression.
double autoregression(std::span<const double> x) {
  double out = 0, before = 0, scale = 1;
  for (std::size_t i = 0; i < x.size(); ++i, scale *= 10) {
    const double z = x[i] / scale - 1, away = i == 0 ? z : (z - 0.8 * before) / 0.6;
    out -= away * away / 2;
    before = z;
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metropolis_sampling)

// Without adaptation a step from x accepts x + s z with probability min(1, p(x + s z) / p(x)): on a
// density of two steps, how often chains cross from one to the other is known exactly.
BOOST_AUTO_TEST_CASE(detailed_balance_of_two_steps) {
  // density 1 on (0, 1) and 3 on (1, 2)
  const auto steps = [](std::span<const double> x) {
    return x[0] <= 0 || x[0] >= 2 ? -inf : x[0] < 1 ? 0 : std::log(3.0);
  };
  MetropolisOptions options = plan(1, 40000, 3);
  options.adapt = false;
  options.scale = {0.5 / 2.38};  // proposals have a standard deviation of 0.5
  const Sampled sampled = sample(steps, {0.5}, 1, options);
  // flows between the halves: P(x < 1, next >= 1) = P(x >= 1, next < 1)
  //   = 1/4 int_0^1 P(1 < x + 0.5 z < 2) dx, by the trapezoidal rule
  double flow = 0;
  const int n = 2000;
  for (int i = 0; i <= n; ++i) {
    const double x = double(i) / n;
    flow += (i == 0 || i == n ? 0.5 : 1) / n / 4 *
            (normal_below((2 - x) / 0.5) - normal_below((1 - x) / 0.5));
  }
  double up = 0, down = 0, total = 0;
  for (const auto &chain : sampled.x)
    for (std::size_t i = 1; i < chain.size(); ++i, ++total) {
      up += chain[i - 1][0] < 1 && chain[i][0] >= 1;
      down += chain[i - 1][0] >= 1 && chain[i][0] < 1;
    }
  const double error = std::sqrt(2 * flow / total);
  BOOST_TEST(std::fabs(up / total - flow) < 5.5 * error);
  BOOST_TEST(std::fabs(down / total - flow) < 5.5 * error);
  BOOST_TEST(distance(sampled, 0.75, [](const auto &x) { return x[0] >= 1; }) < 5.5);
  BOOST_TEST(distance(sampled, 0.375, [](const auto &x) { return x[0] >= 1.5; }) < 5.5);
}

BOOST_AUTO_TEST_CASE(correlated_normals) {
  for (const std::size_t d : {1, 2, 5}) {
    const Sampled s = sample(autoregression, std::vector<double>(d, 0.0), d,
                             plan(d, support::effort(40000), 7 + d));
    BOOST_TEST_CONTEXT(d << " dimensions") {
      BOOST_TEST(s.run.rhat < 1.05);
      // the acceptance that the warmup aims at
      for (const double acceptance : s.run.acceptance)
        BOOST_TEST(std::fabs(acceptance - (0.234 + 0.206 / double(d))) < 0.08);
      double scale = 1;
      for (std::size_t i = 0; i < d; ++i, scale *= 10) {
        const auto z = [i, scale](const auto &x) { return x[i] / scale - 1; };
        const auto before = [&](const auto &x) { return x[i - 1] / scale * 10 - 1; };
        BOOST_TEST(distance(s, 0, z) < 5.5);
        BOOST_TEST(distance(s, 1, [&](const auto &x) { return z(x) * z(x); }) < 5.5);
        BOOST_TEST(distance(s, normal_below(-1), [&](const auto &x) { return z(x) < -1; }) < 5.5);
        if (i > 0)
          BOOST_TEST(distance(s, 0.8, [&](const auto &x) { return z(x) * before(x); }) < 5.5);
      }
    }
  }
}

// x_1 = v + 0.3 u^2 with u ~ Normal(0, 4), v ~ Normal(0, 1).
BOOST_AUTO_TEST_CASE(banana) {
  const auto density = [](std::span<const double> x) {
    const double v = x[1] - 0.3 * x[0] * x[0];
    return -x[0] * x[0] / 8 - v * v / 2;
  };
  const Sampled s = sample(density, {0, 0}, 2, plan(2, support::effort(100000), 11));
  BOOST_TEST(distance(s, 0, [](const auto &x) { return x[0]; }) < 5.5);
  BOOST_TEST(distance(s, 4, [](const auto &x) { return x[0] * x[0]; }) < 5.5);
  BOOST_TEST(distance(s, 1.2, [](const auto &x) { return x[1]; }) < 5.5);
  BOOST_TEST(distance(s, normal_below(-1),
                      [](const auto &x) { return x[1] - 0.3 * x[0] * x[0] < -1; }) < 5.5);
}

// exp(-x - y) where x > 0 and y > x: x ~ Exponential(2), y - x ~ Exponential(1).
BOOST_AUTO_TEST_CASE(truncated_density) {
  const auto density = [](std::span<const double> x) {
    return x[0] > 0 && x[1] > x[0] ? -x[0] - x[1] : -inf;
  };
  // far from the bulk, and proposals a hundred times too large
  MetropolisOptions options = plan(2, support::effort(40000), 13, 2);
  options.scale = {100, 100};
  const Sampled s = sample(density, {30, 90}, 2, options);
  BOOST_TEST(s.x[0].size() == std::size_t(support::effort(40000) / 2));
  BOOST_TEST(distance(s, 0.5, [](const auto &x) { return x[0]; }) < 5.5);
  BOOST_TEST(distance(s, 1, [](const auto &x) { return x[1] - x[0]; }) < 5.5);
  BOOST_TEST(distance(s, std::exp(-2.0), [](const auto &x) { return x[0] > 1; }) < 5.5);
  for (const auto &chain : s.x)
    for (const auto &x : chain) BOOST_REQUIRE((x[0] > 0 && x[1] > x[0]));
}

// theta ~ Normal(0, 1), y ~ Poisson(exp(theta)), theta drawn first, then y: its rank among 19 draws
// of the posterior is uniform (Talts and others 2018). The chi-square statistic of 20 ranks exceeds
// 66.9 with a probability of 3e-7.
BOOST_AUTO_TEST_CASE(simulation_based_calibration) {
  const int repetitions = support::effort(4000);
  std::vector<double> counts(20);
  Random random(17);
  for (int r = 0; r < repetitions; ++r) {
    const double theta = random.normal();
    int y = 0;
    for (double time = random.exponential(); time < std::exp(theta); ++y)
      time += random.exponential();
    MetropolisOptions options = plan(1, 19 * 40, std::uint64_t(r), 40);
    options.plan.chains = 1;
    const Sampled s = sample(
        [y](std::span<const double> x) { return -x[0] * x[0] / 2 + y * x[0] - std::exp(x[0]); },
        {0}, 1, options);
    std::size_t rank = 0;
    for (const auto &x : s.x[0]) rank += x[0] < theta;
    ++counts[rank];
  }
  double statistic = 0;
  const double expected = repetitions / 20.0;
  for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
  BOOST_TEST(statistic < 66.9);
}

BOOST_AUTO_TEST_CASE(seeds_chains_and_starts) {
  const auto normal = [](std::span<const double> x) { return -x[0] * x[0] / 2; };
  const MetropolisOptions options = plan(1, 50, 1);
  BOOST_TEST((sample(normal, {0}, 1, options).x == sample(normal, {0}, 1, options).x));
  MetropolisOptions other = options;
  other.seed = 2;
  const Sampled a = sample(normal, {0}, 1, options), b = sample(normal, {0}, 1, other);
  BOOST_TEST((a.x != b.x));
  BOOST_TEST((a.x[0] != a.x[1]));
  // Frozen proposals that are tiny: chains stay where they begin.
  MetropolisOptions frozen = options;
  frozen.adapt = false;
  frozen.scale = {1e-9};
  const Sampled apart = sample(normal, {0, 1, 2, 3}, 1, frozen);
  for (std::size_t chain = 0; chain < 4; ++chain)
    BOOST_TEST(std::fabs(apart.x[chain].back()[0] - double(chain)) < 1e-6);
  frozen.scale = {0.5};
  frozen.plan = {.chains = 4, .draws = 1, .warmup = 0, .thin = 1};
  std::vector<double> first;
  for (const auto &chain : sample([](auto) { return 0.0; }, {5}, 1, frozen).x)
    first.push_back(chain[0][0]);
  std::sort(first.begin(), first.end());
  BOOST_TEST((std::adjacent_find(first.begin(), first.end()) == first.end()));
}

// Elements whose scales differ by a factor of 1e12, from the default start and scale; where there
// is no time to learn them, the chains are known to disagree, and in which element.
BOOST_AUTO_TEST_CASE(scales_that_differ_are_learned) {
  const auto density = [](std::span<const double> x) {
    const double a = x[0] / 1e-6, b = x[1] / 1e6 - 3;
    return -a * a / 2 - b * b / 2;
  };
  const Sampled s = sample(density, {0, 0}, 2, plan(2, 4000, 19));
  BOOST_TEST(s.run.rhat < 1.05);
  for (const double acceptance : s.run.acceptance) BOOST_TEST(std::fabs(acceptance - 0.34) < 0.15);
  BOOST_TEST(distance(s, 3, [](const auto &x) { return x[1] / 1e6; }) < 5.5);
  BOOST_TEST(distance(s, 1, [](const auto &x) { return std::pow(x[1] / 1e6 - 3, 2); }) < 5.5);
  BOOST_TEST(distance(s, 1, [](const auto &x) { return std::pow(x[0] / 1e-6, 2); }) < 5.5);
  MetropolisOptions fixed = plan(2, 4000, 19);
  fixed.adapt = false;
  fixed.scale = {1e-6, 1};
  const Sampled slow = sample(density, {0, 0}, 2, fixed);
  BOOST_TEST(slow.run.rhat > 1.5);
  BOOST_TEST(slow.run.worst == 2U);
}

// What the warmup learns of a standard normal, where there is nothing to learn, must not slow the
// chains down: elsewhere in this seed the least of the effective sample sizes is 0.7 to 1.1 times
// that without.
BOOST_AUTO_TEST_CASE(many_dimensions_are_learned_slowly) {
  const auto normal = [](std::span<const double> x) {
    double out = 0;
    for (const double v : x) out -= v * v / 2;
    return out;
  };
  MetropolisOptions options = plan(15, 4000, 3);
  const auto least = [&](const MetropolisOptions &of) {
    const Sampled sampled = sample(normal, std::vector<double>(15, 0.5), 15, of);
    double out = inf;
    for (std::size_t i = 0; i < 15; ++i) {
      std::vector<std::vector<double>> values;
      for (const auto &chain : sampled.x) {
        values.emplace_back();
        for (const auto &x : chain) values.back().push_back(x[i]);
      }
      std::vector<Chain> chains;
      for (const auto &chain : values) chains.push_back({1, chain});
      Control control;
      out = std::min(out, ess_bulk(chains, control).value());
    }
    return out;
  };
  const double adapted = least(options);
  options.adapt = false;
  const double fixed = least(options);
  BOOST_TEST(adapted > fixed / 3, adapted << " " << fixed);
}

double now = 0;
double fake_clock() { return now; }

// By a clock that only the density moves.
BOOST_AUTO_TEST_CASE(a_limited_time_is_shared_by_chains) {
  const auto timed = [](double seconds) {
    MetropolisOptions options = plan(2, 200, 3, 2);
    options.plan.warmup = 100;
    options.max_seconds = seconds;
    Control control;
    now = 0;
    control.budget = Budget(inf, fake_clock);
    Sampled out;
    out.x.resize(4);
    std::vector<int> order;
    out.run = metropolis(
        [](auto x) {
          now += 1;
          return -(x[0] * x[0] + x[1] * x[1]) / 2;
        },
        std::vector<double>{0, 0}, 2, options, control,
        [&](const MetropolisDraw &draw) {
          out.x[std::size_t(draw.chain) - 1].push_back({draw.x.begin(), draw.x.end()});
        });
    BOOST_TEST(control.is_cut_short == (out.run.draws < 150 || out.run.short_warmup));
    for (const auto &chain : out.x) BOOST_TEST(int(chain.size()) == out.run.draws);
    return out;
  };
  const Sampled free = timed(inf);
  BOOST_TEST(free.run.draws == 150);
  // As many as there are, in another order; and the first ones of them.
  const Sampled enough = timed(4000);
  BOOST_TEST((enough.x == free.x));
  BOOST_TEST(enough.run.rhat == free.run.rhat);
  BOOST_TEST((enough.run.acceptance == free.run.acceptance));
  const Sampled some = timed(1000);  // some 405 of them for warmups
  BOOST_TEST(!some.run.short_warmup);
  BOOST_TEST(some.run.draws > 70);
  BOOST_TEST(some.run.draws < 78);
  for (std::size_t chain = 0; chain < 4; ++chain)
    BOOST_TEST(std::equal(some.x[chain].begin(), some.x[chain].end(), free.x[chain].begin()));
  const Sampled few = timed(400);
  BOOST_TEST(few.run.short_warmup);
  BOOST_TEST(few.run.draws >= 24);
  BOOST_TEST(few.run.draws <= 26);
  const Sampled least = timed(1e-9);
  BOOST_TEST(least.run.draws == 1);
  BOOST_TEST(std::isnan(least.run.rhat));
}

BOOST_AUTO_TEST_CASE(refusals_name_the_point) {
  const auto message_of = [](auto density, Errc code) {
    Control control;
    const std::vector<double> start = {1.5, -2};
    try {
      metropolis(density, start, 2, plan(2, 10, 1), control, [](const MetropolisDraw &) {});
    } catch (const Error &error) {
      return error.code() == code ? std::string(error.what()) : std::string("another code");
    }
    return std::string();
  };
  BOOST_TEST(message_of([](auto) { return -inf; }, Errc::invalid_argument) ==
             "the log density is -Infinity at the start {1.5, -2}");
  BOOST_TEST(message_of([](auto) { return inf; }, Errc::numeric) ==
             "the log density is Infinity at {1.5, -2}");
  BOOST_TEST(message_of([](auto x) { return x[0] == 1.5 ? 0 : double(NAN); }, Errc::numeric)
                 .starts_with("the log density is NaN at {"));
  for (const char *const key : {"chains", "thin", "scale", "max_seconds"})
    BOOST_CHECK_THROW(MetropolisOptions::read(Document::object().set(key, 0), 2), Error);
  BOOST_CHECK_THROW(MetropolisOptions::read(Document::object().set("chain", 4), 2), Error);
  BOOST_CHECK_THROW(
      MetropolisOptions::read(Document::object().set("scale", Tensor{{3}, {1, 1, 1}}), 2), Error);
}

BOOST_AUTO_TEST_SUITE_END()
