// Strangeness, surprise and similarity of rows: against chi-squared and F distributions,
// quadrature, the models' own probabilities, and enumeration of draws.
//
// Draws have fixed seeds; each statistical check has a false-alarm rate of 1e-5 over the choice of
// the seed, and an allowance for the draws that a probability is estimated from.
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>

#include "base/unseen.hpp"
#include "questions/anomaly.hpp"
#include "questions/make.hpp"
#include "questions_support.hpp"

using namespace bayes;
using namespace questions;

namespace {

/// Two equal components are as one, but not known to be.
std::unique_ptr<RowDistribution> normals(int copies, const Matrix &covariance) {
  const int d = int(covariance.rows());
  NormalPoint point{full_covariance, Matrix::Zero(d, copies),
                    std::vector<Matrix>(std::size_t(copies), covariance)};
  auto out = std::make_unique<RowDistribution>(
      RowColumns(), d, flat_components(std::vector<double>(std::size_t(copies), 1.0 / copies), 1));
  out->add(row_part(all_elements(d), point));
  return out;
}

Matrix some_covariance() {
  Matrix out(2, 2);
  out << 2, 0.8, 0.8, 1;
  return out;
}

double square_of(const std::vector<double> &x) {
  const Matrix c = some_covariance();
  const double determinant = c(0, 0) * c(1, 1) - c(0, 1) * c(0, 1);
  return (c(1, 1) * x[0] * x[0] - 2 * c(0, 1) * x[0] * x[1] + c(0, 0) * x[1] * x[1]) / determinant;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(anomaly)

BOOST_AUTO_TEST_CASE(of_one_normal_it_is_chi_squared) {
  const auto rows = normals(1, some_covariance());
  Anomalies anomalies(*rows);
  const boost::math::chi_squared two(2), one(1);
  for (const auto &x : std::vector<std::vector<double>>{{0, 0}, {1, -1}, {3, 2}, {20, 3}, {-9, 9}})
    BOOST_TEST(std::abs(anomalies.probability(x) / cdf(complement(two, square_of(x))) - 1) < 1e-9);
  BOOST_TEST(
      std::abs(anomalies.probability(std::vector<double>{hole, 2.5}) / cdf(complement(one, 6.25)) -
               1) < 1e-9);
  BOOST_TEST(anomalies.probability(std::vector<double>{hole, hole}) == 1);
}

BOOST_AUTO_TEST_CASE(of_one_student_it_is_an_f_distribution) {
  for (const char *shape : {"full", "tied", "spherical"}) {
    const Matrix x = support::normal_rows(20, 2, 3, 1);
    const auto model = support::fit(x, 1, {{"covariance", shape}});
    const auto rows = model->row_distribution();
    Anomalies anomalies(*rows);
    const auto q = model->posterior(0);
    const double nu = shape == std::string("spherical") ? q.a : q.a - 1,
                 factor = (q.c + 1) / (q.c * nu);
    for (Eigen::Index i = 0; i < 6; ++i) {
      const auto row = support::row(x, i);
      const double a = row[0] - q.m[0], b = row[1] - q.m[1],
                   determinant = q.B[0] * q.B[3] - q.B[1] * q.B[2],
                   square = (q.B[3] * a * a - 2 * q.B[1] * a * b + q.B[0] * b * b) / determinant;
      const boost::math::fisher_f f(2, nu);
      BOOST_TEST(
          std::abs(anomalies.probability(row) - cdf(complement(f, square / factor / 2))) < 1e-9,
          shape);
    }
  }
}

BOOST_AUTO_TEST_CASE(draws_agree_with_the_exact_probability) {
  const auto exact = normals(1, some_covariance()), drawn = normals(2, some_covariance());
  Anomalies one(*exact), two(*drawn);
  for (double r = 0; r < 3; r += 0.1) {
    const std::vector<double> x = {r, -r / 2};
    const double p = one.probability(x);
    BOOST_TEST(std::abs(two.probability(x) - p) < 4.5 * std::sqrt(p * (1 - p) / 1000) + 0.003);
  }
  // Beyond the draws: at most the bound, which is twice the probability for two equal components.
  for (double r = 5; r < 40; r += 5) {
    const std::vector<double> x = {r, -r / 2};
    const double p = one.probability(x), found = two.probability(x);
    BOOST_TEST((found >= p * (1 - 1e-9) && found < 1e-4));
  }
}

// The model's own rows are uniformly strange, whatever is observed of them.
BOOST_AUTO_TEST_CASE(rows_of_the_model_are_uniform) {
  for (Asked &asked : all_models()) {
    RowDistribution &rows = *asked.distribution;
    Anomalies anomalies(rows);
    constexpr int n = 600;
    std::vector<double> p;
    for (int i = 0; i < n; ++i) {
      std::vector<double> x = drawn_row(rows, 77, i);
      // a normal element, so that no two rows have the same density; others come and go
      x[0] = rows.categories(0).empty() ? x[0] : i % 2 ? hole : x[0];
      if (i % 3 == 0) x.back() = hole;
      p.push_back(anomalies.probability(x));
    }
    std::sort(p.begin(), p.end());
    double away = 0;
    for (int i = 0; i < n; ++i) away = std::max(away, std::abs(p[std::size_t(i)] - (i + 0.5) / n));
    // Kolmogorov and Smirnov's, and as much again for 1,000 draws
    BOOST_TEST(away < support::largest_gap * (1 / std::sqrt(double(n)) + 1 / std::sqrt(1000.0)),
               asked.name);
  }
}

BOOST_AUTO_TEST_CASE(strange_rows_are_strange) {
  for (Asked &asked : all_models()) {
    Anomalies anomalies(*asked.distribution);
    auto x = support::row(asked.rows, 0);
    const double usual = anomalies.probability(x);
    for (int j = 0; j < asked.distribution->dimension(); ++j)
      if (asked.distribution->categories(j).empty()) x[std::size_t(j)] = 1e4;
    BOOST_TEST(anomalies.probability(x) < std::min(usual, 2e-3), asked.name);
  }
}

BOOST_AUTO_TEST_CASE(surprise_is_that_of_the_density) {
  for (Asked &asked : all_models()) {
    RowDistribution &rows = *asked.distribution;
    for (Eigen::Index i = 0; i < 3; ++i) {
      auto x = support::row(asked.rows, i);
      if (i == 2) x[1] = hole;
      for (int j = 0; j < rows.dimension(); ++j) {
        const double value = x[std::size_t(j)];
        if (std::isnan(value)) continue;
        auto others = x;
        others[std::size_t(j)] = hole;
        const double evidence = own_log_density(asked, others);
        const Surprise of = surprise(rows, x, j, 0.9);
        BOOST_TEST(std::abs(of.nats - (evidence - own_log_density(asked, x))) < 1e-9, asked.name);
        rows.condition(others);
        BOOST_TEST(of.expected == value_given(rows, j));
        BOOST_TEST((of.tail >= 0 && of.tail <= 1));
        double tail = 0;
        for (const double v : rows.categories(j)) {
          others[std::size_t(j)] = v;
          const double p = own_log_density(asked, others) - evidence;
          if (p <= -of.nats + 1e-9) tail += std::exp(p);
        }
        if (!rows.categories(j).empty()) BOOST_TEST(std::abs(of.tail - tail) < 1e-9, asked.name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(tails_of_numbers_keep_their_digits) {
  const auto rows = normals(1, some_covariance());
  // x1 | x2 = 1 is normal with mean 0.8 and variance 1.36
  for (const double z : {-30.0, -2.0, 0.0, 3.0, 30.0}) {
    const std::vector<double> x = {0.8 + z * std::sqrt(1.36), 1};
    BOOST_TEST(std::abs(surprise(*rows, x, 0, 0.9).tail /
                            std::max(1e-300, std::erfc(std::abs(z) / std::sqrt(2.0))) -
                        1) < 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(similar_rows_share_components) {
  for (Asked &asked : all_models()) {
    RowDistribution &rows = *asked.distribution;
    for (Eigen::Index i = 0; i < 5; ++i) {
      const auto x = support::row(asked.rows, i), y = support::row(asked.rows, i + 7);
      const double found = similarity(rows, x, y);
      BOOST_TEST((found >= 0 && found <= 1));
      BOOST_TEST(std::abs(found - similarity(rows, y, x)) < 1e-12);
      if (rows.components().back().draw > 0 || asked.model->info.family == "dpmm") continue;
      // Without draws it is sum_k P(k | x) P(k | y).
      std::vector<double> p(std::size_t(asked.model->outcomes())), q = p;
      const bool labelled = has_class(asked);
      const auto features = [&](std::vector<double> row) {
        if (labelled) row.pop_back();
        return row;
      };
      asked.model->probabilities(features(x), p);
      asked.model->probabilities(features(y), q);
      double sum = 0;
      for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * q[k];
      if (!labelled) BOOST_TEST(std::abs(found - sum) < 1e-9, asked.name);
      if (labelled) BOOST_TEST(std::abs(found - double(x.back() == y.back())) < 1e-12);
    }
  }
}

// Two draws of two components each: both rows are explained by the second draw, of which they are
// in one component.
BOOST_AUTO_TEST_CASE(similarity_weights_draws) {
  NormalPoint point{full_covariance, Matrix(1, 4), std::vector<Matrix>(4, Matrix::Identity(1, 1))};
  point.mean << 0, 4, 100, 200;
  RowDistribution rows({}, 1, flat_components({0.5, 0.5, 0.5, 0.5}, 2));
  rows.add(row_part(all_elements(1), point));
  const std::vector<double> near_first = {100.5}, near_too = {99}, other = {199};
  BOOST_TEST(similarity(rows, near_first, near_too) > 1 - 1e-12);
  BOOST_TEST(similarity(rows, near_first, other) < 1e-12);
  // By hand: the draws have the evidence of both rows, each that of its components.
  const auto density = [](double x, double m) { return std::exp(-(x - m) * (x - m) / 2); };
  const double x = 2, y = 1, a = density(x, 0) * density(y, 0), b = density(x, 4) * density(y, 4),
               all = (density(x, 0) + density(x, 4)) * (density(y, 0) + density(y, 4));
  BOOST_TEST(std::abs(similarity(rows, std::vector<double>{x}, std::vector<double>{y}) -
                      (a + b) / all) < 1e-12);
  // Rows of NULLs: the prior probability of a common component.
  const std::vector<double> nothing = {hole};
  BOOST_TEST(std::abs(similarity(rows, nothing, nothing) - 0.5) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
