// Forecasts of hidden Markov models: intervals of what comes next, and draws of it.
#include <numeric>

#include "base/incomplete.hpp"
#include "families/predicted.hpp"
#include "hmm_support.hpp"
#include "product_support.hpp"

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

// Probabilities by sums and integrals of densities, at a point, and of predictive densities.
BOOST_AUTO_TEST_CASE(distributions_of_elements) {
  products::for_each_family([&]<class F>(const F &family, const bayes::ColumnSpec &spec) {
    if (family.by_value) return;
    bayes::Random random(5);
    for (const double strength : {1.0, 20.0}) {
      const products::Numbers q = products::prior_of(family, spec, strength),
                              point = products::drawn(family, q, random);
      const bayes::ProductPosterior column = products::column(spec, q);
      const bayes::ProductClusters clusters(column, column);
      const auto check = [&](const Predicted &of, auto density) {
        BOOST_TEST((of.support == Predicted::Support::whole) == !family.allowed(0.5));
        double below = 0;
        products::for_each_value(family, [&](double x, double mass) {
          mass *= std::exp(density(x));
          below += mass;
          // of half lines the integral has its error in one point; of whole numbers no more than
          // 300
          if (family.allowed(0.5) ? std::abs(x) > 0.5 && std::abs(x) < 3 : x < 300)
            BOOST_TEST_REQUIRE(std::abs(of.probability_below(x) - below) <
                               (family.allowed(0.5) ? mass : 1e-11));
        });
        if (!family.allowed(-1)) BOOST_TEST(of.probability_below(-0.1) == 0);
      };
      check(family.predicted(point.data()),
            [&](double x) { return products::log_density(family, point.data(), x); });
      check(family.predictive(q.data()), [&](double x) { return clusters.log_predictive(0, &x); });
    }
  });
}

BOOST_AUTO_TEST_CASE(quantiles_of_mixtures) {
  std::vector<std::vector<Predicted>> families = {
      {Predicted::normal(5.2, 0.02), Predicted::normal(6.5, 0.05), Predicted::normal(1e6, 3)},
      {Predicted::student(-1e9, 1e-3, 0.5), Predicted::student(3, 2, 40),
       Predicted::student(0, 1, 1)}};
  const auto add_points = [&](const auto &family, std::initializer_list<double> numbers) {
    std::vector<Predicted> &parts = families.emplace_back();
    for (const double x : numbers) {
      const double point[] = {x, 1 - x};
      parts.push_back(family.predicted(point));
    }
  };
  const auto add_posteriors = [&](const auto &family,
                                  std::initializer_list<std::array<double, 2>> numbers) {
    std::vector<Predicted> &parts = families.emplace_back();
    for (const auto &q : numbers) parts.push_back(family.predictive(q.data()));
  };
  add_points(bayes::Exponential{}, {1e-200, 3, 1e200});
  add_points(bayes::Gamma{0.3}, {1e-200, 3, 1e200});
  add_points(bayes::Poisson{}, {0, 3.5, 1e12});
  add_points(bayes::Geometric{}, {0.5, 1e-7, 1 - 1e-13});
  add_points(bayes::NegativeBinomial{3.5}, {0.5, 1e-7, 1 - 1e-13});
  add_points(bayes::Binomial{40}, {0.5, 1e-7, 1 - 1e-13});
  add_points(bayes::Bernoulli{}, {0.2, 0.9, 1});
  add_posteriors(bayes::Exponential{}, {{0.3, 1e-50}, {5, 2}, {1, 1e90}});
  add_posteriors(bayes::Gamma{3.5}, {{0.3, 1e-50}, {5, 2}, {1, 1e90}});
  add_posteriors(bayes::Poisson{}, {{2, 1e-6}, {9, 3}, {1, 1}});
  add_posteriors(bayes::Geometric{}, {{3, 2}, {1, 500}, {2, 2}});
  add_posteriors(bayes::NegativeBinomial{3.5}, {{3, 2}, {30, 500}, {2, 2}});
  add_posteriors(bayes::Binomial{1000}, {{3, 2}, {0.3, 0.2}, {500, 2000}});
  for (const auto &parts : families)
    for (const std::vector<double> &weights :
         {std::vector<double>{0.5, 0.5, 0}, {0.9, 0.05, 0.05}, {0, 1, 0}})
      for (const double p : {0.001, 0.025, 0.5, 0.975, 0.999}) {
        const double x = quantile_of_mixture(parts, weights, p);
        BOOST_TEST_CONTEXT("list " << &parts - families.data() << ", " << p << ": " << x) {
          if (parts[0].support == Predicted::Support::whole) {
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

// A Student t of next to no degrees of freedom has quantiles beyond all doubles. They are not
// looked for by thousands of its probabilities, each of which takes long.
BOOST_AUTO_TEST_CASE(quantiles_beyond_all_doubles) {
  static int asked;
  for (const double degrees : {1e-12, 3e-9, 1e-3, 2e-2, 0.1}) {
    Predicted part = Predicted::student(1, 2, degrees);
    part.below = [](const Predicted &of, double x) {
      ++asked;
      return bayes::student_below(of.c, (x - of.a) / of.b);
    };
    for (const double p : {0.025, 0.5, 0.975}) {
      asked = 0;
      const double x = quantile_of_mixture({&part, 1}, std::vector<double>{1}, p);
      BOOST_TEST_CONTEXT(degrees << ' ' << p << ": " << x) {
        BOOST_TEST(std::isnan(x) == (degrees < 1e-2 && p != 0.5));
        BOOST_TEST(asked < (degrees < 1e-2 ? 200 : 1000));
      }
    }
  }
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
