// Probabilities of boxes: against the definition by sums and quadrature of the models' own
// densities, against long double quadrature of normals, and against boxes that tile the space.
#include "questions/box.hpp"

#include "base/incomplete.hpp"
#include "base/unseen.hpp"
#include "questions/make.hpp"
#include "questions_support.hpp"

using namespace bayes;
using namespace questions;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> all_of(const Asked &asked, double value) {
  return std::vector<double>(std::size_t(asked.distribution->dimension()), value);
}

/// P(a <= z1 <= b, c <= z2 <= d) by the trapezoid rule in long double, over z1.
double slow_rectangle(double a, double b, double c, double d, long double rho) {
  const long double low = std::max(a, -12.0), high = std::min(b, 12.0),
                    root = std::sqrt(1 - rho * rho);
  const int n = 200000;
  const auto below = [](long double z) { return std::erfc(-z / std::sqrt(2.0L)) / 2; };
  long double sum = 0;
  for (int i = 0; i <= n; ++i) {
    const long double z = low + (high - low) * i / n;
    // Simpson
    const long double weight = i == 0 || i == n ? 1 : i % 2 ? 4 : 2;
    sum +=
        weight * std::exp(-z * z / 2) * (below((d - rho * z) / root) - below((c - rho * z) / root));
  }
  return double(sum * (high - low) / n / 3 / std::sqrt(2 * 3.14159265358979323846264338327950288L));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(boxes)

BOOST_AUTO_TEST_CASE(rectangles_of_two_normals) {
  for (const double rho : {-0.999, -0.6, 0.0, 0.3, 0.9, 0.9999})
    for (const auto &[a, b, c, d] : std::vector<std::array<double, 4>>{
             {-1, 1, -1, 1}, {-infinite, 0, -infinite, 0}, {0.5, 3, -2, infinite}, {2, 4, 2, 4}}) {
      const double lower[] = {a, c}, upper[] = {b, d};
      BOOST_TEST(std::abs(rectangle_probability(lower, upper, rho) -
                          slow_rectangle(a, b, c, d, rho)) < 1e-10);
    }
  // an orthant, in closed form
  const double lower[] = {0, 0}, upper[] = {infinite, infinite};
  for (const double rho : {-0.9, 0.5, 0.99})
    BOOST_TEST(std::abs(rectangle_probability(lower, upper, rho) -
                        (0.25 + std::asin(rho) / (2 * 3.14159265358979323846))) < 1e-13);
  BOOST_TEST(std::abs(rectangle_probability(lower, upper, 1) - 0.5) < 1e-13);
  BOOST_TEST(rectangle_probability(lower, upper, -1) == 0);
}

// Given the weight g of its precision, g ~ Gamma(nu / 2, nu / 2), a Student t is normal.
BOOST_AUTO_TEST_CASE(rectangles_of_a_student) {
  for (const double degrees : {0.3, 0.7, 1.0, 2.5, 7.0, 60.0, 1e6})
    for (const double rho : {-0.95, 0.0, 0.4, 0.9999}) {
      const double lower[] = {0, 0}, upper[] = {infinite, infinite};
      BOOST_TEST(std::abs(rectangle_probability(lower, upper, rho, degrees) -
                          (0.25 + std::asin(rho) / (2 * 3.14159265358979323846))) < 1e-11,
                 degrees << ' ' << rho);
      const double below[] = {-infinite, -infinite}, three[] = {-3, infinite};
      BOOST_TEST(std::abs(rectangle_probability(below, three, rho, degrees) -
                          student_below(degrees, -3)) < 1e-11);
      for (const auto &[a, b, c, d] :
           std::vector<std::array<double, 4>>{{-1, 1, -1, 1},
                                              {0.5, 3, -2, infinite},
                                              {2, 4, 2, 4},
                                              {-infinite, -3, -infinite, infinite},
                                              {-40, 1e4, 900, infinite},
                                              {-infinite, infinite, 0, 1e10},
                                              {-1e30, infinite, -1e4, 1e7},
                                              {3, 3.1, -infinite, 2}}) {
        long double exact = 0, whole = 0;
        const double spread = 1 / std::sqrt(degrees);
        // Few degrees go far out, where everything changes slowly.
        const double farthest =
            degrees < 1 ? 60 / degrees : std::min(50.0, 90 / degrees + 9 * spread);
        const double step = degrees < 1 ? 0.2 : 0.02 * std::min(1.0, spread * 3);
        for (double t = -farthest; t < 5; t += step) {
          const double g = std::exp(t), weight = std::exp(degrees / 2 * (t - g + 1));
          if (weight < 1e-25) continue;
          const double root = std::sqrt(g), low[] = {a * root, c * root},
                       high[] = {b * root, d * root};
          exact += weight * rectangle_probability(low, high, rho);
          whole += weight;
        }
        const double low[] = {a, c}, high[] = {b, d};
        BOOST_TEST(
            std::abs(rectangle_probability(low, high, rho, degrees) - double(exact / whole)) < 1e-9,
            degrees << ' ' << rho << ' ' << a << ' ' << c << ": "
                    << rectangle_probability(low, high, rho, degrees) << " and "
                    << double(exact / whole));
      }
    }
}

// Student t and normals of three dimensions that are independent, so that the product is exact, and
// an orthant of three correlated normals.
BOOST_AUTO_TEST_CASE(quasi_monte_carlo_is_near_closed_forms) {
  const std::vector<double> zero(3, 0.0), far(3, infinite), one = {1, 1, 1};
  const auto mean_of = [](const std::vector<double> &estimates) {
    double sum = 0;
    for (const double each : estimates) sum += each;
    return sum / double(estimates.size());
  };
  for (const double degrees : {0.0, 3.0, 40.0}) {
    std::vector<double> out(12, 1.0);
    multiply_elliptical_box(zero, far, std::vector<double>{1, 0, 1, 0, 0, 1}, degrees, out);
    BOOST_TEST(std::abs(mean_of(out) - 0.125) < 1e-4);
    std::vector<double> correlated(12, 1.0);
    const double r = std::sqrt(0.75), c = 0.25 / r;
    multiply_elliptical_box(zero, far,
                            std::vector<double>{1, 0.5, r, 0.5, c, std::sqrt(0.75 - c * c)},
                            degrees, correlated);
    // 1/8 + 3 asin(1/2) / (4 pi), for every elliptical distribution
    BOOST_TEST(std::abs(mean_of(correlated) - 0.25) < 2e-4);
  }
  std::vector<double> out(12, 1.0);
  multiply_elliptical_box(std::vector<double>(3, -1.0), one, std::vector<double>{1, 0, 1, 0, 0, 1},
                          0, out);
  BOOST_TEST(std::abs(mean_of(out) - std::pow(std::erf(std::sqrt(0.5)), 3)) < 1e-4);
}

BOOST_AUTO_TEST_CASE(boxes_of_many_elements_are_polled) {
  const std::size_t m = 600;
  std::vector<double> triangle, out(12, 1.0);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t k = 0; k <= i; ++k) triangle.push_back(i == k ? 1 : 0);
  const std::vector<double> lower(m, -9.0), upper(m, 9.0);
  const auto ask = [&] { multiply_elliptical_box(lower, upper, triangle, 0, out); };
  BOOST_TEST(support::polls_of(ask) > 20 * int(out.size()));
}

// Three uncorrelated elements of a Student t: the integral over the weight g of the precision, g ~
// Gamma(nu / 2, nu / 2), of the product of three normal probabilities.
BOOST_AUTO_TEST_CASE(quasi_monte_carlo_knows_the_tails_of_a_student) {
  for (const double nu : {2.0, 5.0, 30.0}) {
    double exact = 0, whole = 0;
    for (double t = -12; t < 4; t += 1e-3) {
      const double g = std::exp(t), weight = std::exp(nu / 2 * (t - g + 1));
      exact += weight * std::pow(std::erf(std::sqrt(g / 2)), 3);
      whole += weight;
    }
    std::vector<double> out(12, 1.0);
    multiply_elliptical_box(std::vector<double>(3, -1.0), std::vector<double>(3, 1.0),
                            std::vector<double>{1, 0, 1, 0, 0, 1}, nu, out);
    double mean = 0;
    for (const double each : out) mean += each / 12;
    BOOST_TEST(std::abs(mean - exact / whole) < 3e-4, nu);
  }
}

BOOST_AUTO_TEST_CASE(boxes_that_tile_the_space_sum_to_one) {
  for (Asked &asked : all_models()) {
    RowDistribution &rows = *asked.distribution;
    auto given = all_of(asked, hole);
    // One of the two for models with many components, whose estimates take long.
    for (const bool evidence : {false, true}) {
      if (!evidence && rows.components().size() > 50) continue;
      if (evidence) given[0] = asked.rows(1, 0);
      // Cut every element that is not given in two.
      const int d = rows.dimension();
      double sum = 0, error = 0;
      for (unsigned corner = 0; corner < 1u << d; ++corner) {
        if (evidence && corner & 1u) continue;
        auto lower = all_of(asked, hole), upper = lower;
        for (int j = evidence ? 1 : 0; j < d; ++j) {
          const double cut = asked.rows(4, j);
          const bool whole = !rows.categories(j).empty() || cut == std::floor(cut);
          if (corner >> j & 1)
            lower[std::size_t(j)] = whole ? cut + 1 : cut;
          else
            upper[std::size_t(j)] = cut;
        }
        const BoxProbability p = box_probability(rows, lower, upper, given);
        BOOST_TEST((p.value >= 0 && p.value <= 1 && p.mcse < 3e-3));
        sum += p.value;
        error += p.mcse;
      }
      BOOST_TEST(std::abs(sum - 1) < 1e-9 + 5 * error, asked.name << ": " << sum);
    }
  }
}

// Of one category and one number the sum of the densities over the category, integrated.
BOOST_AUTO_TEST_CASE(boxes_have_the_probability_of_the_density) {
  for (Asked &asked : all_models()) {
    RowDistribution &rows = *asked.distribution;
    const int last = rows.dimension() - 1;
    int number = 0;
    while (!rows.categories(number).empty() ||
           asked.rows.col(number) == asked.rows.col(number).array().floor().matrix())
      ++number;
    const int other = number == last ? 0 : last;
    auto lower = all_of(asked, hole), upper = lower, given = lower, x = lower;
    const double a = asked.rows.col(number).minCoeff(), b = asked.rows.col(number).mean();
    lower[std::size_t(number)] = a;
    upper[std::size_t(number)] = b;
    if (!rows.categories(other).empty())
      lower[std::size_t(other)] = upper[std::size_t(other)] = rows.categories(other)[0];
    else
      given[std::size_t(other)] = asked.rows(2, other);
    const double evidence = own_log_density(asked, given);
    x = given;
    if (!rows.categories(other).empty()) x[std::size_t(other)] = rows.categories(other)[0];
    double sum = 0;
    constexpr int n = 2000;
    for (int i = 0; i <= n; ++i) {
      x[std::size_t(number)] = a + (b - a) * i / n;
      sum += (i == 0 || i == n ? 1
              : i % 2          ? 4
                               : 2) *
             std::exp(own_log_density(asked, x) - evidence);
    }
    const BoxProbability p = box_probability(rows, lower, upper, given);
    BOOST_TEST(std::abs(p.value - sum * (b - a) / n / 3) < 1e-8, asked.name);
    BOOST_TEST(p.mcse == 0);
  }
}

// Three bound elements of a mixture: quasi-Monte Carlo against the share of draws in the box.
BOOST_AUTO_TEST_CASE(estimates_are_near_the_share_of_draws) {
  for (Asked &asked : all_models()) {
    if (asked.model->info.family != "gmm") continue;
    RowDistribution &rows = *asked.distribution;
    auto lower = all_of(asked, hole), upper = lower;
    for (int j = 0; j < 3; ++j) {
      lower[std::size_t(j)] = asked.rows.col(j).minCoeff();
      upper[std::size_t(j)] = asked.rows.col(j).mean() + 1;
    }
    const auto nothing = all_of(asked, hole);
    const BoxProbability p = box_probability(rows, lower, upper, nothing);
    BOOST_TEST(p.mcse < 2e-3, asked.name << ": " << p.mcse);
    constexpr int n = 3000;
    int within = 0;
    rows.condition(nothing);
    for (int i = 0; i < n; ++i) {
      Random random(9, std::uint64_t(i));
      auto x = nothing;
      rows.draw(random, x);
      bool in = true;
      for (std::size_t j = 0; j < 3; ++j) in &= lower[j] <= x[j] && x[j] <= upper[j];
      within += in;
    }
    // 4.5 standard errors
    const double deviation = std::sqrt(p.value * (1 - p.value) / n) + p.mcse;
    BOOST_TEST(std::abs(double(within) / n - p.value) < 4.5 * deviation, asked.name);
  }
}

BOOST_AUTO_TEST_CASE(bounds_that_cannot_be) {
  NormalPoint point{full_covariance, Matrix::Zero(2, 1), {Matrix::Identity(2, 2)}};
  RowDistribution rows({{"a"}, {"b"}}, 2, flat_components({1}, 1));
  rows.add(row_part(all_elements(2), point));
  const std::vector<double> nothing = {hole, hole}, low = {1, hole}, high = {0, hole},
                            given = {0.5, hole}, unknown = {hole, unseen_category};
  BOOST_CHECK_EXCEPTION(box_probability(rows, low, high, nothing), Error, [](const Error &error) {
    return error.code() == Errc::invalid_argument &&
           error.what() == std::string(
                               "the lower bound of column \"a\" is 1, above the upper bound "
                               "0");
  });
  // what is given lies in the box, or not
  BOOST_TEST(box_probability(rows, high, nothing, given).value == 1);
  BOOST_TEST(box_probability(rows, low, nothing, given).value == 0);
  BOOST_TEST(box_probability(rows, unknown, nothing, nothing).value == 0);
  // a tail beyond 1 - p keeps its digits
  const std::vector<double> far = {20, hole};
  BOOST_TEST(std::abs(box_probability(rows, far, nothing, nothing).value /
                          (std::erfc(20 / std::sqrt(2.0)) / 2) -
                      1) < 1e-9);
}

BOOST_AUTO_TEST_SUITE_END()
