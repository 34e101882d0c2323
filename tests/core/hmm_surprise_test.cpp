// How surprising a step is after those before it, and the distribution of a step of which nothing
// is known: against the likelihoods of sequences, and against filters.
#include "base/unseen.hpp"
#include "hmm_support.hpp"
#include "questions/answers.hpp"
#include "questions/dependence.hpp"
#include "questions/row_distribution.hpp"

using namespace hidden_markov;
using bayes::RowDistribution;
using bayes::unseen_category;

namespace {

struct Case {
  std::string name;
  Fitted model;
  /// with missing and unseen elements
  Sequence x;
};

/// Every method, with emissions of every kind.
std::vector<Case> &cases() {
  static std::vector<Case> all = [] {
    std::vector<Case> out;
    for (const char *const method : {"em", "map", "vi", "svi", "gibbs"}) {
      Options options = {{"method", method}};
      if (method == std::string("gibbs")) options = with(options, {{"draws", 40}, {"chains", 2}});
      if (method == std::string("svi")) options = with(options, {{"max_iter", 20}});
      const auto add = [&](const std::string &name, Data &data, const Options &more, Sequence x) {
        out.push_back({name + " " + method, fitted(data, 2, with(options, more)), std::move(x)});
      };
      Data letters(1, {{0, 0, 2, 1, 1, 0, 2}, {2, 1, 0, 0}, {0, 1, 2}});
      letters.named(first_letters(3));
      letters.all.values = 3;
      add("letters", letters, {}, {0, hole, 2, unseen_category, 1, 0, unseen_category});
      Data numbers(1, {{0.1, 3.2, 2.9, -1, -0.4, 0.3, 3.3, 2, 0.5, 0.7, 3, 1}});
      add("normal", numbers, {{"emission", "normal"}}, {hole, 0.2, 3, hole, 1.4, 40});
      Data counts(1, {{0, 3, 9, 12, 8, 1, 0, 2, 11, 10}});
      add("poisson", counts, {{"emission", "poisson"}}, {4, 0, hole, 12, 90});
      Data times(1, {{0.1, 0.3, 9.5, 12, 8, 1, 0.2, 0.2, 11, 10}});
      add("exponential", times, {{"emission", "exponential"}}, {4, 0.1, hole, 12, 9});
      Data bits(1, {{0, 0, 0, 1, 1, 1, 0, 0, 1}});
      add("bernoulli", bits, {{"emission", "bernoulli"}}, {1, 0, hole, 1, 1});
      Data vectors(2, {{0.1, 3.2, 2.9, -1, -0.4, 0.3, 3.3, 2, 0.5, 0.7, 3, 1}});
      for (const char *const covariance : {"full", "tied", "diagonal", "spherical"})
        add(covariance, vectors, {{"covariance", covariance}},
            {0.2, 3, hole, hole, 1.4, 1, hole, 2, -7, hole});
      Data mixed(3, {{0.1, 0, 1, 2.9, 2, 0, -0.4, 1, 1, 3.3, 2, 0, 0.5, 0, 1, 3, 1, 0}});
      add("mixed", mixed, {{"emission", Document::List{"normal", "categorical", "bernoulli"}}},
          {0.2, 0, hole, hole, unseen_category, 1, hole, hole, hole, 9, 2, 0, 0, hole, 1});
    }
    return out;
  }();
  return all;
}

double log_likelihood(const HiddenMarkovModel &model, const Sequence &x) {
  Data one(model.dimension(), {x});
  if (model.symbols()) one.named(model.symbol_names()), one.all.values = int(one.names.size());
  bayes::Control control;
  return model.log_likelihood(one.all, control);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_surprise)

BOOST_AUTO_TEST_CASE(surprises_sum_to_the_likelihood) {
  BOOST_TEST(cases().size() == 50u);
  for (const Case &each : cases()) BOOST_TEST_CONTEXT(each.name) {
      const std::size_t d = at(each.model->dimension());
      HiddenMarkovModel::Filter filter(*each.model);
      double sum = 0;
      for (std::size_t t = 0; t < each.x.size() / d; ++t) {
        const std::span<const double> x(each.x.data() + t * d, d);
        const double log_predictive = filter.pass(x);
        BOOST_TEST(log_predictive == filter.log_predictive());
        const bool known = std::any_of(
            x.begin(), x.end(), [](double v) { return !std::isnan(v) || bayes::is_unseen(v); });
        if (!known) BOOST_TEST(std::abs(log_predictive) < 1e-12);
        sum += log_predictive;
        const double whole = log_likelihood(
            *each.model, Sequence(each.x.begin(), each.x.begin() + std::ptrdiff_t((t + 1) * d)));
        BOOST_TEST(std::abs(sum - whole) < 1e-10 * (1 + std::abs(whole)), t << ": " << sum - whole);
      }
    }
}

// Long enough for the weight of the worse draws to underflow.
BOOST_AUTO_TEST_CASE(surprises_of_a_long_sequence_sum_to_the_likelihood) {
  for (const Case &each : cases()) {
    if (each.name != "letters gibbs" && each.name != "normal gibbs") continue;
    Sequence x;
    for (int i = 0; i < 3000; ++i) x.push_back(i / 5 % 3);
    HiddenMarkovModel::Filter filter(*each.model);
    double sum = 0;
    for (const double v : x) sum += filter.pass({&v, 1});
    BOOST_TEST(distance(sum, log_likelihood(*each.model, x)) < 1e-10, each.name);
  }
}

BOOST_AUTO_TEST_CASE(after_an_impossible_step_it_goes_on) {
  constexpr double beyond = 1e158;  // its density underflows in every state
  Data data(1, {{0.1, -0.2, 0.3, 3.2, 2.9, 3.3}, {0.2, 0, 2.8, 3, 3.1}});
  for (const char *const topology : {"ergodic", "left-to-right"}) {
    const Fitted model =
        fitted(data, 2,
               {{"method", "em"}, {"emission", "normal"}, {"topology", topology}, {"max_iter", 3}});
    const auto pass = [&](const Sequence &x) {
      HiddenMarkovModel::Filter filter(*model);
      std::vector<double> out;
      for (const double v : x) out.push_back(filter.pass({&v, 1}));
      const double last = 1.5;
      for (const double p : filter.next({&last, 1})) out.push_back(p);
      return out;
    };
    const std::vector<double> with = pass({beyond, 0.2, beyond, beyond, 3, 2.9}),
                              without = pass({hole, 0.2, hole, hole, 3, 2.9});
    for (std::size_t t = 0; t < with.size(); ++t)
      if (t == 0 || t == 2 || t == 3)
        BOOST_TEST(with[t] == -std::numeric_limits<double>::infinity());
      else
        BOOST_TEST(std::abs(with[t] - without[t]) < 1e-14, topology);
  }
}

// One filter for all cases of a model: each call goes on from numbers alone.
BOOST_AUTO_TEST_CASE(a_state_goes_on_where_it_stood) {
  for (const Case &each : cases()) BOOST_TEST_CONTEXT(each.name) {
      const HiddenMarkovModel &model = *each.model;
      const std::size_t d = at(model.dimension()), k = at(model.size());
      HiddenMarkovModel::Filter states(model), surprises(model), any(model);
      bayes::HmmProgress now;
      double sum = 0;
      for (std::size_t t = 0; t < each.x.size() / d; ++t) {
        const std::span<const double> x(each.x.data() + t * d, d);
        const std::vector<double> before = now.next;
        any.advance(now, x);
        const auto p = states.next(x);
        sum += surprises.pass(x);
        BOOST_TEST(now.steps == std::int64_t(t + 1));
        BOOST_TEST(std::equal(p.begin(), p.end(), now.states.begin(), now.states.end()));
        BOOST_TEST(now.log_likelihood == sum);
        const bool known = std::any_of(
            x.begin(), x.end(), [](double v) { return !std::isnan(v) || bayes::is_unseen(v); });
        BOOST_TEST(known == !std::isnan(now.surprise));
        if (known) BOOST_TEST(now.surprise == -surprises.log_predictive());
        BOOST_TEST(now.recursion.size() % (3 + k) == 0u);
        // A step of which nothing is known has the predicted states.
        if (t > 0 && !known)
          for (std::size_t i = 0; i < k; ++i) BOOST_TEST(std::abs(p[i] - before[i]) < 1e-14);
      }
      const bool unseen = bayes::has_unseen(each.x);
      BOOST_TEST(now.counting.empty() == !unseen);
    }
}

BOOST_AUTO_TEST_CASE(after_an_impossible_step_a_state_goes_on) {
  Data data(1, {{0.1, -0.2, 0.3, 3.2, 2.9, 3.3}, {0.2, 0, 2.8, 3, 3.1}});
  for (const char *const topology : {"ergodic", "left-to-right"}) {
    const Fitted model =
        fitted(data, 2,
               {{"method", "em"}, {"emission", "normal"}, {"topology", topology}, {"max_iter", 3}});
    HiddenMarkovModel::Filter any(*model);
    bayes::HmmProgress with, without;
    for (const double v : {1e158, 0.2, 1e158, 1e158, 3.0}) {
      const double known = v > 1e100 ? hole : v;
      any.advance(with, {&v, 1});
      any.advance(without, {&known, 1});
      BOOST_TEST(with.states == without.states);
      BOOST_TEST(with.next == without.next);
      BOOST_TEST(std::isinf(with.surprise) == (v > 1e100));
      BOOST_TEST(std::isinf(with.log_likelihood));
    }
  }
}

BOOST_AUTO_TEST_CASE(states_that_no_sequence_has_are_refused) {
  using Progress = bayes::HmmProgress;
  constexpr double inf = std::numeric_limits<double>::infinity();
  // Of an impossible state it is -infinity.
  static constexpr auto raise = [](double &forward) { forward = std::max(forward, 0.0) + 1; };
  const std::vector<std::function<void(Progress &)>> forgeries = {
      [](Progress &p) { p.recursion.clear(); },
      [](Progress &p) { p.recursion.pop_back(); },
      [](Progress &p) { p.recursion[0] = 0; },
      [](Progress &p) { p.recursion[0] = 1.5; },
      [](Progress &p) { p.recursion[0] = 1e9; },
      [](Progress &p) { p.recursion[0] = hole; },
      [](Progress &p) { p.recursion[1] = 1; },
      [](Progress &p) { p.recursion[1] = inf; },
      [](Progress &p) { p.recursion[1] = hole; },
      [](Progress &p) { p.recursion[2] = 0; },
      [](Progress &p) { p.recursion[2] = inf; },
      [](Progress &p) { p.recursion[2] *= 2; },
      [](Progress &p) { raise(p.recursion[3]); },
      [](Progress &p) { p.recursion[3] = hole; },
      [](Progress &p) { p.recursion[3] = p.recursion[4] = -inf; },
      [](Progress &p) {
        p.recursion.insert(p.recursion.end(), p.recursion.begin(), p.recursion.begin() + 5);
      },
      [](Progress &p) { p.counting = p.recursion, raise(p.counting.back()); },
      [](Progress &p) { p.states[0] += 0.1; },
      [](Progress &p) { p.states.pop_back(); },
      [](Progress &p) { p.next[1] = hole; },
      [](Progress &p) { p.log_likelihood = hole; },
      [](Progress &p) { p.log_likelihood = inf; },
  };
  for (const Case &each : cases()) BOOST_TEST_CONTEXT(each.name) {
      HiddenMarkovModel::Filter any(*each.model);
      Progress good;
      const std::span<const double> x(each.x.data(), at(each.model->dimension()));
      any.advance(good, x);
      for (std::size_t i = 0; i < forgeries.size(); ++i) {
        Progress forged = good;
        forgeries[i](forged);
        bayes::Errc code = bayes::Errc::internal;
        message_of([&] { any.advance(forged, x); }, &code);
        BOOST_TEST(bool(code == bayes::Errc::invalid_argument), i);
      }
      any.advance(good, x);
      BOOST_TEST(good.steps == 2);
    }
}

BOOST_AUTO_TEST_CASE(a_step_is_a_row_of_the_mixture_of_emissions) {
  for (const Case &each : cases()) {
    if (each.model->stored_draws() > 0) continue;  // hmm_draws_test.cpp
    BOOST_TEST_CONTEXT(each.name) {
      const HiddenMarkovModel &model = *each.model;
      const std::size_t d = at(model.dimension());
      const auto rows = model.row_distribution();
      double visits = 0;
      for (int i = 0; i < model.size(); ++i) visits += model.state_at(i).visits;
      for (std::size_t t = 0; t < each.x.size() / d; ++t) {
        const std::span<const double> x(each.x.data() + t * d, d);
        if (bayes::has_unseen(x)) continue;
        // p(x | state) = p(x) p(state | x) / p(state), of the first step
        HiddenMarkovModel::Filter filter(model);
        const auto p = filter.next(x);
        double sum = 0;
        for (int i = 0; i < model.size(); ++i)
          sum += model.state_at(i).visits / visits * p[at(i)] / model.state_at(i).initial;
        const double expected = std::log(sum) + filter.log_predictive();
        if (!std::isfinite(expected)) continue;
        BOOST_TEST(std::abs(rows->log_density(rows->checked(x)) - expected) <
                   1e-9 * (1 + std::abs(expected)));
      }
      BOOST_TEST(rows->columns().empty() == !model.symbols());
      if (model.symbols()) BOOST_TEST(rows->label(0, 2) == "c");
    }
  }
}

BOOST_AUTO_TEST_CASE(steps_are_answered_like_rows) {
  for (const Case &each : cases()) BOOST_TEST_CONTEXT(each.name) {
      const auto rows = each.model->row_distribution();
      const std::vector<double> nothing(at(each.model->dimension()), hole);
      rows->condition(nothing);
      bayes::Random random(3, 1);
      std::vector<double> counts(2), drawn = nothing;
      for (int i = 0; i < 200; ++i) {
        drawn = nothing;
        ++counts[at(rows->components()[at(rows->draw(random, drawn))].number)];
        for (const double v : drawn) BOOST_TEST(!std::isnan(v));
      }
      const double share = each.model->state_at(0).visits /
                           (each.model->state_at(0).visits + each.model->state_at(1).visits);
      // 5 standard errors
      BOOST_TEST(std::abs(counts[0] / 200 - share) < 5 * std::sqrt(share * (1 - share) / 200));
      bayes::mutual_information(*rows, [](const bayes::MutualInformation &of) {
        if (of.first != of.second) BOOST_TEST(of.nats >= 0);
      });
    }
}

BOOST_AUTO_TEST_SUITE_END()
