// Products of columns: block scores, divergences, modes, draws and learners, for every column
// family at once.
//
// Each case was seen to fail on a broken copy of the headers; the breaks are named where they are
// caught.
#include "product_support.hpp"

using namespace products;

BOOST_AUTO_TEST_SUITE(product)

// Textbook definitions of densities; properties of all families are tested in
// product_families_test.cpp.
BOOST_AUTO_TEST_CASE(densities_agree_with_the_definition) {
  using Real = long double;
  const auto check = [](const auto &family, std::vector<double> point, double x, Real density) {
    point.resize(std::size_t(family.point_size()));
    family.complete(point.data());
    BOOST_TEST(distance(log_density(family, point.data(), x), double(std::log(density))) < 1e-14);
  };
  for (const Real p : {0.2L, 0.9L}) {
    check(Bernoulli{}, {double(p)}, 1, double(p));
    check(Bernoulli{}, {double(p)}, 0, 1 - double(p));
    check(Categorical{2}, {double(p), double(1 - p)}, 1, double(1 - p));
    for (const int x : {0, 1, 5, 40}) {
      check(Geometric{}, {double(p)}, x, double(p) * std::pow(1 - Real(double(p)), x));
      check(NegativeBinomial{2.5}, {double(p)}, x,
            std::tgamma(x + 2.5L) / std::tgamma(2.5L) / std::tgamma(x + 1.0L) *
                std::pow(Real(double(p)), 2.5L) * std::pow(1 - Real(double(p)), x));
      check(Binomial{40}, {double(p)}, x,
            std::tgamma(41.0L) / std::tgamma(x + 1.0L) / std::tgamma(41.0L - x) *
                std::pow(Real(double(p)), x) * std::pow(1 - Real(double(p)), 40 - x));
      check(Poisson{}, {double(p)}, x,
            std::exp(-Real(double(p))) * std::pow(Real(double(p)), x) / std::tgamma(x + 1.0L));
    }
  }
  // 1 - p in double precision has lost half its digits
  check(Geometric{}, {1e-9}, 1e6, 1e-9 * std::pow(1 - Real(1e-9), 1000000));
  for (const double x : {0.0, 0.3, 4.0}) {
    check(Exponential{}, {0.7}, x, Real(0.7) * std::exp(-Real(0.7) * x));
    check(UnivariateNormal{}, {1.5, 2}, x,
          std::exp(-(x - 1.5L) * (x - 1.5L) / 4) / std::sqrt(4 * 3.14159265358979323846264L));
    if (x == 0) continue;
    const Real away = std::log(Real(x)) - 1.5L;
    check(LogNormal{}, {1.5, 2}, x,
          std::exp(-away * away / 4) / std::sqrt(4 * 3.14159265358979323846264L) / x);
    check(Gamma{2.5}, {0.7}, x,
          std::pow(Real(0.7), 2.5L) * std::pow(Real(x), 1.5L) * std::exp(-Real(0.7) * x) /
              std::tgamma(2.5L));
  }
}

BOOST_AUTO_TEST_CASE(logarithms_of_factorials_agree_with_their_sum) {
  long double sum = 0;
  for (int x = 1; x <= 3000; ++x) {
    sum += std::log(static_cast<long double>(x));
    BOOST_TEST(distance(bayes::log_factorial(x), double(sum)) < 1e-14);
  }
  BOOST_TEST(bayes::log_factorial(0) == 0);
  for (const double x : {1e6, 1e12})
    BOOST_TEST(distance(bayes::log_factorial(x), double(std::lgamma(x + 1.0L))) < 1e-14);
}

// Caught: a constant of another column, missing values that count, several columns with missing
// values processed at once.
BOOST_AUTO_TEST_CASE(block_scores_and_statistics_agree_with_row_by_row) {
  std::vector<std::vector<ColumnSpec>> rows_of_columns = {mixed};
  for (const ColumnSpec &spec : every_family()) {
    rows_of_columns.emplace_back(13, spec);
    rows_of_columns.emplace_back(1, spec);
  }
  for (const bool holes : {false, true})
    for (const auto &specs : rows_of_columns) {
      const ProductPosterior prior = some_prior(specs);
      const int n = 300, k = 3;
      const Matrix x = some_rows(prior, n, 5, holes);
      Random random(6);
      const ProductPoint point = draw(replicate(prior, k), random);
      const ProductScorer scorer = make_scorer(point);
      ProductScorer::Worker worker(scorer);
      auto rows = support::rows_of(x);
      Buffer block(rows.shape().block_doubles()), out(block_rows);
      for (int b = 0; b < 3; ++b) {
        rows.read_block(b, block.data());
        worker.prepare(block.data());
        for (int c = 0; c < k; ++c) {
          worker.score(block.data(), c, out.data());
          for (int i = 0; i < block_rows && b * block_rows + i < n; ++i) {
            const auto row = support::row(x, b * block_rows + i);
            std::vector<double> all(std::size_t(k), 0.0);
            scorer.score(row.data(), all.data());
            BOOST_TEST_REQUIRE(distance(out[std::size_t(i)], log_density(point, c, row)) < 1e-12);
            BOOST_TEST_REQUIRE(distance(out[std::size_t(i)], all[std::size_t(c)]) < 1e-12);
          }
        }
      }

      const Vector w = support::random_weights(n, 7);
      std::vector<int> group;
      for (int i = 0; i < n; ++i)
        group.push_back(int(random.below(2)));  // the third group is empty
      const auto s = statistics_of(prior, x, group, k, w);
      BOOST_TEST(s.count(2) == 0);
      const ProductPosterior at_once = posterior(s, replicate(prior, k));
      ProductPosterior one_by_one = replicate(prior, k);
      Vector count = Vector::Zero(k), carrier = Vector::Zero(k);
      for (int i = 0; i < n; ++i) {
        const int c = group[std::size_t(i)];
        count(c) += w(i);
        for_each_family(*prior.columns, [&](int j, const auto &family, const ColumnOffsets &) {
          if (std::isnan(x(i, j))) return;
          const double element = family.element(x(i, j));
          carrier(c) += w(i) * family.log_carrier(element);
          Numbers sums = sums_of(family, {x(i, j)});
          family.scale(w(i), sums.data());
          double *const q = one_by_one.column(c, j);
          family.posterior(sums.data(), Numbers(q, q + family.posterior_size()).data(), q);
        });
      }
      for (int c = 0; c < k; ++c) {
        BOOST_TEST(distance(s.count(c), count(c)) < 1e-12);
        BOOST_TEST(distance(s.carrier(c), carrier(c)) < 1e-12);
        BOOST_TEST(distance(to_vector(at_once.values.col(c)), to_vector(one_by_one.values.col(c))) <
                   1e-11);
      }
    }
}

// Caught: a dropped x! in the statistics, log(1 / c) left out of an expected density, c1 c2
// (difference)^2 not divided by c.
BOOST_AUTO_TEST_CASE(objectives_increase_and_one_component_is_exact) {
  for (const bool holes : {false, true}) {
    const ProductPosterior prior = some_prior(mixed);
    const int k = 4;
    const Matrix x = some_rows(prior, 400, 51, holes);
    auto rows = support::rows_of(x, support::random_weights(400, 52));
    Control control;
    Random random(53);
    Schedule schedule;
    schedule.max_iterations = 100;
    schedule.tolerance = 0;
    const ProductFloor floor{1e-3, Vector::Ones(prior.dimension()),
                             std::vector<bool>(std::size_t(prior.dimension()), false)};
    const MixturePoint<ProductPoint> start{Vector::Constant(k, 1.0 / k),
                                           draw(replicate(prior, k), random)};
    const MixturePosterior<ProductPosterior> wide{Vector::Ones(k), replicate(prior, k)};
    const auto first = local_step<SoftAllocation>(rows, control, make_scorer(start.components),
                                                  log_weights_of(start.weights))
                           .statistics;
    const auto climbs = [](const std::vector<double> &trace) {
      BOOST_TEST(trace.size() > 5u);
      for (std::size_t i = 1; i < trace.size(); ++i)
        BOOST_TEST_REQUIRE(trace[i] >= trace[i - 1] - 1e-9 * std::abs(trace[i]));
    };
    climbs(optimize(MaximumLikelihood<ProductPoint, ProductFloor>(floor), start, rows, control,
                    schedule)
               .trace);
    climbs(optimize(MaximumPosterior<ProductPoint, ProductPosterior>(wide.alpha, wide.components),
                    start, rows, control, schedule)
               .trace);
    const Variational<ProductPosterior> vi(wide);
    climbs(optimize(vi, {wide.alpha + first.count, posterior(first, wide.components)}, rows,
                    control, schedule)
               .trace);
    // A natural-gradient step of size 1 gives the target, of size 0 changes nothing; of size 1/2 it
    // is the mean of sufficient statistics.
    const ProductPosterior target = posterior(first, wide.components);
    BOOST_TEST((natural_gradient_step(wide.components, target, 1).values - target.values)
                   .cwiseAbs()
                   .maxCoeff() < 1e-10);
    BOOST_TEST((natural_gradient_step(wide.components, target, 0).values - wide.components.values)
                   .cwiseAbs()
                   .maxCoeff() < 1e-12);
    ProductStatistics half = first;
    half.scale(0.5);
    BOOST_TEST((natural_gradient_step(wide.components, target, 0.5).values -
                posterior(half, wide.components).values)
                   .cwiseAbs()
                   .maxCoeff() < 1e-9);

    auto plain = support::rows_of(x);
    const auto all = statistics_of(prior, x);
    const auto run =
        optimize(Variational<ProductPosterior>({Vector::Ones(1), prior}),
                 {Vector::Constant(1, 401.0), posterior(all, prior)}, plain, control, schedule);
    BOOST_TEST(distance(run.trace.back(), log_marginal_likelihood(all, prior)) < 1e-10);
  }
}

BOOST_AUTO_TEST_CASE(two_categories_agree_with_bernoulli) {
  const ProductPosterior coins = some_prior(std::vector<ColumnSpec>(4, {kind_of<Bernoulli>}));
  ProductPosterior dice = some_prior(std::vector<ColumnSpec>(4, {kind_of<Categorical>, 2}));
  for (int j = 0; j < 4; ++j)
    dice.column(0, j)[0] = coins.column(0, j)[1], dice.column(0, j)[1] = coins.column(0, j)[0];
  const Matrix x = some_rows(coins, 50, 61);
  const auto s = statistics_of(coins, x), t = statistics_of(dice, x);
  const auto p = posterior(s, coins), q = posterior(t, dice);
  BOOST_TEST(distance(log_marginal_likelihood(s, coins), log_marginal_likelihood(t, dice)) < 1e-13);
  BOOST_TEST(distance(divergence(p, coins), divergence(q, dice)) < 1e-12);
  BOOST_TEST(distance(log_prior(maximum_posterior(s, coins), coins),
                      log_prior(maximum_posterior(t, dice), dice)) < 1e-12);
  const ProductClusters a = clusters_of(coins, x), b = clusters_of(dice, x);
  const ProductFloor floor{0.3, Vector::Ones(4), std::vector<bool>(4, false)};
  const auto u = maximum_likelihood(s, point_estimate(p), floor),
             v = maximum_likelihood(t, point_estimate(q), floor);
  for (int i = 0; i < 50; ++i) {
    const auto row = support::row(x, i);
    BOOST_TEST(distance(a.log_predictive(0, row.data()), b.log_predictive(0, row.data())) < 1e-13);
    BOOST_TEST(distance(log_density(u, 0, row), log_density(v, 0, row)) < 1e-13);
  }
}

BOOST_AUTO_TEST_SUITE_END()
