// Fit statistics of latent classes against their definition, over all patterns that there are.
#include "mixture/bmm_bootstrap.hpp"

#include "base/special.hpp"

#include "bmm_support.hpp"

using namespace latent;

namespace {

bayes::BmmFitStatistics statistics(const BernoulliMixture &model, const Matrix &x,
                                   const Vector &weights = {}, int threads = 1) {
  bayes::Control control;
  control.threads = threads;
  auto rows = support::rows_of(x, weights);
  return bayes::bmm_fit_statistics(model, rows, control);
}

const Options em = {{"method", "em"}, {"restarts", 3}};

Options with_likelihood(std::vector<const char *> names) {
  Document::List list(names.begin(), names.end());
  Options out = em;
  out.emplace_back("likelihood", std::move(list));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bmm_statistics)

// Caught: patterns without rows left out of x2, possible patterns that are those seen, a factor of
// 2, parameters of the wrong number of categories, incomplete rows among the complete.
BOOST_AUTO_TEST_CASE(sums_over_all_patterns) {
  bayes::Random random(3);
  const int n = 60;
  Matrix x(n, 3);  // 2 x 3 x 2 patterns
  for (int i = 0; i < n; ++i) {
    const bool first = random.uniform() < 0.6;
    x(i, 0) = random.uniform() < (first ? 0.9 : 0.2);
    x(i, 1) = i < 3 ? i : double(random.below(first ? 2 : 3));
    x(i, 2) = i < 2 ? i : random.uniform() < (first ? 0.95 : 0.1);
  }
  const auto model = fitted(x, 2, with_likelihood({"bernoulli", "categorical", "categorical"}));
  BOOST_TEST(model->free_parameters() == 1 + 2 * (1 + 2 + 1));
  Matrix all(n + 7, 3);
  all << x, Matrix::Constant(7, 3, 1);
  all(n, 1) = all(n + 1, 0) = hole;
  Vector weights(n + 7);
  for (int i = 0; i < n + 7; ++i) weights(i) = 0.5 + random.uniform();

  std::map<std::vector<double>, double> observed;
  double complete = 0, entropy = 0, log_likelihood = 0;
  for (int i = 0; i < n + 7; ++i) {
    const std::vector<double> row = support::row(all, i);
    double p[2];
    model->probabilities(row, p);
    entropy -= weights(i) * (p[0] * std::log(p[0]) + p[1] * std::log(p[1]));
    log_likelihood += weights(i) * model->log_density(row);
    if (std::isnan(row[0]) || std::isnan(row[1])) continue;
    observed[row] += weights(i);
    complete += weights(i);
  }
  double g2 = 0, x2 = 0;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 2; ++c) {
        const std::vector<double> row = {double(a), double(b), double(c)};
        const double o = observed.count(row) ? observed[row] : 0;
        const double e = complete * std::exp(model->log_density(row));
        if (o > 0) g2 += 2 * o * std::log(o / e);
        x2 += (o - e) * (o - e) / e;
      }
  const auto s = statistics(*model, all, weights);
  BOOST_TEST(distance(s.g2, g2) < 1e-10);
  BOOST_TEST(distance(s.x2, x2) < 1e-10);
  BOOST_TEST(distance(s.complete, complete) < 1e-12);
  BOOST_TEST(distance(s.observations, weights.sum()) < 1e-12);
  BOOST_TEST(distance(s.log_likelihood, log_likelihood) < 1e-12);
  BOOST_TEST(distance(s.entropy, 1 - entropy / (weights.sum() * std::log(2.0))) < 1e-10);
  BOOST_TEST(std::size_t(*s.patterns) == observed.size());
  BOOST_TEST(observed.size() < 12);
  BOOST_TEST(s.possible == 12);
  BOOST_TEST(s.df == 12 - 1 - 9);
  BOOST_TEST(distance(s.bic, -2 * log_likelihood + 9 * std::log(weights.sum())) < 1e-12);
  BOOST_TEST(distance(s.aic, -2 * log_likelihood + 18) < 1e-12);
  BOOST_TEST(s.g2_p == bayes::chi_square_tail(s.g2, 2));
  BOOST_TEST(s.x2_p == bayes::chi_square_tail(s.x2, 2));
  const auto two = statistics(*model, all, weights, 2);
  BOOST_TEST(two.g2 == s.g2);
  BOOST_TEST(two.log_likelihood == s.log_likelihood);
}

// One component that has the shares of the rows: nothing is left to explain.
BOOST_AUTO_TEST_CASE(a_model_with_all_parameters_fits) {
  Matrix x(10, 1);
  x << 0, 0, 0, 1, 1, 2, 2, 2, 2, 2;
  const auto model = fitted(x, 1, with_likelihood({"categorical"}));
  const auto s = statistics(*model, x);
  BOOST_TEST(s.g2 < 1e-12);
  BOOST_TEST(s.g2 >= 0);
  BOOST_TEST(s.x2 < 1e-12);
  BOOST_TEST(s.df == 0);
  BOOST_TEST(std::isnan(s.g2_p));
  BOOST_TEST(std::isnan(s.entropy));
}

// Caught: geometric elements, which have a probability too, taken for answers.
BOOST_AUTO_TEST_CASE(elements_without_end_have_no_table) {
  for (const char *name : {"poisson", "geometric", "normal", "exponential"}) {
    Matrix x = binary_rows(30, 2, 5);
    x.array() += 1;
    const auto s = statistics(*fitted(x, 2, {{"method", "em"}, {"likelihood", name}}), x);
    BOOST_TEST(std::isnan(s.g2));
    BOOST_TEST(std::isnan(s.x2));
    BOOST_TEST(std::isnan(s.df));
    BOOST_TEST(std::isnan(s.possible));
    BOOST_TEST(*s.patterns <= 4);
    BOOST_TEST(std::isfinite(s.log_likelihood));
  }
}

// What an error says is in tests/sql/bmm_statistics.sql.
BOOST_AUTO_TEST_CASE(draws_and_unknown_values_are_refused) {
  const Matrix x = binary_rows(30, 3, 7);
  const auto sampled = fitted(x, 2, {{"method", "gibbs"}, {"draws", 10}, {"chains", 1}});
  BOOST_CHECK_THROW(statistics(*sampled, x), bayes::Error);
  Matrix unknown = x;
  unknown(4, 1) = 2;
  BOOST_CHECK_THROW(statistics(*fitted(x, 2, em), unknown), bayes::Error);
}

// Two classes of 250 rows of ten answers. Caught: refits to the data in place of the tables drawn,
// tables drawn all alike, p that counts smaller ones.
BOOST_AUTO_TEST_CASE(the_bootstrap_judges_sparse_tables) {
  bayes::Random random(21);
  Matrix x(250, 10);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j)
      x(i, j) = random.uniform() < (i % 2 ? 0.8 : 0.25) ? 1 : 0;
  const auto one = fitted(x, 1, em), two = fitted(x, 2, em);
  for (const auto *model : {one.get(), two.get()}) {
    const auto s = statistics(*model, x);
    BOOST_TEST(s.sparse);
    BOOST_TEST(std::isnan(s.g2_p));
    BOOST_TEST(s.g2 > 0);
  }
  const auto bootstrap = [&](const BernoulliMixture &model, int threads) {
    bayes::Control control;
    control.threads = threads;
    auto rows = support::rows_of(x, {});
    return bayes::bmm_bootstrap(model, rows, {.draws = 39}, control);
  };
  const auto of_one = bootstrap(*one, 1), of_two = bootstrap(*two, 1), again = bootstrap(*two, 2);
  BOOST_TEST(of_one.g2_p == 1 / 40.0);
  BOOST_TEST(of_one.x2_p <= 2 / 40.0);
  BOOST_TEST(of_two.g2_p > 0.05);
  BOOST_TEST(of_two.g2_p < 1);
  BOOST_TEST(of_two.rows == 250);
  BOOST_TEST(of_two.g2 == statistics(*two, x).g2);
  BOOST_TEST(again.g2_p == of_two.g2_p);
  BOOST_TEST(again.x2_p == of_two.x2_p);
}

BOOST_AUTO_TEST_SUITE_END()
