// Standard distributions: densities and probabilities against references of 30 digits
// (references/distributions.py), quantiles against probabilities, draws against both.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "distributions/standard.hpp"
#include "distributions/vector_draws.hpp"
#include "support.hpp"

namespace {

using namespace bayes;

template <class D> struct Reference {
  typename D::Value x;
  D distribution;
  long double log_density, below;
};

#include "references/distributions.inc"

constexpr double inf = std::numeric_limits<double>::infinity();

/// Relative to the value, and, of a logarithm, to 1.
template <class D, std::size_t N> void check_references(const Reference<D> (&references)[N]) {
  for (const auto &[x, d, log_density, below] : references) {
    BOOST_TEST_CONTEXT("at " << x) {
      const long double scale = std::max(1.0L, std::fabs(log_density));
      BOOST_TEST(double(std::fabs(d.log_density(x) - log_density) / scale) < 3e-15);
      BOOST_TEST(double(std::fabs(d.below(x) - below) / below) < 3e-12);
      // The quantile of its probability is x, where a probability tells x from its neighbours.
      const double p = d.below(x);
      if (!(p > 0 && p < 0.999)) continue;
      if constexpr (std::is_same_v<typename D::Value, double>) {
        // to 9 digits of p
        const double apart = 1e-9 * p / std::exp(d.log_density(x));
        if (apart < 1e-7 * std::fabs(x))
          BOOST_TEST(std::fabs(d.quantile(p) - x) <= apart + 4e-16 * std::fabs(x));
      } else {
        BOOST_TEST(d.quantile(p) == x);
        BOOST_TEST(d.quantile(p * (1 + 1e-9)) == x + 1);
        BOOST_TEST(d.quantile(p * (1 - 1e-9)) == x);
      }
    }
  }
}

/// Draws fall evenly among the probabilities below: Kolmogorov's statistic, whose square root of n
/// multiple exceeds 2.65 with probability 2 exp(-2 2.65^2) = 1.6e-6.
template <class D> void check_draws(const D &d) {
  const int n = 4000;
  Random random(11);
  std::vector<double> below;
  for (int i = 0; i < n; ++i) {
    const auto x = d.draw(random);
    if constexpr (std::is_same_v<typename D::Value, double>) {
      below.push_back(d.below(x));
    } else {
      // anywhere within the jump at x
      const double before = d.below(x - 1);
      below.push_back(before + (d.below(x) - before) * random.uniform());
    }
  }
  std::sort(below.begin(), below.end());
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(
        {worst, (i + 1.0) / n - below[std::size_t(i)], below[std::size_t(i)] - double(i) / n});
  BOOST_TEST(worst * std::sqrt(n) < 2.65);
}

/// The mean of draws is within 5 of its standard errors: with probability 6e-7 it is not. Quantiles
/// invert the function by which check_draws judges; this knows nothing of it.
template <class D> void check_mean_of_draws(const D &d, double mean, double sd) {
  const int n = 4000;
  Random random(12);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(d.draw(random)) - mean;
  BOOST_TEST(std::fabs(sum / n) < 5 * sd / std::sqrt(n));
}

template <class F> bool refused(F f, Errc code = Errc::invalid_argument) {
  try {
    f();
  } catch (const Error &error) {
    return error.code() == code;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distributions)

BOOST_AUTO_TEST_CASE(references_of_thirty_digits) {
  check_references(normal_references);
  check_references(student_references);
  check_references(beta_references);
  check_references(gamma_references);
  check_references(inversegamma_references);
  check_references(binomial_references);
  check_references(poisson_references);
  // a tail whose squares overflow: of a Cauchy variable 1 / (pi |t|)
  const StudentDistribution cauchy(1), flat(0.01);
  BOOST_TEST(std::fabs(cauchy.below(-1e160) * 1e160 * M_PI - 1) < 1e-13);
  BOOST_TEST(std::fabs(flat.below(-1e200) + flat.below(1e200) - 1) < 1e-14);
  BOOST_TEST(std::fabs(flat.below(-1e140) / flat.below(-1e200) * std::pow(1e-60, 0.01) - 1) < 1e-9);
}

// Of large shapes, and far out in the tails of Student's distribution.
BOOST_AUTO_TEST_CASE(quantiles_have_their_probabilities) {
  const auto check = [](const auto &distribution, double p) {
    BOOST_TEST(std::fabs(distribution.below(distribution.quantile(p)) / p - 1) < 5e-11);
  };
  for (const double p : {1e-100, 1e-30, 1e-10, 0.01, 0.5, 0.9}) {
    for (const double shape : {30001.0, 1e6, 1e9}) {
      if (p > 1e-31) check(GammaDistribution(shape), p);
      if (p > 1e-31) check(BetaDistribution(shape, 2.5 * shape), p);
    }
    for (const double degrees : {0.5, 1.0, 2.5, 3.0, 10.0, 300.0})
      check(StudentDistribution(degrees), p);
  }
  for (const double degrees : {3.0, 5.0, 10.0}) check(StudentDistribution(degrees), 1e-300);
  check(StudentDistribution(0.3), 1e-50);
}

// Numbers at which Boost.Math aborts, loops for ever, or answers as its version has it; and those
// whose sums, products or quotients are beyond doubles though the answer is not.
BOOST_AUTO_TEST_CASE(extreme_parameters_have_answers) {
  const double least = std::numeric_limits<double>::denorm_min(), huge = 1e308;
  BOOST_TEST(BetaDistribution(least, 0.5).quantile(0.5) == 0);
  BOOST_TEST(BetaDistribution(0.5, least).quantile(0.5) == 1);
  BOOST_TEST(BetaDistribution(0.0002445072616057481, 2.3e-308).quantile(1.1789159780268287e-305) ==
             0);
  BOOST_TEST(BetaDistribution(0.0021380702556876947, huge).quantile(0.9999998981354072) < 1e-300);
  // sqrt(4 a / pi) at the middle of Beta(a, a)
  BOOST_TEST(std::fabs(BetaDistribution(huge, huge).log_density(0.5) -
                       0.5 * (std::log(4 / M_PI) + std::log(huge))) < 1e-12);
  BOOST_TEST(BetaDistribution(huge, huge).below(0.5) == 0.5);
  BOOST_TEST(BetaDistribution(huge, huge).below(0.4) == 0);
  // x^a / 2 of equal shapes next to 0
  BOOST_TEST(std::fabs(BetaDistribution(1e-3, 1e-3).below(1e-300) * 2 / std::pow(1e-300, 1e-3) -
                       1) < 1e-5);
  // shape and rate so small that a gamma variable of rate 1 underflows: P is x^shape, nearly
  const GammaDistribution flat(1e-3, 1e-300);
  BOOST_TEST(std::fabs(flat.below(1e-50) / std::pow(1e-175, 2e-3) - 1) < 1e-3);
  BOOST_TEST(flat.log_density(1e-50) > -1e3);
  BOOST_TEST(std::fabs(flat.below(flat.quantile(0.45)) - 0.45) < 1e-12);
  const InverseGammaDistribution inverse(1e-3, 1e-300);
  BOOST_TEST(std::fabs(inverse.below(inverse.quantile(0.25)) - 0.25) < 1e-12);
  BOOST_TEST(std::fabs(NormalDistribution(-huge, huge).below(huge) -
                       NormalDistribution().below(2)) < 1e-15);
  BOOST_TEST(NormalDistribution(-huge, huge).quantile(NormalDistribution().below(1)) < 1e293);
  // t^2 / degrees is 1.96, and its square overflows
  BOOST_TEST(std::fabs(StudentDistribution(huge).log_density(1.4e154) / huge +
                       0.5 * std::log(2.96)) < 1e-12);
  // Half of this many degrees of freedom is 0.
  BOOST_TEST(StudentDistribution(least).below(-1e300) == 0.5);
  BOOST_TEST(std::isfinite(StudentDistribution(least).log_density(1)));
  BOOST_TEST(refused([&] { StudentDistribution(least).quantile(0.4); }, Errc::numeric));
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    BOOST_TEST(!std::isnan(StudentDistribution(least).draw(random)));
    BOOST_TEST(!std::isnan(BetaDistribution(least, least).draw(random)));
    BOOST_TEST(!std::isnan(GammaDistribution(least, least).draw(random)));
  }
}

BOOST_AUTO_TEST_CASE(draws_follow_the_distribution) {
  check_draws(NormalDistribution(3, 2));
  check_draws(StudentDistribution(2.5, -1, 3));
  check_draws(BetaDistribution(0.5, 2));
  check_draws(GammaDistribution(0.25, 3));
  check_draws(InverseGammaDistribution(3, 2));
  check_draws(BinomialDistribution(12, 0.375));
  check_draws(BinomialDistribution(1'000'000'000'000, 0.25));
  check_draws(PoissonDistribution(2.5));
  check_draws(PoissonDistribution(1e15));
  check_mean_of_draws(BinomialDistribution(12, 0.375), 4.5, std::sqrt(4.5 * 0.625));
  check_mean_of_draws(BinomialDistribution(2'000'000'000'000, 4e-5), 8e7,
                      std::sqrt(8e7 * (1 - 4e-5)));
  check_mean_of_draws(PoissonDistribution(2.5), 2.5, std::sqrt(2.5));
  check_mean_of_draws(PoissonDistribution(1e15), 1e15, std::sqrt(1e15));
}

BOOST_AUTO_TEST_CASE(edges_of_the_support) {
  BOOST_TEST(BetaDistribution(1, 3).log_density(0) == std::log(3.0));
  BOOST_TEST(BetaDistribution(0.5, 3).log_density(0) == inf);
  BOOST_TEST(BetaDistribution(2, 3).log_density(0) == -inf);
  BOOST_TEST(BetaDistribution(2, 1).log_density(1) == std::log(2.0));
  BOOST_TEST(BetaDistribution(2, 3).log_density(1.5) == -inf);
  BOOST_TEST(BetaDistribution(2, 3).below(-1) == 0);
  BOOST_TEST(BetaDistribution(2, 3).below(2) == 1);
  BOOST_TEST(GammaDistribution(1, 4).log_density(0) == std::log(4.0));
  BOOST_TEST(GammaDistribution(0.5, 4).log_density(0) == inf);
  BOOST_TEST(GammaDistribution(2, 4).log_density(-1) == -inf);
  BOOST_TEST(GammaDistribution(2, 4).below(inf) == 1);
  BOOST_TEST(GammaDistribution(2, 4).log_density(inf) == -inf);
  BOOST_TEST(InverseGammaDistribution(2, 4).log_density(0) == -inf);
  BOOST_TEST(InverseGammaDistribution(2, 4).below(inf) == 1);
  BOOST_TEST(NormalDistribution().below(inf) == 1);
  BOOST_TEST(NormalDistribution().log_density(-inf) == -inf);
  BOOST_TEST(StudentDistribution(3).below(-inf) == 0);
  BOOST_TEST(StudentDistribution(3).log_density(inf) == -inf);
  BOOST_TEST(BinomialDistribution(0, 0.5).log_density(0) == 0);
  BOOST_TEST(BinomialDistribution(5, 0).log_density(0) == 0);
  BOOST_TEST(BinomialDistribution(5, 1).log_density(5) == 0);
  BOOST_TEST(BinomialDistribution(5, 1).log_density(4) == -inf);
  BOOST_TEST(BinomialDistribution(5, 0.5).log_density(6) == -inf);
  BOOST_TEST(BinomialDistribution(5, 0.5).below(5) == 1);
  BOOST_TEST(BinomialDistribution(5, 0.5).quantile(1) == 5);
  BOOST_TEST(BinomialDistribution(5, 0.5).quantile(0) == 0);
  BOOST_TEST(BinomialDistribution(5, 1).quantile(0.25) == 5);
  BOOST_TEST(PoissonDistribution(0).log_density(0) == 0);
  BOOST_TEST(PoissonDistribution(0).log_density(1) == -inf);
  BOOST_TEST(PoissonDistribution(3).log_density(-1) == -inf);
  BOOST_TEST(PoissonDistribution(3).below(-1) == 0);
  BOOST_TEST(NormalDistribution(1, 2).quantile(0) == -inf);
  BOOST_TEST(GammaDistribution(2, 2).quantile(1) == inf);
  BOOST_TEST(std::isnan(GammaDistribution(2, 2).below(NAN)));
  BOOST_TEST(std::isnan(BetaDistribution(2, 2).log_density(NAN)));
  BOOST_TEST(std::isnan(StudentDistribution(2).below(NAN)));
  // what underflows on the way has a density all the same
  BOOST_TEST(std::fabs(GammaDistribution(0.5, 1e-200).log_density(1e-200) -
                       (-0.5 * std::log(M_PI))) < 1e-12);
  BOOST_TEST(std::fabs(InverseGammaDistribution(1, 1e-200).log_density(1e200) +
                       3 * 200 * std::log(10.0)) < 1e-9);
}

BOOST_AUTO_TEST_CASE(parameters_out_of_range) {
  for (const double bad : {0.0, -1.0, inf, double(NAN)}) {
    BOOST_TEST(refused([&] { NormalDistribution(0, bad); }));
    BOOST_TEST(refused([&] { StudentDistribution d(bad); }));
    BOOST_TEST(refused([&] { BetaDistribution(1, bad); }));
    BOOST_TEST(refused([&] { GammaDistribution(bad, 1); }));
    BOOST_TEST(refused([&] { InverseGammaDistribution(1, bad); }));
    BOOST_TEST(refused([&] { DirichletDistribution({1, bad}); }));
    BOOST_TEST(refused([&] { WishartDistribution(bad, std::vector<double>{1.0}); }));
  }
  BOOST_TEST(refused([] { BinomialDistribution(-1, 0.5); }));
  BOOST_TEST(refused([] { BinomialDistribution(1, 1.5); }));
  BOOST_TEST(refused([] { PoissonDistribution d(-1); }));
  BOOST_TEST(refused([] { UniformDistribution(1, 1); }));
  BOOST_TEST(refused([] { CategoricalDistribution({0, 0}); }));
  BOOST_TEST(refused([] { CategoricalDistribution({1, -1}); }));
  BOOST_TEST(refused([] { NormalDistribution(0, 1).quantile(1.5); }));
  BOOST_TEST(refused([] { PoissonDistribution(1).quantile(1); }, Errc::numeric));
  Random random(1);
  BOOST_TEST(refused([&] { PoissonDistribution(1e19).draw(random); }, Errc::numeric));
  BOOST_TEST(PoissonDistribution(9e18).draw(random) > 8'999'999'900'000'000'000);
  BOOST_TEST(refused([] { InverseGammaDistribution(1e-3, 1).quantile(0.9); }, Errc::numeric));
  BOOST_TEST(refused([] {
    MultivariateNormalDistribution({0, 0}, std::vector<double>{1, 2, 2, 1});
  }));
  BOOST_TEST(refused([] {
    MultivariateNormalDistribution({0, 0}, std::vector<double>{1, 0.5, 0, 1});
  }));
  BOOST_TEST(refused(
      [] {
        MultivariateNormalDistribution({0}, std::vector<double>{1, 0, 0, 1});
      },
      Errc::array_shape));
}

// Means and covariances within 5 standard errors of what they are: 18 comparisons, a false alarm in
// 100,000.
BOOST_AUTO_TEST_CASE(vectors_and_matrices) {
  const int n = 20000;
  const double root = std::sqrt(double(n));
  Random random(5);
  const std::vector<double> scale = {2, 0.5, 0.5, 1},
                            inverse = {1 / 1.75, -0.5 / 1.75, -0.5 / 1.75, 2 / 1.75};
  const WishartDistribution wishart(4.5, scale);
  std::vector<double> w(4), sums(4), squares(4);
  for (int i = 0; i < n; ++i) {
    wishart.draw(random, w);
    BOOST_REQUIRE(w[1] == w[2] && w[0] * w[3] > w[1] * w[2]);
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j] += w[j];
      squares[j] += w[j] * w[j];
    }
  }
  const auto variance = [&](std::size_t i, std::size_t j) {
    const double v = inverse[i * 2 + j];
    return 4.5 * (v * v + inverse[i * 3] * inverse[j * 3]);
  };
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const std::size_t at = i * 2 + j;
      const double mean = sums[at] / n;
      BOOST_TEST(std::fabs(mean - 4.5 * inverse[at]) < 5 * std::sqrt(variance(i, j)) / root);
      BOOST_TEST(std::fabs(squares[at] / n - mean * mean - variance(i, j)) <
                 5 * 3 * variance(i, j) / root);
    }

  const MultivariateNormalDistribution normal({1, -2}, scale);
  std::vector<double> x(2);
  double m0 = 0, m1 = 0, c = 0;
  for (int i = 0; i < n; ++i) {
    normal.draw(random, x);
    m0 += (x[0] - 1) / n;
    m1 += (x[1] + 2) / n;
    c += (x[0] - 1) * (x[1] + 2) / n;
  }
  BOOST_TEST(std::fabs(m0) < 5 * std::sqrt(2.0) / root);
  BOOST_TEST(std::fabs(m1) < 5 / root);
  BOOST_TEST(std::fabs(c - 0.5) < 5 * std::sqrt(2.25) / root);

  const DirichletDistribution dirichlet({0.5, 1, 2.5});
  std::vector<double> q(3), mean(3);
  for (int i = 0; i < n; ++i) {
    dirichlet.draw(random, q);
    for (std::size_t j = 0; j < 3; ++j) mean[j] += q[j] / n;
  }
  for (const auto &[j, p] : {std::pair{0, 0.125}, {1, 0.25}, {2, 0.625}})
    BOOST_TEST(std::fabs(mean[std::size_t(j)] - p) < 5 * std::sqrt(p * (1 - p) / 5) / root);

  const CategoricalDistribution categorical({0, 1, 0, 3, 0});
  std::vector<int> counts(5);
  for (int i = 0; i < n; ++i) ++counts[std::size_t(categorical.draw(random))];
  BOOST_TEST(counts[0] + counts[2] + counts[4] == 0);
  BOOST_TEST(std::fabs(counts[3] - 0.75 * n) < 5 * std::sqrt(0.75 * 0.25 * n));
}

BOOST_AUTO_TEST_SUITE_END()
