// Chains under a budget of time, by a clock that only the chains' sweeps move.
#include "mcmc/run_chains.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mcmc/stored_draws.hpp"

using namespace bayes;

namespace {

double now = 0;
double fake_clock() { return now; }

/// A draw: its chain and sweep.
struct Draw {
  int chain, sweep;
  friend bool operator==(const Draw &, const Draw &) = default;
};

/// What chains have done, and how long their steps take.
struct Work {
  double start = 0;
  std::function<double(int chain, int sweep)> cost = [](int, int) { return 1.0; };
  std::vector<Draw> kept, stored;
  /// the first sweeps after the warmup
  std::vector<int> warm;
};

class Chain final : public ChainSampler {
 public:
  Chain(Work &work, int number) : work_(work), number_(number) { now += work.start; }
  double sweep(int index, Control &) override {
    now += work_.cost(number_, index);
    sweep_ = index;
    return std::sin(double(index) + number_);
  }
  void end_warmup() override { work_.warm.push_back(sweep_ + 1); }
  void record(std::vector<double> &values) const override {
    values.push_back(1000.0 * number_ + sweep_);
  }
  void keep(double) override { work_.kept.push_back({number_, sweep_}); }
  void store(double) override { work_.stored.push_back({number_, sweep_}); }
  void exchange_state(bayes::StateNumbers &numbers) override { numbers.whole(sweep_, -1, 1 << 20); }

 private:
  Work &work_;
  const int number_;
  int sweep_ = -1;
};

struct Run {
  ChainRun chains;
  Work work;
  bool cut;
  double seconds;
  /// the sweep of draw i of a chain
  int sweep(int chain, int i) const {
    const Draws &draws = chains.quantities;
    return int(draws.values[std::size_t(2 * (chain * draws.draws + i) + 1)]) - 1000 * chain;
  }
};

Run run(const ChainPlan &plan, double seconds, Work work = {}, std::int64_t stored = 1,
        std::int64_t kept = 1 << 20) {
  Control control;
  now = 100;
  control.budget = Budget(seconds, fake_clock);
  ChainSettings settings{"fake", plan, {"sweep"}, stored, "numbers", kept};
  Run out{{}, std::move(work), false, 0};
  settings.retain = [&out](std::span<const int> kept, std::span<const int> stored) {
    retain(out.work.kept, kept);
    retain(out.work.stored, stored);
  };
  out.chains = run_chains(settings, control,
                          [&out](int chain) { return std::make_unique<Chain>(out.work, chain); });
  out.cut = control.is_cut_short;
  out.seconds = now - 100;
  return out;
}

constexpr double unlimited = std::numeric_limits<double>::infinity();
const ChainPlan usual{4, 1000, 500, 1};

/// Has each chain as many of these draws as the others, at least one?
bool equally_many(const std::vector<Draw> &draws, int chains) {
  std::vector<int> of_chain(std::size_t(chains), 0);
  for (const Draw &draw : draws) ++of_chain[std::size_t(draw.chain)];
  return of_chain[0] > 0 &&
         std::all_of(of_chain.begin(), of_chain.end(), [&](int n) { return n == of_chain[0]; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_chains_under_a_budget)

BOOST_AUTO_TEST_CASE(a_budget_that_is_enough_changes_nothing) {
  for (const int thin : {1, 7}) {
    const ChainPlan plan{4, 1000, 500, thin};
    const Run free = run(plan, unlimited, {}, 40, 100), limited = run(plan, 4000, {}, 40, 100);
    BOOST_TEST(free.chains.quantities.values == limited.chains.quantities.values);
    BOOST_TEST((free.work.stored == limited.work.stored));
    BOOST_TEST((free.work.kept == limited.work.kept));
    BOOST_TEST(free.work.stored.size() == 40u);
    BOOST_TEST(free.work.kept.size() == 100u);
    BOOST_TEST((free.work.warm == std::vector<int>(4, 500)));
    BOOST_TEST((!limited.cut && !limited.chains.cut));
    BOOST_TEST(limited.chains.sweeps == 1000);
    BOOST_TEST(limited.chains.made.draws == 1000);
    BOOST_TEST(limited.chains.quantities.draws == 500 / thin);
  }
}

BOOST_AUTO_TEST_CASE(each_chain_has_its_share) {
  // 200 seconds for each: half of them for the warmup
  const Run found = run(usual, 800, {}, 1 << 20);
  BOOST_TEST((found.cut && found.chains.cut && !found.chains.agree));
  BOOST_TEST(found.seconds == 800);
  BOOST_TEST((found.work.warm == std::vector<int>(4, 100)));
  BOOST_TEST(found.chains.quantities.draws == 100);
  BOOST_TEST(found.chains.made.stored() == 100);
  BOOST_TEST(found.chains.sweeps == 200);
  BOOST_TEST(found.work.stored.size() == 400u);
  for (int chain = 0; chain < 4; ++chain) BOOST_TEST(found.sweep(chain, 7) == 107);
}

BOOST_AUTO_TEST_CASE(a_warmup_that_fits_is_complete) {
  const Run found = run(usual, 4 * 900);  // half is 450
  BOOST_TEST((found.work.warm == std::vector<int>(4, 450)));
  BOOST_TEST(found.chains.quantities.draws == 450);
  const Run more = run({4, 1000, 200, 1}, 4 * 900);
  BOOST_TEST((more.work.warm == std::vector<int>(4, 200)));
  BOOST_TEST(more.chains.quantities.draws == 700);
  BOOST_TEST(more.chains.made.draws == 900);
}

BOOST_AUTO_TEST_CASE(a_short_warmup_is_no_complete_chain) {
  // the warmup is slow, and all draws can be made
  Work work;
  work.cost = [](int, int sweep) { return sweep < 100 ? 10.0 : 0.001; };
  const Run found = run(usual, 4 * 100, work);
  BOOST_TEST(found.chains.quantities.draws < 500);
  work.cost = [](int, int sweep) { return sweep < 5 ? 10.0 : 0.001; };
  const Run all = run(usual, 4 * 80, work);
  BOOST_TEST(all.chains.quantities.draws == 500);
  BOOST_TEST((all.chains.cut && all.cut && !all.chains.agree));
}

BOOST_AUTO_TEST_CASE(a_long_start_leaves_time_for_draws) {
  Work work;
  work.start = 150;
  const Run found = run(usual, 800, work);
  BOOST_TEST((found.work.warm == std::vector<int>(4, 0)));
  BOOST_TEST(found.chains.quantities.draws == 50);
  work.start = 1e6;
  const Run late = run(usual, 800, work);
  BOOST_TEST(late.chains.quantities.draws == 1);
}

BOOST_AUTO_TEST_CASE(no_time_makes_one_draw_of_each_chain) {
  for (const int chains : {1, 4})
    for (const int thin : {1, 100})
      for (const std::int64_t stored : {1, 4, 1000}) {
        const Run found = run({chains, 1000, 500, thin}, 0, {}, stored, 1000);
        BOOST_TEST(found.chains.quantities.draws == 1);
        BOOST_TEST(found.chains.quantities.values.size() == std::size_t(2 * chains));
        BOOST_TEST(found.chains.made.stored() == 1);
        BOOST_TEST(found.chains.sweeps == 1);
        BOOST_TEST(found.seconds == chains);
        BOOST_TEST(found.cut);
        BOOST_TEST(!found.work.stored.empty());
        if (stored >= chains) BOOST_TEST(equally_many(found.work.stored, chains));
        BOOST_TEST(found.work.kept.size() == std::size_t(chains));
      }
}

BOOST_AUTO_TEST_CASE(chains_of_unequal_speed_leave_equally_many_draws) {
  for (const int slow : {0, 1, 3})
    for (const std::int64_t stored : {4, 40, 400, 4000})
      for (const std::int64_t kept : {40, 1000, 4000}) {
        Work work;
        work.cost = [slow](int chain, int) { return chain == slow ? 9.0 : 1.0; };
        const Run found = run(usual, 4 * 180, work, stored, std::max(stored, kept));
        const Draws &draws = found.chains.quantities;
        BOOST_TEST(draws.draws == 10);
        BOOST_TEST(draws.values.size() == std::size_t(2 * 4 * draws.draws));
        for (int chain = 0; chain < 4; ++chain)
          BOOST_TEST(found.sweep(chain, 1) == found.sweep(chain, 0) + 1);
        BOOST_TEST(equally_many(found.work.stored, 4));
        BOOST_TEST(equally_many(found.work.kept, 4));
        BOOST_TEST(found.work.stored.size() <= std::size_t(stored));
        // what is stored is kept
        for (const Draw &draw : found.work.stored)
          BOOST_TEST(std::count(found.work.kept.begin(), found.work.kept.end(), draw) == 1);
        // no chain makes more draws than the first
        if (slow == 0) BOOST_TEST(found.seconds < 720 - 100);
      }
}

BOOST_AUTO_TEST_CASE(stored_draws_are_chosen_among_those_that_can_be_made) {
  // 100 of 4 million draws: of the 1000 that time allows each chain there would be none
  const ChainPlan plan{4, 2000000, 1000000, 1};
  const Run found = run(plan, 4 * 2000, {}, 100, 100);
  BOOST_TEST(found.chains.quantities.draws == 1000);
  BOOST_TEST(found.work.stored.size() >= 24u);
  BOOST_TEST(found.work.stored.size() <= 100u);
  BOOST_TEST(equally_many(found.work.stored, 4));
}

BOOST_AUTO_TEST_CASE(few_stored_draws_of_many_chains) {
  const Run found = run(usual, 800, {}, 1, 1);
  BOOST_TEST(found.work.stored.size() == 1u);
  BOOST_TEST(found.work.kept.size() == 1u);
}

BOOST_AUTO_TEST_CASE(budgets) {
  now = 5;
  const Budget whole(10, fake_clock);
  now = 7;
  BOOST_TEST(whole.seconds() == 2);
  BOOST_TEST(whole.left() == 8);
  BOOST_TEST(!whole.over());
  BOOST_TEST(whole.share(0.25).limit() == 4);
  BOOST_TEST(whole.until(20).limit() == 10);
  const Budget inner = whole.from_now(100);
  BOOST_TEST(inner.seconds() == 0);
  BOOST_TEST(inner.limit() == 8);
  BOOST_TEST(whole.from_now(3).limit() == 3);
  now = 15;
  BOOST_TEST((whole.over() && inner.over()));
  BOOST_TEST(whole.left() == 0);
  const Budget unlimited;
  BOOST_TEST((!unlimited.limited() && !unlimited.over() && !unlimited.share(0.5).limited()));
  Control control;
  QuietControl quiet(control);
  quiet.budget = whole;
  BOOST_TEST(!control.out_of_time());
  BOOST_TEST(!control.is_cut_short);
  BOOST_TEST(quiet.out_of_time());
  BOOST_TEST(control.is_cut_short);
}

BOOST_AUTO_TEST_SUITE_END()
