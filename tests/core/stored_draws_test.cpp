// Which draws a model stores, and the standard errors of means of draws.
#include "mcmc/stored_draws.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "base/random.hpp"

using namespace bayes;

namespace {

Control control;

ChainPlan plan_of(int chains, int draws, int stored = 0) {
  ChainPlan out{chains, draws, 0, 1};
  out.stored_draws = stored;
  return out;
}

/// Two quantities, of which the second mixes faster.
Draws autoregressive(const ChainPlan &plan, double slow, double fast) {
  Draws out{{"slow", "fast"}, plan.chains, plan.stored(), {}};
  for (int c = 0; c < plan.chains; ++c) {
    Random random(5, std::uint64_t(c));
    double x = random.normal(), y = random.normal();
    for (int t = 0; t < plan.stored(); ++t) {
      x = slow * x + std::sqrt(1 - slow * slow) * random.normal();
      y = fast * y + std::sqrt(1 - fast * fast) * random.normal();
      out.values.insert(out.values.end(), {x, y});
    }
  }
  return out;
}

ChainRun chains_of(const ChainPlan &plan, const Draws &draws) {
  ChainRun out;
  out.quantities = draws;
  out.made = plan;
  return out;
}

std::size_t stored(const ChainPlan &plan, const Draws &draws, double numbers_of_one) {
  const std::int64_t collected = collected_draws(plan, 1 << 30);
  return draws_to_store(chains_of(plan, draws), collected, numbers_of_one * double(collected),
                        control)
      .size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_draws)

BOOST_AUTO_TEST_CASE(evenly_spaced_draws_are_in_the_middle_of_equal_parts) {
  for (const int all : {1, 2, 7, 100})
    for (int count = 1; count <= all; ++count) {
      EvenlySpaced spaced(all, count);
      int taken = 0;
      for (int i = 0; i < all; ++i)
        if (spaced.takes(i)) {
          // The middle lies between this draw and the next.
          const int middle = (2 * taken + 1) * all;
          BOOST_TEST((2 * i * count <= middle && middle < 2 * (i + 1) * count));
          BOOST_TEST(spaced.before(i) == taken);
          ++taken;
        }
      BOOST_TEST(taken == count);
      BOOST_TEST(spaced.before(all + 5) == count);
    }
}

BOOST_AUTO_TEST_CASE(as_many_of_every_chain) {
  BOOST_TEST(equal_draws(plan_of(4, 100), 1e9) == 400);
  BOOST_TEST(equal_draws(plan_of(4, 100), 399) == 396);
  BOOST_TEST(equal_draws(plan_of(4, 100), 3) == 3);
  BOOST_TEST(equal_draws(plan_of(4, 100), 0) == 1);
  for (const int chains : {1, 3, 4}) {
    const ChainPlan plan = plan_of(chains, 1000);
    const std::int64_t collected = collected_draws(plan, 1 << 30);
    std::vector<int> of_chain(std::size_t(chains), 0);
    for (const int draw :
         draws_to_store(chains_of(plan, autoregressive(plan, 0, 0)), collected, 1, control))
      ++of_chain[std::size_t(draw * chains / collected)];
    for (const int count : of_chain) BOOST_TEST(count == of_chain[0]);
  }
}

BOOST_AUTO_TEST_CASE(how_many_draws_are_stored) {
  const ChainPlan usual = plan_of(4, 500), long_run = plan_of(4, 10000);
  BOOST_TEST(collected_draws(usual, 1 << 30) == 500);
  BOOST_TEST(collected_draws(long_run, 1 << 30) == 10000);
  BOOST_TEST(collected_draws(long_run, 700) == 700);
  BOOST_TEST(collected_draws(plan_of(4, 500, 600), 1 << 30) == 600);
  BOOST_TEST(collected_draws(plan_of(4, 10, 600), 1 << 30) == 40);

  const Draws few = autoregressive(usual, 0.9, 0.5);
  BOOST_TEST(stored(usual, few, 1) == 500u);
  BOOST_TEST(stored(usual, few, 4000) == 500u);
  BOOST_TEST(stored(usual, few, 8000) == 248u);  // 2 million numbers
  BOOST_TEST(stored(usual, few, 1e9) == 1u);
  // A quarter of the draws, half a million numbers, twice the largest effective size, the least
  // of them; but not fewer than 500.
  const Draws good = autoregressive(long_run, 0.9, 0);
  BOOST_TEST(stored(long_run, good, 1) == 10000u);
  BOOST_TEST(stored(long_run, good, 100) == 5000u);
  BOOST_TEST(stored(long_run, good, 1000) == 500u);
  BOOST_TEST(stored(long_run, good, 8000) == 248u);
  const Draws slow = autoregressive(long_run, 0.99, 0.9);
  const double size = *ess_bulk(ChainSeries(slow, 1).chains(), control);
  BOOST_TEST((size > 1500 && size < 3000));
  BOOST_TEST(std::abs(double(stored(long_run, slow, 1)) - 2 * size) < 5);
  BOOST_TEST(stored(long_run, autoregressive(long_run, 0.9999, 0.9995), 1) == 500u);
  // as asked for
  for (const int asked : {4, 400, 8000})
    BOOST_TEST(stored(plan_of(4, 10000, asked), slow, 1000) == std::size_t(asked));
  BOOST_TEST(stored(plan_of(4, 10000, 8000), slow, 1e5) == 400u);  // 40 million numbers
  // of all draws, where these are held whole
  BOOST_TEST(draws_to_store(chains_of(plan_of(4, 10000, 8000), slow), 40000, 1, control).size() ==
             8000u);
  ChainRun whole = chains_of(long_run, good);
  BOOST_TEST(draws_to_store(whole, 40000, 1, control).size() == 10000u);
  whole.cut = true;  // no time for effective sizes
  BOOST_TEST(draws_to_store(whole, 40000, 1, control).size() == 500u);
}

BOOST_AUTO_TEST_CASE(standard_errors_of_series) {
  const ChainPlan plan = plan_of(4, 1000);
  const Draws draws = autoregressive(plan, 0.9, 0);
  std::vector<double> values;
  for (std::size_t i = 0; i < draws.values.size(); i += 2) values.push_back(draws.values[i]);
  const double exact = mcse_of(values, 4, control);
  BOOST_TEST(exact == *mcse_mean(ChainSeries(draws, 0).chains(), control));
  BOOST_TEST(std::isnan(mcse_of(values, 3, control)));
  BOOST_TEST(std::isnan(mcse_of({1, 2, 3, 4}, 1, control)));
  BOOST_TEST(std::isnan(mcse_of(std::vector<double>(40, 1.0), 2, control)));
  // Means over blocks tell nearly the same.
  const DrawBlocks blocks(4000, 4);
  BOOST_TEST((blocks.length == 32 && blocks.of_chain == 31 && blocks.size() == 124));
  std::vector<double> means;
  for (int b = 0; b < blocks.size(); ++b) {
    means.push_back(0);
    for (int i = 0; i < blocks.length; ++i)
      means.back() += values[std::size_t(blocks.first(b) + i)] / blocks.length;
  }
  const double by_blocks = mcse_of(means, 4, control);
  BOOST_TEST((by_blocks > 0.6 * exact && by_blocks < 1.5 * exact), exact << ' ' << by_blocks);
}

BOOST_AUTO_TEST_CASE(blocks_lie_within_chains) {
  for (const int chains : {1, 2, 4, 7, 200})
    for (const std::int64_t each : {1, 2, 31, 32, 33, 500, 10000000}) {
      const DrawBlocks blocks(each * chains, chains);
      BOOST_TEST(blocks.size() == blocks.of_chain * chains);
      BOOST_TEST((blocks.length >= 1 && blocks.length <= 65535));
      if (each < 1000000) BOOST_TEST(blocks.size() <= std::max(128, 24 * chains));
      BOOST_TEST(std::int64_t(blocks.length) * (blocks.of_chain + 1) > each);
      for (const int b : {0, blocks.of_chain - 1, blocks.size() - 1}) {
        const std::int64_t first = blocks.first(b), last = first + blocks.length - 1;
        BOOST_TEST((first / each == b / blocks.of_chain && last / each == first / each));
      }
    }
  BOOST_TEST(DrawBlocks(10, 3).size() == 0);
  BOOST_TEST(DrawBlocks(0, 3).size() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
