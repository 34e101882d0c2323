// Products of columns with their parameters integrated out: conjugacy, evidence, predictive
// densities, opening and closing clusters.
//
// Each case was seen to fail on a broken copy of the headers; the breaks are named where they are
// caught.
#include "product_support.hpp"

using namespace products;

BOOST_AUTO_TEST_SUITE(product_clusters)

// Caught: c n / (c + n) without c, a count off by one in any posterior, log rate for log(1 + 1 /
// rate), a dropped constant of missing values.
BOOST_AUTO_TEST_CASE(the_evidence_is_the_sum_of_the_log_predictives) {
  for (const bool holes : {false, true}) {
    const ProductPosterior prior = some_prior(mixed);
    const Matrix x = some_rows(prior, 40, 11, holes);
    const double evidence = log_marginal_likelihood(statistics_of(prior, x), prior);
    ProductClusters c(prior);
    c.open();
    double chain = 0, before = 0;
    ProductPosterior running = prior;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const auto row = support::row(x, i);
      const double predictive = c.log_predictive(0, row.data());
      if (i == 0) BOOST_TEST(distance(predictive, c.log_prior_predictive(row.data())) < 1e-13);
      BOOST_TEST(distance(predictive,
                          ProductClusters(prior, running).log_predictive(0, row.data())) < 1e-12);
      c.add(0, row.data());
      BOOST_TEST(std::abs(c.log_marginal(0) - before - predictive) < 1e-10);
      before = c.log_marginal(0);
      chain += predictive;
      running = posterior(statistics_of(prior, x.row(i)), running);
    }
    BOOST_TEST(distance(chain, evidence) < 1e-10);
    BOOST_TEST(distance(before, evidence) < 1e-12);
    BOOST_TEST(c.count(0) == 40);
    const auto at_once = posterior(statistics_of(prior, x), prior);
    BOOST_TEST((c.posterior().values - at_once.values).cwiseAbs().maxCoeff() < 1e-10);
    BOOST_TEST((running.values - at_once.values).cwiseAbs().maxCoeff() < 1e-10);
    // Candidate's identity: log p(y) = log p(y | t) + log p(t) - log p(t | y), whatever t.
    Random random(12);
    for (int turn = 0; turn < 4; ++turn) {
      const ProductPoint at = draw(turn < 2 ? at_once : prior, random);
      BOOST_TEST(distance(log_likelihood(at, x) + log_prior(at, prior) - log_prior(at, at_once),
                          evidence) < 1e-10);
    }
    // q is the exact posterior, so KL(q || prior) = E_q[log p(y | t)] - log p(y).
    auto rows = support::rows_of(x);
    Control control;
    const double expected =
        local_step<SoftAllocation>(rows, control, make_scorer(at_once), {0.0}).sums.objective;
    BOOST_TEST(distance(divergence(at_once, prior), expected - evidence) < 1e-10);
    BOOST_TEST(divergence(prior, prior) == 0);
  }
}

// Caught: the curvature of log Z left out, its half, the difference of two large logarithms.
BOOST_AUTO_TEST_CASE(a_row_beside_a_heavy_posterior_keeps_its_digits) {
  const auto log_beta_of = [](long double a, long double b) {
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  };
  for (const auto &[name, known] : {std::pair<const char *, std::vector<double>>("geometric", {}),
                                    {"binomial", {9}},
                                    {"negative_binomial", {3}}})
    for (const double weight : {1.5e6, 1e8, 1e12}) {
      ColumnSpec spec{*likelihood_named(name)};
      spec.known = known;
      ProductPosterior q{std::make_shared<const Columns>(std::vector<ColumnSpec>{spec}),
                         Matrix(2, 1)};
      q.values << weight, 2.5 * weight;
      const Column &column = q.columns->column(0);
      for (const double x : {0.0, 1.0, 7.0}) {
        double s[4] = {};
        column.add(column.element(x), s);
        const long double a = weight, b = 2.5 * weight,
                          direct = log_beta_of(a + s[0], b + s[1]) - log_beta_of(a, b);
        // Beyond that the reference loses its digits, too.
        if (weight < 1e7)
          BOOST_TEST(
              std::abs(column.log_marginal_likelihood(s, q.column(0, 0)) - double(direct)) < 1e-10,
              name << " " << x);
        const double p = weight / (3.5 * weight),
                     limit = s[0] * std::log(p) + s[1] * std::log1p(-p);
        BOOST_TEST(std::abs(column.log_marginal_likelihood(s, q.column(0, 0)) - limit) <
                       200 / weight + 1e-13,
                   name << " " << x);
        BOOST_TEST(std::abs(ProductClusters(q, q).log_predictive(0, &x) - column.log_carrier(x) -
                            column.log_marginal_likelihood(s, q.column(0, 0))) < 1e-13);
      }
    }
}

// Caught: a scatter updated with one mean twice, x! that stays when its row goes, zeros left out of
// a normal column.
BOOST_AUTO_TEST_CASE(opening_closing_and_removing_restore_clusters) {
  for (const bool holes : {false, true}) {
    const ProductPosterior prior = some_prior(mixed);
    const int n = 200, k = 11;
    const Matrix x = some_rows(prior, n, 21, holes);
    std::vector<int> group;
    Random random(22);
    for (int i = 0; i < n; ++i) group.push_back(i < k ? i : int(random.below(k)));
    ProductClusters c = clusters_of(prior, x, group);
    const auto before = c.posterior();
    std::vector<double> marginals;
    for (int s = 0; s < k; ++s) marginals.push_back(c.log_marginal(s));
    std::vector<double> out(std::size_t(c.padded()) + simd::lanes);
    for (int i = 0; i <= n; ++i) {
      const auto row = i < n ? support::row(x, i) : std::vector<double>(mixed.size(), 0.0);
      c.log_predictive(row.data(), out.data());
      for (int s = 0; s < c.padded(); ++s) BOOST_TEST_REQUIRE(std::isfinite(out[std::size_t(s)]));
      for (int s = 0; s < k; ++s)
        BOOST_TEST(distance(out[std::size_t(s)], c.log_predictive(s, row.data())) < 1e-13);
    }
    for (int turn = 0; turn < 3; ++turn)
      for (int i = 0; i < n; ++i) {
        const auto row = support::row(x, i);
        const int g = group[std::size_t(i)], other = (g + 3) % k;
        c.save(g);
        BOOST_TEST(c.remove(g, row.data()));
        if (i % 2)
          c.restore(g);
        else {
          c.add(other, row.data());
          BOOST_TEST(c.remove(other, row.data()));
          c.add(g, row.data());
        }
      }
    BOOST_TEST((c.posterior().values - before.values).cwiseAbs().maxCoeff() < 1e-10);
    for (int s = 0; s < k; ++s)
      BOOST_TEST(distance(c.log_marginal(s), marginals[std::size_t(s)]) < 1e-11);
    const double last = c.log_marginal(k - 1);
    c.close(2);
    BOOST_TEST(c.size() == k - 1);
    BOOST_TEST(c.log_marginal(2) == last);
    BOOST_TEST(c.open() == k - 1);
    BOOST_TEST(c.log_predictive(k - 1, support::row(x, 0).data()) ==
               c.log_prior_predictive(support::row(x, 0).data()));
    ProductClusters copy = c;
    c.clear(0);
    BOOST_TEST(c.count(0) == 0);
    BOOST_TEST(copy.count(0) > 0);
  }
}

// Caught: a dropped remainder of Stirling's series.
BOOST_AUTO_TEST_CASE(counts_of_any_size_have_a_finite_predictive) {
  for (const double shape : {1e-3, 0.7, 9.99, 10.0, 250.0, 1e6, 1e12})
    for (const double x : {0.0, 1.0, 3.0, 8.0, 9.0, 16.0, 17.0, 40.0, 1000.0, 1e7}) {
      const ProductPosterior q{columns_of({{kind_of<Poisson>}}), Eigen::Vector2d(shape, 3.0)};
      const ProductClusters c(q, q);
      const long double s = shape, exact = std::lgamma(s + x) - std::lgamma(s) -
                                           std::lgamma(1.0L + x) + s * std::log(3.0L / 4) -
                                           x * std::log(4.0L);
      // of the reference itself
      const double tolerance =
          1e-13 + 1e-18 * double(std::abs(std::lgamma(s + x)) / std::max(1.0L, std::abs(exact)));
      BOOST_TEST(distance(c.log_predictive(0, &x), double(exact)) < tolerance);
      std::vector<double> out(simd::lanes);
      c.log_predictive(&x, out.data());
      BOOST_TEST(distance(out[0], double(exact)) < tolerance);
    }
  for (const double x : {0.0, 1.0, 20.0, 170.0, 171.0, 255.0, 256.0, 1e4, 1e9})
    BOOST_TEST(distance(log_factorial(x), double(std::lgamma((long double)x + 1))) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
