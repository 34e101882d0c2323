// Priors that tell the states of a hidden Markov model apart: whatever is fitted, its states are
// those that the prior names.
#include "hmm_bound.hpp"

using namespace hidden_markov;

namespace {

Options prior_options(const Dirichlets &prior) {
  return {{"initial", tensor(prior.initial)}, {"transition", tensor(prior.a)}};
}

Dirichlets prior_with_names(int k, int v, std::uint64_t seed) {
  bayes::Random random(seed, 80);
  Dirichlets out = hidden_markov::flat(k, v);
  const auto number = [&random] {
    return double(std::ceil(30 * std::pow(random.uniform(), 3))) / 4;
  };
  for (Real &x : out.initial) x = number();
  for (auto &row : out.a)
    for (Real &x : row) x = number();
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_named_prior)

// The posterior means of gibbs are those of all paths, as no draw is relabelled.
BOOST_AUTO_TEST_CASE(gibbs_keeps_the_names_of_the_prior) {
  const std::vector<Sequence> x = {{0, 0, 1, 0, 1, 1, 1}, {1, 0, 0, 1}};
  Dirichlets prior = hidden_markov::flat(2, 2);
  prior.initial = {3, 1};
  prior.a = {{4, 1}, {1, 2}};
  const auto check = [&x](const Dirichlets &prior) {
    const Exact exact = hidden_markov::exact(x, prior);
    const int k = int(prior.initial.size());
    const Fitted model = fitted_symbols(x, 2, k,
                                        {{"method", "gibbs"},
                                         {"prior", prior_options(prior)},
                                         {"chains", 2},
                                         {"draws", 20000},
                                         {"warmup", 100}});
    const Known known(*model, {"categorical"});
    const auto mean = [](const std::vector<Real> &q, std::size_t i) { return double(q[i]); };
    for (std::size_t i = 0; i < at(k); ++i) {
      // six standard errors of the slowest of these averages, from 20 seeds
      BOOST_TEST(std::abs(double(known.initial[i]) - mean(exact.mean.initial, i)) < 0.012);
      for (std::size_t j = 0; j < at(k); ++j)
        BOOST_TEST(std::abs(double(known.a[i][j]) - mean(exact.mean.a[i], j)) < 0.012);
      BOOST_TEST(std::abs(double(known.probability(int(i), 0)) - mean(exact.mean.b[i], 0)) < 0.012);
    }
  };
  check(prior);
  // Only the first state has a name: the two others are exchangeable.
  Dirichlets one = hidden_markov::flat(3, 2);
  one.initial = {6, 1, 1};
  one.a = {{8, 1, 1}, {1, 2, 2}, {1, 2, 2}};
  const std::vector<Sequence> few = {{0, 0, 1, 0, 1, 1}, {1, 0, 0}};
  const Exact exact = hidden_markov::exact(few, one);
  const Fitted model = fitted_symbols(few, 2, 3,
                                      {{"method", "gibbs"},
                                       {"prior", prior_options(one)},
                                       {"chains", 2},
                                       {"draws", 20000},
                                       {"warmup", 100}});
  const Known known(*model, {"categorical"});
  BOOST_TEST(std::abs(double(known.initial[0] - exact.mean.initial[0])) < 0.012);
  BOOST_TEST(std::abs(double(known.a[0][0] - exact.mean.a[0][0])) < 0.012);
  BOOST_TEST(std::abs(double(known.probability(0, 0) - exact.mean.b[0][0])) < 0.012);
  BOOST_TEST(std::abs(double(known.a[1][0] + known.a[2][0] - exact.mean.a[1][0] -
                             exact.mean.a[2][0])) < 0.024);
}

// A refit of the same sequences from the model ends where the model is, as the axes of the prior
// are those of its states.
BOOST_AUTO_TEST_CASE(a_refit_from_the_model_has_the_same_prior) {
  const Table a = {{0.5, 0.5}, {0.03, 0.97}}, b = {{0.8, 0.1, 0.1}, {0.1, 0.3, 0.6}};
  std::vector<Sequence> x;
  for (int s = 0; s < 8; ++s)
    x.push_back(drawn({0.9L, 0.1L}, a, 40, 5 + std::uint64_t(s), letters_of(b)));
  for (const char *const method : {"vi", "map"}) {
    Dirichlets prior = hidden_markov::flat(2, 3);
    prior.initial = {9, 2};
    prior.a = {{5, 5}, {5, 95}};
    const Options options = {{"method", method}, {"prior", prior_options(prior)}};
    Data data(1, x);
    data.named(first_letters(3));
    const Fitted model = fitted(data, 2, options);
    // The state that lasts is the prior's second, although it is the more frequent one.
    const Known known(*model, {"categorical"});
    BOOST_TEST(double(known.a[1][1]) > 0.9);
    BOOST_TEST(double(known.initial[0]) > 0.5);
    const Fitted again = fitted(data, 2, {{"method", method}}, 1, model.get());
    BOOST_TEST(std::abs(again->info.objective - model->info.objective) < 0.01);
    BOOST_TEST(std::abs(double(Known(*again, {"categorical"}).initial[0] - known.initial[0])) <
               0.01);
    // fresh restarts have the prior's names too, and are not renamed by what they emit
    const Fitted restarted = fitted(data, 2, {{"method", method}, {"restarts", 5}}, 1, model.get());
    BOOST_TEST(std::abs(restarted->info.objective - model->info.objective) < 0.01);
    BOOST_TEST(double(Known(*restarted, {"categorical"}).a[1][1]) > 0.9);
    if (std::string(method) == "vi")
      BOOST_TEST(distance(model->info.objective, double(elbo(*model, x, 3, prior))) < 1e-9);
  }
}

// No assignment of states to the prior's names is missed: the default fit is as good as the best of
// many restarts, and of every permutation of its states.
BOOST_AUTO_TEST_CASE(restarts_try_the_names_of_the_prior) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const int k = seed <= 12 ? 2 : 3;
    const Dirichlets prior = prior_with_names(k, 3, seed);
    const std::vector<Sequence> x = some_sequences(3, 3, seed, 8);
    const Options options = {{"prior", prior_options(prior)}};
    const Fitted model = fitted_symbols(x, 3, k, options);
    const Fitted best = fitted_symbols(x, 3, k, with(options, {{"restarts", 300}, {"seed", 7}}));
    check_steps(*model);
    BOOST_TEST_CONTEXT("seed " << seed)
    BOOST_TEST(model->info.objective > best->info.objective - 1e-3);
    BOOST_TEST(distance(model->info.objective, double(elbo(*model, x, 3, prior))) < 1e-9);
  }
}

// A prior that is the same for all states, though written as arrays, leaves them to be sorted.
BOOST_AUTO_TEST_CASE(a_sticky_prior_names_no_states) {
  const Table a = {{0.9, 0.1}, {0.3, 0.7}}, b = {{0.1, 0.9}, {0.8, 0.2}};
  const std::vector<Sequence> x = {drawn({0.5L, 0.5L}, a, 300, 3, letters_of(b))};
  Dirichlets prior = hidden_markov::flat(2, 2);
  prior.a = {{20, 2}, {2, 20}};
  for (const char *const method : {"vi", "gibbs"}) {
    const Fitted model =
        fitted_symbols(x, 2, 2, {{"method", method}, {"prior", prior_options(prior)}});
    BOOST_TEST(model->state_at(0).visits > model->state_at(1).visits);
  }
}

BOOST_AUTO_TEST_SUITE_END()
