// Forecasts of hidden Markov models: intervals of what comes next, and draws of it.
#include <numeric>

#include "families/predicted.hpp"
#include "hmm_support.hpp"

using namespace hidden_markov;
using bayes::Predicted;
using bayes::quantile_of_mixture;

namespace {

double below(const std::vector<Predicted> &parts, const std::vector<double> &weights, double x) {
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (weights[i] > 0) sum += weights[i] * parts[i].probability_below(x);
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_forecast)

// Probabilities by sums of the probabilities of whole numbers, and by integrals over the parameter.
BOOST_AUTO_TEST_CASE(distributions_of_elements) {
  using Kind = Predicted::Kind;
  const auto sum = [](double n, auto p) {
    Real total = 0;
    for (int x = 0; x <= int(n); ++x) total += std::exp(Real(p(x)));
    return double(total);
  };
  for (const double n : {0.0, 1.0, 4.0, 17.0}) {
    const double r = 3.4, b = 0.7, a = 2.3;
    BOOST_TEST(distance(Predicted{Kind::poisson, r}.probability_below(n + 0.5), sum(n, [&](int x) {
                          return x * std::log(r) - r - std::lgamma(x + 1.0);
                        })) < 1e-13);
    BOOST_TEST(
        distance(Predicted{Kind::negative_binomial, r, b}.probability_below(n), sum(n, [&](int x) {
                   return std::lgamma(r + x) - std::lgamma(r) - std::lgamma(x + 1.0) +
                          r * std::log(b / (1 + b)) - x * std::log(1 + b);
                 })) < 1e-12);
    BOOST_TEST(distance(Predicted{Kind::geometric, std::log(0.8)}.probability_below(n),
                        sum(n, [&](int x) { return std::log(0.2) + x * std::log(0.8); })) < 1e-13);
    BOOST_TEST(
        distance(Predicted{Kind::beta_geometric, a, b}.probability_below(n), sum(n, [&](int x) {
                   return std::lgamma(a + 1) + std::lgamma(b + x) - std::lgamma(a + b + x + 1) +
                          std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
                 })) < 1e-12);
  }
  BOOST_TEST(distance(Predicted{Kind::exponential, 2}.probability_below(0.3), 1 - std::exp(-0.6)) <
             1e-15);
  BOOST_TEST(distance(Predicted{Kind::lomax, 2, 3}.probability_below(1), 1 - std::pow(0.75, 2)) <
             1e-15);
  BOOST_TEST((Predicted{Kind::bernoulli, 0.3}.probability_below(0)) == 0.7);
  for (const Kind kind : {Kind::exponential, Kind::lomax, Kind::poisson, Kind::bernoulli,
                          Kind::negative_binomial, Kind::beta_geometric})
    BOOST_TEST((Predicted{kind, 0.4, 2}.probability_below(-0.1)) == 0);
}

BOOST_AUTO_TEST_CASE(quantiles_of_mixtures) {
  using Kind = Predicted::Kind;
  const std::vector<std::vector<Predicted>> families = {
      {{Kind::normal, 5.2, 0.02}, {Kind::normal, 6.5, 0.05}, {Kind::normal, 1e6, 3}},
      {{Kind::student, -1e9, 1e-3, 0.5}, {Kind::student, 3, 2, 40}, {Kind::student, 0, 1, 1}},
      {{Kind::exponential, 1e-200}, {Kind::exponential, 3}, {Kind::exponential, 1e200}},
      {{Kind::lomax, 0.3, 1e-50}, {Kind::lomax, 5, 2}, {Kind::lomax, 1, 1e90}},
      {{Kind::poisson, 0}, {Kind::poisson, 3.5}, {Kind::poisson, 1e12}},
      {{Kind::negative_binomial, 2, 1e-6},
       {Kind::negative_binomial, 9, 3},
       {Kind::negative_binomial, 1, 1}},
      {{Kind::geometric, std::log(0.5)}, {Kind::geometric, -1e-7}, {Kind::geometric, -30}},
      {{Kind::beta_geometric, 3, 2}, {Kind::beta_geometric, 1, 500}, {Kind::beta_geometric, 2, 2}},
      {{Kind::bernoulli, 0.2}, {Kind::bernoulli, 0.9}, {Kind::bernoulli, 1}}};
  for (const auto &parts : families)
    for (const std::vector<double> &weights :
         {std::vector<double>{0.5, 0.5, 0}, {0.9, 0.05, 0.05}, {0, 1, 0}})
      for (const double p : {0.001, 0.025, 0.5, 0.975, 0.999}) {
        const double x = quantile_of_mixture(parts, weights, p);
        BOOST_TEST_CONTEXT("kind " << int(parts[0].kind) << ", " << p << ": " << x) {
          if (parts[0].kind >= Kind::bernoulli) {
            BOOST_TEST(x == std::floor(x));
            BOOST_TEST(below(parts, weights, x) >= p);
            BOOST_TEST((x == 0 || below(parts, weights, x - 1) < p || x > 9e15));
          } else {
            const double step = 1e-9 * std::max(std::abs(x), 1e-300);
            BOOST_TEST(below(parts, weights, x + step) >= p);
            BOOST_TEST(below(parts, weights, x - step) <= p);
          }
        }
      }
  BOOST_TEST(
      std::isnan(quantile_of_mixture(std::vector<Predicted>(1), std::vector<double>{1}, 0.5)));
}

// After every method: the interval is the one of the states' mixture, which between two peaks is
// not that of a normal distribution.
BOOST_AUTO_TEST_CASE(intervals_of_two_peaks) {
  bayes::Control control;
  Sequence x;
  bayes::Random random(4, 81);
  for (int t = 0; t < 300; ++t)
    x.push_back((random.uniform() < 0.5 ? 5.2 : 6.5) + 0.03 * random.normal());
  Data data(1, {x});
  for (const char *const method : {"em", "vi", "gibbs"}) {
    Options options = {{"method", method}};
    if (method[0] == 'g') options = with(options, {{"draws", 60}, {"warmup", 30}, {"chains", 1}});
    const Fitted model = fitted(data, 2, options);
    const auto next = model->predict_next(data.all, control, 0.95);
    BOOST_TEST((next.lower[0] > 5.1 && next.lower[0] < 5.19), next.lower[0]);
    BOOST_TEST((next.upper[0] > 6.51 && next.upper[0] < 6.6), next.upper[0]);
    BOOST_TEST(next.mean[0] - 1.96 * std::sqrt(next.variance[0]) < 5);
    BOOST_TEST(model->predict_next(data.all, control).lower.empty());
    // Draws of it have the same quantiles, mean and variance, and states.
    const int draws = 20000;
    std::vector<double> first, second;
    double in_first = 0;
    model->sample_after(data.all, 2, draws, 3, control,
                        [&](int draw, int step, int state, std::span<const double> v) {
                          BOOST_REQUIRE(draw == int(second.size()));
                          (step == 0 ? first : second).push_back(v[0]);
                          if (step == 1) in_first += state == 0;
                        });
    BOOST_TEST(first.size() == at(draws));
    std::vector<HiddenMarkovModel::Prediction> ahead;
    model->predict(
        data.all, 2, control, [&](const auto &p) { ahead.push_back(p); }, 0.5);
    for (std::vector<double> *const drawn : {&first, &second}) {
      const auto &expected = ahead[drawn == &first ? 0 : 1];
      std::sort(drawn->begin(), drawn->end());
      const auto below = [&](double v) {
        return double(std::lower_bound(drawn->begin(), drawn->end(), v) - drawn->begin()) / draws;
      };
      // false alarm 1e-9 each
      BOOST_TEST(std::abs(below(expected.lower[0]) - 0.25) < 0.019);
      BOOST_TEST(std::abs(below(expected.upper[0]) - 0.75) < 0.019);
      const double mean = std::accumulate(drawn->begin(), drawn->end(), 0.0) / draws;
      BOOST_TEST(std::abs(mean - expected.mean[0]) < 0.03);
    }
    BOOST_TEST(std::abs(in_first / draws - ahead[1].states[0]) < 0.022);
  }
}

// Steps of one draw hang together, and begin where the sequence ends.
BOOST_AUTO_TEST_CASE(draws_of_paths) {
  bayes::Control control;
  const Fitted model = symbol_model({0.5, 0.5}, {{0.95, 0.05}, {0, 1}}, {{0.9, 0.1}, {0.1, 0.9}});
  Data past(1, {{0, 0, 0, 0, 0, 0}});
  past.named(model->symbol_names());
  past.all.values = 2;
  int left = 0, changes = 0, at_first = 0;
  const int draws = 4000;
  const auto run = [&](std::uint64_t seed) {
    std::vector<int> all;
    int before = 0;
    model->sample_after(past.all, 10, draws, seed, control,
                        [&](int, int step, int state, std::span<const double> v) {
                          BOOST_TEST((v[0] == 0 || v[0] == 1));
                          all.push_back(2 * state + int(v[0]));
                          if (step == 0) at_first += state == 0;
                          if (step > 0) left += before == 0, changes += before == 0 && state == 1;
                          if (step > 0 && before == 1) BOOST_TEST(state == 1);
                          before = state;
                        });
    return all;
  };
  const std::vector<int> one = run(1);
  BOOST_TEST(one.size() == at(10 * draws));
  BOOST_TEST(std::abs(double(at_first) / draws - model->predict_next(past.all, control).states[0]) <
             0.03);
  BOOST_TEST(std::abs(double(changes) / left - 0.05) < 0.01);
  BOOST_TEST((one == run(1)));
  BOOST_TEST((one != run(2)));
  Data none(1, {});
  none.named(model->symbol_names());
  none.all.values = 2;
  int zeros = 0;
  model->sample_after(none.all, 1, draws, 1, control,
                      [&](int, int, int state, std::span<const double>) { zeros += state == 0; });
  BOOST_TEST(std::abs(double(zeros) / draws - 0.5) < 0.05);
}

BOOST_AUTO_TEST_SUITE_END()
