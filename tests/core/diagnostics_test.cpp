// Convergence diagnostics: against the R package posterior on chains generated identically in both
// (tests/statistics/reference_diagnostics.R), against known properties of the generating process,
// and where they are undefined.
#include "mcmc/diagnostics.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "compare.hpp"

using bayes::Chain;
using bayes::Random;

namespace {

using Draws = std::vector<std::vector<double>>;  // [chain][draw]

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<Chain> view(const Draws &draws) {
  std::vector<Chain> chains;
  for (const auto &chain : draws) chains.push_back({std::int64_t(chains.size()) + 1, chain});
  return chains;
}

/// The value of a diagnostic; NaN if it is undefined.
template <class Diagnostic> double ask(Diagnostic diagnostic, const Draws &draws) {
  bayes::Control control;
  return diagnostic(view(draws), control).value_or(not_a_number);
}
double rhat(const Draws &draws) { return ask(bayes::rhat, draws); }
double bulk(const Draws &draws) { return ask(bayes::ess_bulk, draws); }
double tail(const Draws &draws) { return ask(bayes::ess_tail, draws); }
double mcse(const Draws &draws) { return ask(bayes::mcse_mean, draws); }

/// Stationary first-order autoregressive chains of variance 1; seed names the set of chains.
Draws autoregressive(std::size_t chains, std::size_t draws, double rho, std::uint64_t seed) {
  Draws out(chains);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    Random random(seed, chain);
    double x = random.normal();
    for (std::size_t draw = 0; draw < draws; ++draw) {
      out[chain].push_back(x);
      x = rho * x + std::sqrt(1 - rho * rho) * random.normal();
    }
  }
  return out;
}

Draws changed(Draws draws, const std::function<double(double)> &change) {
  for (auto &chain : draws)
    for (double &x : chain) x = change(x);
  return draws;
}

bool close(double a, double b, double tolerance) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance * std::fabs(b);
}

/// A line of the reference: parameters, and posterior's results.
struct Reference {
  std::string name;
  double chains, draws, start, rho, noise, drift, scale, shift, cube, steps;
  double rhat, ess_bulk, ess_tail, mcse;
};

std::vector<Reference> references() {
  std::ifstream file(BAYES_TEST_DATA "/../statistics/reference/diagnostics_posterior.csv");
  BOOST_REQUIRE_MESSAGE(file, "no reference file");
  std::string line, cell;
  std::getline(file, line);
  std::vector<Reference> out;
  while (std::getline(file, line)) {
    Reference r;
    std::istringstream cells(line);
    std::getline(cells, r.name, ',');
    for (double Reference::*const member :
         {&Reference::chains, &Reference::draws, &Reference::start, &Reference::rho,
          &Reference::noise, &Reference::drift, &Reference::scale, &Reference::shift,
          &Reference::cube, &Reference::steps, &Reference::rhat, &Reference::ess_bulk,
          &Reference::ess_tail, &Reference::mcse}) {
      std::getline(cells, cell, ',');
      r.*member = cell == "NA" ? not_a_number : std::stod(cell);
    }
    out.push_back(r);
  }
  return out;
}

/// Rounded on its own, never fused with a sum: ties among the draws' distances from their median
/// depend on the last bit.
double product(double a, double b) {
  volatile double result = a * b;
  return result;
}

/// The same chains as reference_diagnostics.R makes for its case `number`.
Draws made(const Reference &r, double number) {
  double state = number;
  const auto uniform = [&] { return (state = std::fmod(16807 * state, 2147483647)) / 2147483647; };
  Draws out(static_cast<std::size_t>(r.chains));
  for (auto &chain : out) {
    double x = r.start;
    for (double draw = 1; draw <= r.draws; ++draw) {
      double noise = uniform();
      noise += uniform();
      noise += uniform();
      x = product(r.rho, x) + product(r.noise, noise - 1.5);
      double value = x + product(r.drift, draw);
      if (&chain == &out.back()) value = product(value, r.scale) + r.shift;
      if (r.cube != 0) value = value * value * value;
      chain.push_back(r.steps > 0 ? std::floor(value * r.steps) : value);
    }
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diagnostics)

BOOST_AUTO_TEST_CASE(results_agree_with_the_r_package_posterior) {
  double number = 0;
  for (const Reference &r : references()) {
    const Draws draws = made(r, ++number);
    // Constant halves have a variance of rounding errors there, and of 0 here; see
    // rhat_of_stuck_chains.
    if (!r.name.starts_with("stuck apart"))
      BOOST_TEST(close(rhat(draws), r.rhat, 1e-10),
                 r.name << ": rhat " << rhat(draws) << ", posterior " << r.rhat);
    BOOST_TEST(close(bulk(draws), r.ess_bulk, 1e-9),
               r.name << ": ess_bulk " << bulk(draws) << ", posterior " << r.ess_bulk);
    BOOST_TEST(close(tail(draws), r.ess_tail, 1e-9),
               r.name << ": ess_tail " << tail(draws) << ", posterior " << r.ess_tail);
    BOOST_TEST(close(mcse(draws), r.mcse, 1e-9),
               r.name << ": mcse " << mcse(draws) << ", posterior " << r.mcse);
  }
  BOOST_TEST(number > 40);
}

BOOST_AUTO_TEST_CASE(autocovariances_agree_with_the_definition) {
  bayes::Control control;
  for (const std::size_t n : {1u, 2u, 3u, 31u, 32u, 33u, 5000u})
    for (const std::size_t count : {1u, 2u, 3u}) {
      Random random(n, count);
      std::vector<double> series;
      for (std::size_t i = 0; i < n * count; ++i) series.push_back(random.normal());
      const std::vector<double> result = bayes::mean_autocovariance(series, n, control);
      BOOST_REQUIRE(result.size() == n);
      for (std::size_t lag = 0; lag < n; lag += 1 + n / 50) {
        double sum = 0;
        for (std::size_t begin = 0; begin < series.size(); begin += n)
          for (std::size_t s = begin; s + lag < begin + n; ++s) sum += series[s] * series[s + lag];
        BOOST_TEST(std::fabs(result[lag] - sum / double(n * count)) <= 1e-14 * double(count),
                   n << " x " << count << ", lag " << lag);
      }
    }
}

BOOST_AUTO_TEST_CASE(normal_quantiles) {
  // R's qnorm, printed with 17 digits.
  for (const auto &[p, quantile] : {std::pair(1e-300, -37.0471),
                                    {1e-10, -6.3613409024040557},
                                    {0.025, -1.9599639845400545},
                                    {0.3, -0.52440051270804089},
                                    {0.5, 0.0},
                                    {0.75, 0.67448975019608171},
                                    {0.99, 2.3263478740408408}})
    BOOST_TEST(std::fabs(bayes::normal_quantile(p) - quantile) <=
                   (p < 1e-200 ? 1e-4 : 1e-15 * (1 + std::fabs(quantile))),
               "quantile of " << p);
  for (const double p : {0.0, 1.0, -1.0, 2.0, not_a_number, infinity})
    BOOST_CHECK_THROW(bayes::normal_quantile(p), bayes::Error);
}

// The effective sample size of an autoregressive chain is S (1 - rho) / (1 + rho). Seeds are fixed;
// over seeds the estimates vary by 3 to 9 %, so a tolerance of 25 % is wide, yet detects
// correlations that are wrong by 0.1.
BOOST_AUTO_TEST_CASE(effective_size_of_autoregressive_chains) {
  for (const double rho : {0.0, 0.3, 0.6, 0.9, -0.3, -0.6})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Draws draws = autoregressive(4, 10000, rho, seed);
      const auto expected = [](double r) { return 40000 * (1 - r) / (1 + r); };
      const double size = ask(bayes::ess_bulk, draws);
      BOOST_TEST(std::fabs(size / expected(rho) - 1) < 0.25,
                 "rho " << rho << ": " << size << " for " << expected(rho));
      if (rho >= 0.6) BOOST_TEST(std::fabs(size / expected(rho - 0.2) - 1) > 0.25);
      // The variance is 1 and the mean's standard error known; the sign of an error in it would
      // show.
      BOOST_TEST(std::fabs(mcse(draws) * std::sqrt(expected(rho)) - 1) < 0.15,
                 "rho " << rho << ": " << mcse(draws));
      BOOST_TEST(tail(draws) < 1.3 * 40000);
      BOOST_TEST(rhat(draws) < 1.01);
    }
}

// The standard error must be the deviation of means between repetitions: 400 sets of chains. The
// deviation of 400 means is known to 3.5 %, so 20 % is more than five of its own standard errors
// (seeds are fixed besides).
BOOST_AUTO_TEST_CASE(standard_error_is_the_deviation_of_means) {
  double squares = 0, claimed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Draws draws = autoregressive(2, 500, 0.7, 1000 + seed);
    double mean = 0;
    for (const auto &chain : draws)
      for (const double x : chain) mean += x / 1000;
    squares += mean * mean / 400;
    claimed += mcse(draws) / 400;
  }
  BOOST_TEST(std::fabs(claimed / std::sqrt(squares) - 1) < 0.2,
             claimed << " claimed, " << std::sqrt(squares) << " seen");
}

BOOST_AUTO_TEST_CASE(rhat_of_chains_that_agree_and_that_do_not) {
  double largest = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    largest = support::larger(largest, rhat(autoregressive(4, 1000, 0, seed)));
  BOOST_TEST(largest < 1.01);
  // Power: the same draws, with one chain that is shifted, varies more, or drifts; or a single one
  // that jumps half way.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Draws draws = autoregressive(4, 1000, 0, seed);
    Draws shifted = draws, wider = draws, drifting = draws, alone = {draws[0]};
    for (double &x : shifted[2]) x += 1.5;
    for (double &x : wider[1]) x *= 2;
    for (std::size_t i = 0; i < 1000; ++i) {
      for (auto &chain : drifting) chain[i] += double(i) / 1000;
      alone[0][i] += i < 500 ? 0 : 1;
    }
    BOOST_TEST(rhat(shifted) > 1.1);
    BOOST_TEST(rhat(wider) > 1.03);     // the means agree: only folding sees it
    BOOST_TEST(rhat(drifting) > 1.02);  // the chains agree: only halving sees it
    BOOST_TEST(rhat(alone) > 1.1);
    BOOST_TEST(bulk(shifted) < 100);
  }
}

BOOST_AUTO_TEST_CASE(effective_sizes_of_antithetic_draws_are_larger_but_bounded) {
  Draws draws(1);
  for (int i = 0; i < 1000; ++i) draws[0].push_back(i % 2 == 0 ? 1 : -1);
  const double most = 1000 * std::log10(1000.0);
  BOOST_TEST(close(bulk(draws), most, 1e-12));
  Random random(5);
  for (double &x : draws[0]) x += 0.01 * random.normal();
  BOOST_TEST(bulk(draws) > 1000);
  BOOST_TEST(close(mcse(draws), 1 / std::sqrt(most), 1e-2));
}

BOOST_AUTO_TEST_CASE(only_ranks_matter_except_for_the_standard_error) {
  const Draws draws = autoregressive(3, 501, 0.4, 9);
  const Draws large = changed(draws, [](double x) { return 2.5e307 * x; }),
              small = changed(draws, [](double x) { return x * 0x1p-1060; });
  const Draws away = changed(draws, [](double x) { return 1e6 + x; }),
              curved = changed(draws, [](double x) { return std::exp(x); });
  for (const Draws &other : {large, away}) {
    BOOST_TEST(close(rhat(other), rhat(draws), 1e-12));
    BOOST_TEST(bulk(other) == bulk(draws));
    BOOST_TEST(tail(other) == tail(draws));
  }
  BOOST_TEST(bulk(curved) == bulk(draws));
  BOOST_TEST(tail(curved) == tail(draws));
  BOOST_TEST(close(mcse(large), 2.5e307 * mcse(draws), 1e-12));
  BOOST_TEST(close(mcse(away), mcse(draws), 1e-8));
  BOOST_TEST(std::isfinite(bulk(small)));
  BOOST_TEST(mcse(changed(draws, [](double x) { return x * 0x1p-1000; })) ==
             std::ldexp(mcse(draws), -1000));
  // The order and names of the chains do not matter, the order of the draws does.
  Draws turned = {draws[2], draws[0], draws[1]};
  BOOST_TEST(close(rhat(turned), rhat(draws), 1e-12));
  BOOST_TEST(close(bulk(turned), bulk(draws), 1e-12));
  for (auto &chain : turned) std::sort(chain.begin(), chain.end());
  BOOST_TEST(bulk(turned) < 0.1 * bulk(draws));
}

BOOST_AUTO_TEST_CASE(rhat_of_stuck_chains) {
  const Draws two = {std::vector<double>(50, 0.1), std::vector<double>(50, 0.3)};
  const Draws three = {std::vector<double>(51, 0.1), std::vector<double>(51, 0.1),
                       std::vector<double>(51, 0.3)};
  BOOST_TEST(rhat(two) == infinity);
  BOOST_TEST(rhat(three) == infinity);
  BOOST_TEST(bulk(two) < 3);
  BOOST_TEST(mcse(two) > 0.05);
  // Two values equally often: all are as far from the median.
  Draws coin(2);
  for (int i = 0; i < 200; ++i) coin[std::size_t(i / 100)].push_back((i * i / 3) % 2);
  std::size_t ones = 0;
  for (const auto &chain : coin) ones += std::size_t(std::count(chain.begin(), chain.end(), 1.0));
  for (std::size_t i = 0; ones > 100; ++i)
    if (coin[0][i] == 1) coin[0][i] = 0, --ones;
  for (std::size_t i = 0; ones < 100; ++i)
    if (coin[0][i] == 0) coin[0][i] = 1, ++ones;
  BOOST_TEST(rhat(coin) < 1.2);
}

BOOST_AUTO_TEST_CASE(undefined_diagnostics_return_nothing) {
  const Draws good = autoregressive(2, 20, 0, 3);
  const auto none = [](const Draws &draws) {
    return std::isnan(rhat(draws)) && std::isnan(bulk(draws)) && std::isnan(tail(draws)) &&
           std::isnan(mcse(draws));
  };
  BOOST_TEST(!none(good));
  BOOST_TEST(none({}));
  BOOST_TEST(none({{}}));
  BOOST_TEST(none({{1}, {2}}));
  BOOST_TEST(none({{1, 2, 3}, {2, 4, 5}}));
  BOOST_TEST(none({std::vector<double>(100, 7.25), std::vector<double>(100, 7.25)}));
  BOOST_TEST(none({std::vector<double>(100, 0), std::vector<double>(100, -0.0)}));
  for (const double bad : {infinity, -infinity, not_a_number})
    for (const std::size_t at : {0u, 10u, 19u}) {
      Draws draws = good;
      draws[1][at] = bad;
      BOOST_TEST(none(draws));
    }
  // A difference only in the dropped draw does not count.
  BOOST_TEST(none({{1, 1, 1, 2, 1, 1, 1}}));
}

BOOST_AUTO_TEST_CASE(chains_of_different_length_are_refused) {
  const std::vector<double> ten(10, 1), nine(9, 1);
  const std::vector<Chain> chains = {{0, ten}, {7, nine}};
  bayes::Control control;
  for (const auto diagnostic : {bayes::rhat, bayes::ess_bulk, bayes::ess_tail, bayes::mcse_mean}) {
    try {
      diagnostic(chains, control);
      BOOST_ERROR("accepted");
    } catch (const bayes::Error &error) {
      BOOST_TEST((error.code() == bayes::Errc::invalid_argument));
      BOOST_TEST(error.what() == std::string("chains have different numbers of draws"));
      BOOST_TEST(error.detail() == "Chain 0 has 10, chain 7 has 9.");
    }
  }
}

BOOST_AUTO_TEST_CASE(long_chains_are_polled) {
  struct Stop final : bayes::Control {
    int polls = 0, limit;
    explicit Stop(int limit) : limit(limit) {}
    void poll() override {
      if (++polls > limit) throw bayes::Error(bayes::Errc::internal, "stopped");
    }
  };
  const Draws draws = autoregressive(1, 300000, 0.5, 1);
  for (const auto diagnostic : {bayes::rhat, bayes::ess_bulk, bayes::ess_tail, bayes::mcse_mean}) {
    Stop all(std::numeric_limits<int>::max());
    diagnostic(view(draws), all);
    BOOST_TEST(all.polls > 50);
    for (const int limit : {0, all.polls / 3, all.polls - 1}) {
      Stop stop(limit);
      BOOST_CHECK_THROW(diagnostic(view(draws), stop), bayes::Error);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
