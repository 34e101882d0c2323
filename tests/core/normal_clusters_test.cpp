// Normal clusters with their parameters integrated out, and draws of the parameters: evidence,
// predictive densities, adding and removing rows.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include "questions/make.hpp"
#include "sampler_support.hpp"

using namespace samplers;

namespace {

template <class F> void for_each_prior(F f) {
  f(full_covariance, "full");
  f(diagonal_covariance, "diagonal");
  f(spherical_covariance, "spherical");
}

/// The largest relative difference of any parameter.
double distance_of(const NormalWishart &a, const NormalWishart &b) {
  if (a.B.size() != b.B.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  const auto take = [&](const auto &p, const auto &q) {
    most = support::larger(most, support::largest_of(p - q) / support::largest_of(q));
  };
  take(a.m, b.m), take(a.c, b.c), take(a.a, b.a);
  for (std::size_t s = 0; s < a.B.size(); ++s) take(a.B[s], b.B[s]);
  return most;
}

/// As the flat mixture computes it.
double log_predictive_of(const NormalWishart &q, const std::vector<double> &x) {
  Buffer out(8, 0.0);
  row_part(all_elements(q.dimension()), q)->condition(x.data(), false, out.data());
  return out[0];
}

NormalStatistics statistics_under(const NormalWishart &prior, const Matrix &x) {
  auto rows = support::rows_of(x);
  const Labels one(std::size_t(x.rows()), 0);
  Control control;
  return statistics_of_labels(rows, prior, one.data(), 1, control);
}

/// The Student t of 002 L10 eq. 22, dense shape, from its definition.
long double log_student(const Vector &x, const Vector &m, double c, double a, const Matrix &B) {
  const long double d = x.size();
  const Eigen::LLT<Matrix> factor(B);
  long double log_determinant = 0;
  for (Eigen::Index i = 0; i < B.rows(); ++i)
    log_determinant += 2 * std::log((long double)factor.matrixL()(i, i));
  const long double quadratic = (x - m).dot(factor.solve(x - m));
  return -d / 2 * (std::log(3.14159265358979323846264L) + std::log((c + 1) / (long double)c)) -
         log_determinant / 2 - (a + 1) / 2 * std::log1p(c / (c + 1) * quadratic) +
         std::lgamma((a + 1.0L) / 2) - std::lgamma((a + 1 - d) / 2);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(normal_clusters)

BOOST_AUTO_TEST_CASE(the_evidence_is_the_sum_of_the_log_predictives) {
  for_each_prior([](const CovarianceShape &shape, const char *name) {
    for (const int d : {1, 2, 3, 5, 12}) {
      const auto prior = normal_prior(shape, d);
      const Matrix x = support::normal_rows(40, d, 7);
      NormalClusters clusters(prior);
      clusters.open();
      double chain = 0;
      for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const auto row = support::row(x, i);
        const double predictive = clusters.log_predictive(0, row.data());
        if (i == 0) BOOST_TEST(predictive == clusters.log_prior_predictive(row.data()));
        BOOST_TEST(distance(predictive, log_predictive_of(clusters.posterior(), row)) < 1e-11,
                   name);
        clusters.add(0, row.data());
        chain += predictive;
        const auto statistics = statistics_under(prior, x.topRows(i + 1));
        const double evidence = log_marginal_likelihood(statistics, prior);
        BOOST_TEST(distance(chain, evidence) < 1e-10, name << " d " << d);
        BOOST_TEST(distance(clusters.log_marginal(0), evidence) < 1e-10, name << " d " << d);
        BOOST_TEST(distance_of(clusters.posterior(), posterior(statistics, prior)) < 1e-10);
        BOOST_TEST(clusters.count(0) == i + 1.0);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(predictive_densities_integrate_to_one) {
  for_each_prior([](const CovarianceShape &shape, const char *name) {
    for (const int n : {0, 1, 4}) {
      // One dimension, and two: the trapezoidal rule over x = sinh(u), times 100 where tails are
      // long.
      for (const int d : {1, 2}) {
        const auto prior = normal_prior(shape, d);
        NormalClusters clusters(prior);
        clusters.open();
        const Matrix x = doubtful_rows(n, d, 5);
        for (int i = 0; i < n; ++i) clusters.add(0, support::row(x, i).data());
        const double step = d == 1 ? 0.01 : 0.1, end = d == 1 ? 24 : 14;
        double integral = 0;
        for (double u = -end; u <= end; u += step)
          for (double v = d == 1 ? 0 : -end; v <= (d == 1 ? 0 : end); v += step) {
            const double at[] = {std::sinh(u), std::sinh(v)};
            integral += step * std::cosh(u) * (d == 1 ? 1 : step * std::cosh(v)) *
                        std::exp(clusters.log_predictive(0, at));
          }
        BOOST_TEST(std::abs(integral - 1) < (d == 1 ? 1e-9 : 1e-5),
                   name << " d " << d << " n " << n << ": " << integral - 1);
      }
    }
  });
}

// 000 and 002 L10 eq. 20 print s / (a s + 1) for the factor c s / (c + s) of (mean - m)(mean - m)'.
// By the chain rule the marginal, eq. 22, of two rows must not depend on which comes first, and
// must be their evidence.
BOOST_AUTO_TEST_CASE(the_posterior_of_one_row_reproduces_the_marginal) {
  const auto prior = normal_prior(full_covariance, 2);
  const Vector m = prior.m.col(0);
  const double c = prior.c(0), a = prior.a(0);
  const Matrix x = doubtful_rows(2, 2, 3);
  const auto chain = [&](int first, int second, double factor) {
    const Vector y = x.row(first), z = x.row(second);
    const Vector after = (c * m + y) / (c + 1);
    return double(
        log_student(y, m, c, a, prior.B[0]) +
        log_student(z, after, c + 1, a + 1, prior.B[0] + factor * (y - m) * (y - m).transpose()));
  };
  const double evidence = log_marginal_likelihood(statistics_under(prior, x), prior),
               right = c / (c + 1), printed = 1 / (a + 1);
  for (const int first : {0, 1}) {
    BOOST_TEST(distance(chain(first, 1 - first, right), evidence) < 1e-12);
    BOOST_TEST(std::abs(chain(first, 1 - first, printed) - evidence) > 0.01);
    NormalClusters clusters(prior);
    clusters.open();
    const auto y = support::row(x, first), z = support::row(x, 1 - first);
    double sum = clusters.log_predictive(0, y.data());
    clusters.add(0, y.data());
    sum += clusters.log_predictive(0, z.data());
    BOOST_TEST(distance(sum, evidence) < 1e-12);
  }
  BOOST_TEST(std::abs(chain(0, 1, printed) - chain(1, 0, printed)) > 0.01);
}

BOOST_AUTO_TEST_CASE(opening_closing_and_removing_restore_clusters) {
  for_each_prior([](const CovarianceShape &shape, const char *name) {
    const int d = 3, k = 2 * simd::lanes + 3, n = 6 * k;
    const auto prior = normal_prior(shape, d);
    const Matrix x = support::normal_rows(n, d, 9);
    NormalClusters clusters(prior);
    for (int j = 0; j < k; ++j) BOOST_TEST(clusters.open() == j);
    for (int i = 0; i < n; ++i) clusters.add(i % k, support::row(x, i).data());
    const auto before = clusters.posterior();
    // All clusters at once or one of them: the same numbers.
    Buffer all(std::size_t(clusters.padded()));
    for (int i = 0; i < n; ++i) {
      clusters.log_predictive(support::row(x, i).data(), all.data());
      for (int j = 0; j < k; ++j)
        BOOST_TEST(all[std::size_t(j)] == clusters.log_predictive(j, support::row(x, i).data()));
    }
    // save and restore bring back every bit, remove and add nearly.
    for (int i = 0; i < n; ++i) {
      const auto row = support::row(x, i);
      const double marginal = clusters.log_marginal(i % k);
      clusters.save(i % k);
      BOOST_TEST(clusters.remove(i % k, row.data()));
      BOOST_TEST(clusters.count(i % k) == 5);
      clusters.add((i + 1) % k, row.data());
      BOOST_TEST(clusters.remove((i + 1) % k, row.data()));
      clusters.restore(i % k);
      BOOST_TEST(clusters.log_marginal(i % k) == marginal);
    }
    BOOST_TEST(distance_of(clusters.posterior(), before) < 1e-12, name);
    // The last cluster moves to a closed one's slot; a new one is empty.
    const double last = clusters.log_marginal(k - 1), first = clusters.log_marginal(0);
    clusters.close(1);
    BOOST_TEST(clusters.size() == k - 1);
    BOOST_TEST(clusters.log_marginal(1) == last);
    BOOST_TEST(clusters.log_marginal(0) == first);
    BOOST_TEST(clusters.open() == k - 1);
    BOOST_TEST(clusters.count(k - 1) == 0);
    BOOST_TEST(std::abs(clusters.log_marginal(k - 1)) < 1e-12);
    const auto row = support::row(x, 0);
    BOOST_TEST(clusters.log_predictive(k - 1, row.data()) ==
               clusters.log_prior_predictive(row.data()));
    BOOST_TEST(clusters.size() == k);
    clusters.clear(0);
    BOOST_TEST(clusters.log_predictive(0, row.data()) == clusters.log_prior_predictive(row.data()));
    while (clusters.size()) clusters.close(0);
    BOOST_TEST(clusters.padded() == 0);
    BOOST_TEST(std::isfinite(clusters.log_prior_predictive(row.data())));
  });
}

BOOST_AUTO_TEST_CASE(rounding_errors_of_many_updates_stay_small) {
  for_each_prior([](const CovarianceShape &shape, const char *name) {
    for (const double away : {0.0, 1e4}) {
      const int d = 3, n = 200;
      auto prior = normal_prior(shape, d);
      const Matrix x = (support::normal_rows(n, d, 13).array() + away).matrix();
      NormalClusters clusters(prior);
      clusters.open(), clusters.open();
      Labels label(std::size_t(n), 0);
      Random random(14);
      for (int i = 0; i < n; ++i)
        clusters.add(label[std::size_t(i)] = int(random.below(2)), support::row(x, i).data());
      for (int t = 0; t < effort(20000); ++t) {
        const int i = int(random.below(std::uint64_t(n)));
        int &from = label[std::size_t(i)];
        if (clusters.count(from) < 1.5) continue;
        BOOST_TEST_REQUIRE(clusters.remove(from, support::row(x, i).data()));
        clusters.add(from = int(random.below(2)), support::row(x, i).data());
      }
      NormalClusters fresh(prior);
      fresh.open(), fresh.open();
      for (int i = 0; i < n; ++i) fresh.add(label[std::size_t(i)], support::row(x, i).data());
      BOOST_TEST(
          distance_of(clusters.posterior(), fresh.posterior()) < 1e-9,
          name << ' ' << away << ": " << distance_of(clusters.posterior(), fresh.posterior()));
      for (int k = 0; k < 2; ++k)
        BOOST_TEST(distance(clusters.log_marginal(k), fresh.log_marginal(k)) < 1e-9);
    }
    // The scale is lost in that of an enormous row: removing this row reports it.
    NormalClusters clusters(normal_prior(shape, 1));
    clusters.open();
    const double near = 1, far = 1e12;
    clusters.add(0, &near);
    clusters.add(0, &far);
    BOOST_TEST(!clusters.remove(0, &far), name);
    clusters.clear(0);
    clusters.add(0, &near);
    clusters.add(0, &near);
    BOOST_TEST(clusters.remove(0, &near));
    BOOST_TEST(distance_of(clusters.posterior(),
                           posterior(statistics_under(normal_prior(shape, 1), Matrix::Ones(1, 1)),
                                     normal_prior(shape, 1))) < 1e-12);
    // Rows so far away that squared distances overflow have a finite density.
    const double farthest = 1e200;
    BOOST_TEST(std::isfinite(clusters.log_predictive(0, &farthest)));
    BOOST_TEST(clusters.log_predictive(0, &farthest) < clusters.log_predictive(0, &far));
  });
}

BOOST_AUTO_TEST_CASE(components_are_picked_and_joined) {
  for_each_prior([](const CovarianceShape &shape, const char *) {
    const auto prior = normal_prior(shape, 2);
    NormalClusters clusters(prior);
    const Matrix x = support::normal_rows(9, 2, 17);
    for (int k = 0; k < 3; ++k) {
      clusters.open();
      for (int i = 0; i <= k; ++i) clusters.add(k, support::row(x, 3 * k + i).data());
    }
    const auto q = clusters.posterior(), both = joined(pick(q, {2, 0}), pick(q, {1, 1, 2}));
    BOOST_TEST(both.components() == 5);
    const int order[] = {2, 0, 1, 1, 2};
    for (int k = 0; k < 5; ++k) {
      BOOST_TEST(both.c(k) == q.c(order[k]));
      BOOST_TEST((both.m.col(k) == q.m.col(order[k])));
      BOOST_TEST(both.a(k) == q.a(order[k]));
      BOOST_TEST((both.B[std::size_t(k)] == q.B[std::size_t(order[k])]));
      for (int i = 0; i < 9; ++i)
        BOOST_TEST(distance(log_predictive_of(pick(both, {k}), support::row(x, i)),
                            clusters.log_predictive(order[k], support::row(x, i).data())) < 1e-12);
    }
    const auto copies = replicate(q, 3);
    for (int k = 0; k < 3; ++k) BOOST_TEST((copies.m.col(k) == q.m.col(0)));
    BOOST_TEST(replicate(prior, 0).components() == 0);
    BOOST_TEST(joined(replicate(prior, 0), q).components() == 3);
  });
  const auto tied = normal_prior(tied_covariance, 2);
  BOOST_TEST(replicate(tied, 4).B.size() == 1u);
  BOOST_TEST(joined(replicate(tied, 2), tied).components() == 3);
  BOOST_TEST(joined(replicate(tied, 2), tied).B.size() == 1u);
}

// E Lambda = a B^-1, its variance a (V_ij^2 + V_ii V_jj), V = B^-1; E log |Lambda|; mu about m with
// c Lambda: c (mu - m)' Lambda (mu - m) is chi-square.
BOOST_AUTO_TEST_CASE(parameters_are_drawn_from_their_distribution) {
  const auto check = [](const CovarianceShape &shape, const char *name) {
    const int d = 3, draws = effort(20000);
    const auto prior = replicate(normal_prior(shape, d), 2);
    Matrix B = Matrix::Zero(d, d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j)
        B(i, j) = shape.dense ? prior.B[0](i, j)
                  : i == j    ? prior.B[0](shape.isotropic ? 0 : i, 0)
                              : 0;
    const Matrix V = B.inverse();
    const double a = prior.a(0), c = prior.c(0);
    std::vector<std::string> names;
    std::vector<double> exact;
    std::vector<std::vector<double>> means;
    Random random(19);
    for (int t = 0; t < draws; ++t) {
      const NormalPoint point = draw(prior, random);
      std::size_t q = 0;
      const auto note = [&](const char *what, double value, double expected) {
        if (t == 0) names.push_back(what), exact.push_back(expected), means.emplace_back(batches);
        means[q++][std::size_t(t / (draws / batches))] += value / (draws / batches);
      };
      for (int k = 0; k < 2; ++k) {
        const Matrix &given = point.covariance[std::size_t(shape.index(k))];
        Matrix covariance = Matrix::Zero(d, d);
        for (int i = 0; i < d; ++i)
          for (int j = 0; j < d; ++j)
            covariance(i, j) = shape.dense ? given(i, j)
                               : i == j    ? given(shape.isotropic ? 0 : i, 0)
                                           : 0;
        const Matrix precision = covariance.inverse();
        for (int i = 0; i < d; ++i)
          for (int j = 0; j <= i; ++j) {
            const double expected = a * V(i, j),
                         variance = a * (V(i, j) * V(i, j) + V(i, i) * V(j, j));
            note("precision", precision(i, j), expected);
            if (shape.dense || i == j)
              note("its square", precision(i, j) * precision(i, j), expected * expected + variance);
          }
        FactoredScale factored;
        BOOST_TEST_REQUIRE(factor(shape, prior.B[0], d, factored));
        note("log determinant", std::log(precision.determinant()),
             expected_log_determinant(shape, a, factored, d));
        const Vector away = point.mean.col(k) - prior.m.col(k);
        const double square = c * away.dot(precision * away);
        note("square of the mean", square, d);
        note("its square", square * square, d * (d + 2));
        note("precision and mean", precision(0, 0) * square, a * V(0, 0) * d);
        for (int j = 0; j < d; ++j) note("mean", std::tanh(away(j)), 0);
        note("means together", std::tanh(away(0)) * square, 0);
      }
      // Components share the precision in the tied shape only.
      const Vector first = point.mean.col(0) - prior.m.col(0),
                   second = point.mean.col(1) - prior.m.col(1);
      note("two means", std::tanh(first(0)) * std::tanh(second(0)), 0);
    }
    for (std::size_t q = 0; q < names.size(); ++q)
      BOOST_TEST(std::abs(z_score(means[q], exact[q])) < largest_z,
                 name << ' ' << names[q] << ' ' << z_score(means[q], exact[q]));
  };
  for_each_prior(check);
  check(tied_covariance, "tied");
}

BOOST_AUTO_TEST_SUITE_END()
