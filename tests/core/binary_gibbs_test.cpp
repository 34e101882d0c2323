// The Gibbs samplers of logistic and probit regression: against quadrature, by simulation-based
// calibration, and against Laplace's approximation as the number of rows grows. And the coverage of
// intervals.
#include <numeric>

#include "base/special.hpp"
#include "binary_support.hpp"
#include "regression/link_moments.hpp"

using namespace bayes;
using binary::coefficients;
using binary::fit;
using binary::Real;

namespace {

Document chains_of(int chains, int draws, std::uint64_t seed = 1) {
  return Document::object()
      .set("method", "gibbs")
      .set("chains", chains)
      .set("draws", draws)
      .set("seed", std::int64_t(seed));
}

/// Of the draws of a quantity: mean, and the standard error of the mean from means of batches.
struct Estimate {
  double mean, error;
};
Estimate estimate(const Draws &draws, std::size_t quantity,
                  const std::function<double(double)> &f) {
  const std::size_t width = draws.quantities.size(), n = draws.values.size() / width,
                    batch = n / 40;
  std::vector<double> means;
  for (std::size_t b = 0; b < 40; ++b) {
    double sum = 0;
    for (std::size_t i = b * batch; i < (b + 1) * batch; ++i)
      sum += f(draws.values[i * width + quantity]);
    means.push_back(sum / double(batch));
  }
  double mean = 0, squares = 0;
  for (const double m : means) mean += m / 40;
  for (const double m : means) squares += (m - mean) * (m - mean);
  return {mean, std::sqrt(squares / 39 / 40)};
}

/// A prior of this variance.
Document of_variance(Link link, double variance) {
  return link == Link::logit ? Document::object().set("c", variance)
                             : Document::object().set("lambda", 1 / variance);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binary_gibbs)

void check_moments(Link link) {
  // Two coefficients, so that the posterior is a sum. Batches of 100 and more draws that are nearly
  // independent; 6.5 standard errors of 40 means (Student t: 1e-7 for each of eight).
  for (const bool intercept : {true, false}) {
    const auto rows = ::binary::synthetic(25, intercept ? 1 : 2, 77, false, 2);
    const Vector centre = ::binary::means(rows), variance = Vector::Constant(2, 1.5);
    const Document asked =
        chains_of(2, support::effort(32000))
            .set("intercept", intercept)
            .set("prior", intercept ? ::binary::prior(link, 1.5) : of_variance(link, 1.5));
    const auto model = fit(link, rows, asked);
    const auto density = [&](const Vector &w) {
      return ::binary::log_joint(rows, link, intercept, centre, variance, w);
    };
    const Vector at = Vector::Zero(2), sd = Vector::Constant(2, 0.5);
    const Real peak = density(at);
    Real mass = 0;
    std::vector<Real> means(2), squares(2);
    ::binary::integral(at, sd, [&](const Vector &w) {
      const Real p = std::exp(density(w) - peak);
      mass += p;
      // what the model reports: the intercept where the column is 0
      const double own[2] = {intercept ? w(0) - w(1) * centre(0) : w(0), w(1)};
      for (std::size_t j = 0; j < 2; ++j) {
        means[j] += p * own[j];
        squares[j] += p * own[j] * own[j];
      }
      return p;
    });
    for (std::size_t j = 0; j < 2; ++j) {
      const Estimate mean = estimate(model->draws, 2 + j, [](double x) { return x; }),
                     square = estimate(model->draws, 2 + j, [](double x) { return x * x; });
      BOOST_TEST(std::fabs(mean.mean - double(means[j] / mass)) <= 6.5 * mean.error);
      BOOST_TEST(std::fabs(square.mean - double(squares[j] / mass)) <= 6.5 * square.error);
      const auto row = coefficients(*model)[j];
      BOOST_TEST(std::fabs(row.mean - double(means[j] / mass)) <= 6.5 * mean.error);
      BOOST_TEST(row.sd == std::sqrt(double(squares[j] / mass - means[j] * means[j] / mass / mass)),
                 boost::test_tools::tolerance(0.1));
      BOOST_TEST((row.lower < row.mean && row.mean < row.upper));
    }
    BOOST_TEST(model->info.converged);
  }
}

BOOST_AUTO_TEST_CASE(draws_have_the_moments_of_the_posterior) {
  check_moments(Link::probit);
  check_moments(Link::logit);
}

BOOST_AUTO_TEST_CASE(polya_gamma_numbers_have_their_moments) {
  // Polson, Scott and Windle (2013): means of 1, x and x^2 of PG(1, z), the last from the variance.
  // 6.5 standard errors for each of 18.
  const int n = support::effort(400000);
  for (const double z : {0.0, 0.1, 1.0, -2.5, 6.0, 40.0}) {
    Random random(5, std::uint64_t(std::int64_t(10 * z) + 1000));
    double sum = 0, squares = 0, fourth = 0;
    const double mean = z == 0 ? 0.25 : std::tanh(z / 2) / (2 * z), cosh = std::cosh(z / 2),
                 variance = z == 0 ? 1.0 / 24 : (std::sinh(z) - z) / (4 * z * z * z * cosh * cosh);
    for (int i = 0; i < n; ++i) {
      const double x = polya_gamma(z, random), off = x - mean;
      BOOST_REQUIRE(x > 0);
      sum += off;
      squares += off * off;
      fourth += off * off * off * off;
    }
    BOOST_TEST(std::fabs(sum / n) <= 6.5 * std::sqrt(variance / n));
    BOOST_TEST(std::fabs(squares / n - variance) <=
               6.5 * std::sqrt((fourth / n - variance * variance) / n));
  }
  // The Laplace transform at 1: cosh(z / 2) / cosh(sqrt(z^2 / 4 + 1 / 2)).
  for (const double z : {0.5, 3.0}) {
    Random random(6, std::uint64_t(10 * z));
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(-polya_gamma(z, random));
    BOOST_TEST(std::fabs(sum / n - std::cosh(z / 2) / std::cosh(std::sqrt(z * z / 4 + 0.5))) <=
               6.5 * 0.2 / std::sqrt(double(n)));
  }
  // Far out, where masses of the proposals over- and underflow.
  Random random(7);
  for (const double z : {1e3, 1e6, 1e10})
    for (int i = 0; i < 1000; ++i)
      BOOST_REQUIRE_CLOSE(polya_gamma(z, random) * 2 * z, 1, 100 * 7 * std::sqrt(2 / z));
}

BOOST_AUTO_TEST_CASE(separated_rows_have_a_proper_posterior) {
  // y is the sign of x: the likelihood has no maximum, the posterior mean is finite, and far from
  // the mode. By quadrature; 7 standard errors of the recorded draws.
  binary::Rows rows{{}, Matrix(6, 1), {}};
  for (int i = 0; i < 6; ++i) {
    rows.x(i, 0) = i - 2.5;
    rows.y.push_back(i > 2);
  }
  const auto model = fit(Link::logit, rows,
                         chains_of(2, support::effort(32000))
                             .set("intercept", false)
                             .set("prior", Document::object().set("c", 6.25)));
  double mass = 0, first = 0, second = 0;
  for (double w = -15; w < 30; w += 0.01) {
    double log_density = -w * w / 12.5;
    for (int i = 0; i < 6; ++i) log_density -= std::log1p(std::exp(-w * std::fabs(rows.x(i, 0))));
    mass += std::exp(log_density);
    first += w * std::exp(log_density);
    second += w * w * std::exp(log_density);
  }
  const auto row = coefficients(*model)[0];
  const Estimate drawn = estimate(model->draws, 2, [](double x) { return x; });
  const double mean = first / mass, sd = std::sqrt(second / mass - mean * mean);
  BOOST_TEST(std::fabs(drawn.mean - mean) <= 7 * drawn.error);
  BOOST_TEST(std::fabs(row.mean - mean) <= 7 * drawn.error);
  BOOST_TEST(row.sd == sd, boost::test_tools::tolerance(0.1));
  BOOST_TEST(row.mean >
             1.2 * coefficients(*fit(Link::logit, rows,
                                     Document::object()
                                         .set("intercept", false)
                                         .set("prior", Document::object().set("c", 6.25))))[0]
                       .mean);
}

void check_ranks(Link link) {
  // Simulation-based calibration (Talts and others 2018): coefficients from the prior, rows from
  // them; the truth's rank among draws is uniform. Chi-squared over 8 bins, alarm at 1e-6.
  const int rounds = support::effort(800);
  std::vector<std::vector<int>> counts(3, std::vector<int>(8));
  for (int round = 0; round < rounds; ++round) {
    Random random(31, std::uint64_t(round));
    binary::Rows rows{{}, Matrix(20, 3), {}};
    Vector w(3);
    for (int j = 0; j < 3; ++j) w(j) = random.normal();
    for (int i = 0; i < 20; ++i) {
      double predictor = 0;
      for (int j = 0; j < 3; ++j) {
        rows.x(i, j) = random.normal();
        predictor += rows.x(i, j) * w(j);
      }
      rows.y.push_back(random.uniform() < probability_at(link, predictor));
    }
    const Document asked = chains_of(1, 64 * 7 + 100, std::uint64_t(round) + 1)
                               .set("warmup", 100)
                               .set("thin", 7)
                               .set("intercept", false)
                               .set("prior", of_variance(link, 1));
    const auto model = fit(link, rows, asked);
    const std::size_t width = model->draws.quantities.size();
    for (std::size_t j = 0; j < 3; ++j) {
      int below = 0;
      for (std::size_t i = 0; i < 63; ++i)
        below += model->draws.values[i * width + 2 + j] < w(Eigen::Index(j));
      ++counts[j][std::size_t(below / 8)];
    }
  }
  for (const std::vector<int> &bins : counts) {
    double statistic = 0;
    for (const int count : bins)
      statistic += (count - rounds / 8.0) * (count - rounds / 8.0) / (rounds / 8.0);
    BOOST_TEST(chi_square_tail(statistic, 7) > 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(ranks_of_the_truth_are_uniform, *boost::unit_test::label("long")) {
  check_ranks(Link::probit);
  check_ranks(Link::logit);
}

BOOST_AUTO_TEST_CASE(methods_agree_as_rows_grow_but_for_the_deviations_of_vi) {
  const auto rows = ::binary::synthetic(4000, 2, 9);
  const auto laplace = coefficients(*fit(Link::probit, rows)),
             vi = coefficients(*fit(Link::probit, rows, ::binary::options("method", "vi"))),
             gibbs = coefficients(*fit(Link::probit, rows, chains_of(2, 1000)));
  for (std::size_t j = 0; j < 3; ++j) {
    BOOST_TEST(std::fabs(gibbs[j].mean - laplace[j].mean) <= 0.3 * laplace[j].sd);
    BOOST_TEST(gibbs[j].sd == laplace[j].sd, boost::test_tools::tolerance(0.15));
    BOOST_TEST(gibbs[j].upper - gibbs[j].lower == laplace[j].upper - laplace[j].lower,
               boost::test_tools::tolerance(0.2));
    BOOST_TEST(vi[j].sd < 0.85 * laplace[j].sd);
  }
}

BOOST_AUTO_TEST_CASE(intervals_hold_the_truth_as_often_as_they_say,
                     *boost::unit_test::label("long")) {
  // Coefficients from the prior, so that intervals of any prior hold them as often as they say.
  // Within 2 points and four standard errors of the count.
  const int rounds = support::effort(1600);
  for (const double level : {0.5, 0.9}) {
    int inside = 0, predicted = 0;
    for (int round = 0; round < rounds; ++round) {
      Random random(77, std::uint64_t(round), level > 0.7);
      binary::Rows rows{{}, Matrix(150, 2), {}};
      const double w[2] = {random.normal(), random.normal()};
      for (int i = 0; i < 150; ++i) {
        rows.x.row(i) << random.normal(), random.normal();
        const double a = w[0] * rows.x(i, 0) + w[1] * rows.x(i, 1);
        rows.y.push_back(random.uniform() < probability_at(Link::logit, a));
      }
      const Document asked =
          ::binary::options("intercept", false).set("prior", Document::object().set("c", 1));
      const auto model = fit(Link::logit, rows, asked);
      for (std::size_t j = 0; j < 2; ++j) {
        const auto row = coefficients(*model, level)[j];
        inside += row.lower < w[j] && w[j] < row.upper;
      }
      const auto p = model->predict(std::vector{1.0, -0.5}, level);
      const double truth = probability_at(Link::logit, w[0] - 0.5 * w[1]);
      predicted += p->lower < truth && truth < p->upper;
    }
    const double error = std::sqrt(level * (1 - level) / rounds);
    BOOST_TEST(std::fabs(inside / (2.0 * rounds) - level) <= 0.02 + 4 * error);
    BOOST_TEST(std::fabs(predicted / double(rounds) - level) <= 0.02 + 4 * error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
