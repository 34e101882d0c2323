// Special functions against references of 40 digits (references/special.py).
#include "base/special.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace {

struct Unary {
  double x;
  long double value;
};
struct Binary {
  double a, b;
  long double value;
};
struct Multivariate {
  double a;
  int p;
  long double value;
};

#include "references/special.inc"

/// The error in units in the last place of a double as large as the reference, or as `scale` if
/// that is larger: the scale of the terms if the result is a difference.
double ulps(double result, long double reference, double scale = 0) {
  const double size = std::max(std::fabs(static_cast<double>(reference)), scale);
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::fabs(static_cast<long double>(result) - reference) / ulp);
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BOOST_AUTO_TEST_SUITE(special)

// Budgets: the largest error seen on these tables is at most two thirds of each.
BOOST_AUTO_TEST_CASE(log_gamma_within_4_ulp) {
  for (const auto &[x, value] : log_gamma_table)
    BOOST_TEST(ulps(bayes::log_gamma(x), value) <= 4,
               "log_gamma(" << x << ") is off by " << ulps(bayes::log_gamma(x), value) << " ulp");
}

BOOST_AUTO_TEST_CASE(digamma_within_4_ulp) {
  // Near its root at 1.46 the error is relative to the terms that cancel.
  for (const auto &[x, value] : digamma_table) {
    const double error = ulps(bayes::digamma(x), value, std::fabs(x - 1.46) < 0.1 ? 0.1 : 0);
    BOOST_TEST(error <= 4, "digamma(" << x << ") is off by " << error << " ulp");
  }
}

BOOST_AUTO_TEST_CASE(trigamma_within_4_ulp) {
  for (const auto &[x, value] : trigamma_table)
    BOOST_TEST(ulps(bayes::trigamma(x), value) <= 4,
               "trigamma(" << x << ") is off by " << ulps(bayes::trigamma(x), value) << " ulp");
}

BOOST_AUTO_TEST_CASE(log1p_exp_within_2_ulp) {
  for (const auto &[x, value] : log1p_exp_table)
    BOOST_TEST(ulps(bayes::log1p_exp(x), value) <= 2,
               "log1p_exp(" << x << ") is off by " << ulps(bayes::log1p_exp(x), value) << " ulp");
  BOOST_TEST(bayes::log1p_exp(-infinity) == 0);
  BOOST_TEST(bayes::log1p_exp(infinity) == infinity);
  BOOST_TEST(std::isnan(bayes::log1p_exp(not_a_number)));
}

// relative to 1 if the result is smaller: it passes through zero
BOOST_AUTO_TEST_CASE(log_beta_within_8_ulp) {
  for (const auto &[a, b, value] : log_beta_table) {
    const double error = ulps(bayes::log_beta(a, b), value, 1);
    BOOST_TEST(error <= 8, "log_beta(" << a << ", " << b << ") is off by " << error << " ulp");
    BOOST_TEST(bayes::log_beta(b, a) == bayes::log_beta(a, b));
  }
}

BOOST_AUTO_TEST_CASE(log_multivariate_gamma_within_8_ulp_of_its_largest_term) {
  for (const auto &[a, p, value] : log_multivariate_gamma_table) {
    const double error =
        ulps(bayes::log_multivariate_gamma(a, p), value, p * std::fabs(bayes::log_gamma(a)));
    BOOST_TEST(error <= 8,
               "log_multivariate_gamma(" << a << ", " << p << ") is off by " << error << " ulp");
  }
}

BOOST_AUTO_TEST_CASE(wishart_digamma_within_8_ulp_of_its_largest_term) {
  for (const auto &[a, p, value] : wishart_digamma_table) {
    const double error =
        ulps(bayes::wishart_digamma(a, p), value, p * std::fabs(bayes::digamma(0.5 * a)));
    BOOST_TEST(error <= 8,
               "wishart_digamma(" << a << ", " << p << ") is off by " << error << " ulp");
  }
}

BOOST_AUTO_TEST_CASE(log_sum_exp_of_ordinary_and_extreme_numbers) {
  const auto of = [](std::vector<double> x) { return bayes::log_sum_exp(x); };
  BOOST_TEST(of({}) == -infinity);
  BOOST_TEST(of({-infinity, -infinity}) == -infinity);
  BOOST_TEST(of({3.5}) == 3.5);
  BOOST_TEST(of({-infinity, 3.5}) == 3.5);
  BOOST_TEST(of({infinity, 3.5}) == infinity);
  BOOST_TEST(std::isnan(of({1, not_a_number, infinity})));
  BOOST_TEST(std::fabs(of({0, 0}) - std::log(2)) <= 1e-16);
  BOOST_TEST(std::fabs(of({1000, 1000, 1000, 1000}) - (1000 + std::log(4))) <= 2e-13);
  BOOST_TEST(std::fabs(of({-1e5, -1e5 - 1}) - (-1e5 + std::log1p(std::exp(-1)))) <= 2e-11);
}

BOOST_AUTO_TEST_CASE(the_dirichlet_normaliser_is_the_sum_of_its_gammas) {
  const std::vector<double> alpha = {0.5, 2.25, 7.0, 1e-3};
  double expected = -bayes::log_gamma(0.5 + 2.25 + 7.0 + 1e-3);
  for (const double a : alpha) expected += bayes::log_gamma(a);
  BOOST_TEST(std::fabs(bayes::log_dirichlet_normaliser(alpha) - expected) <=
             1e-14 * std::fabs(expected) + 1e-14);
  BOOST_TEST(bayes::log_dirichlet_normaliser(std::vector<double>{4.5}) == 0);
  // Symmetric and large: n equal parameters a; Stirling's formula gives the value where the plain
  // sum has lost its digits.
  const double a = 1e12;
  const std::vector<double> large(3, a);
  const double stirling =
      std::log(2 * std::acos(-1.0)) - std::log(a) + 0.5 * std::log(3.0) - 3 * a * std::log(3.0);
  BOOST_TEST(ulps(bayes::log_dirichlet_normaliser(large), stirling) <= 16);
}

BOOST_AUTO_TEST_CASE(the_tail_of_chi_squared) {
  // With two degrees of freedom exp(-x / 2); with one the normal's quantile squared.
  for (const double x : {0.0, 1e-10, 0.5, 3.0, 80.0, 1400.0})
    BOOST_TEST(std::abs(bayes::chi_square_tail(x, 2) - std::exp(-x / 2)) <=
               1e-14 * std::exp(-x / 2));
  for (const double p : {0.5, 0.05, 1e-3, 1e-9}) {
    const double quantile = bayes::normal_quantile(1 - p / 2);
    BOOST_TEST(std::abs(bayes::chi_square_tail(quantile * quantile, 1) - p) < 1e-7 * p);
  }
  BOOST_TEST(bayes::chi_square_tail(std::numeric_limits<double>::infinity(), 3) == 0);
  BOOST_CHECK_THROW(bayes::chi_square_tail(-1, 3), bayes::Error);
  BOOST_CHECK_THROW(bayes::chi_square_tail(1, 0), bayes::Error);
}

BOOST_AUTO_TEST_CASE(what_a_double_cannot_hold_is_an_error_that_says_so) {
  try {
    bayes::digamma(1e-320);
    BOOST_ERROR("no error");
  } catch (const bayes::Error &error) {
    BOOST_TEST(error.what() == std::string("the digamma function of 1e-320 is beyond double "
                                           "precision"));
    BOOST_TEST(error.hint().find("rescale") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(arguments_out_of_range_are_errors) {
  const auto refuses = [](auto function) {
    try {
      function();
    } catch (const bayes::Error &error) {
      return error.code() == bayes::Errc::numeric;
    }
    return false;
  };
  for (const double bad : {0.0, -1.0, -0.5, infinity, not_a_number}) {
    BOOST_TEST(refuses([&] { bayes::log_gamma(bad); }));
    BOOST_TEST(refuses([&] { bayes::digamma(bad); }));
    BOOST_TEST(refuses([&] { bayes::trigamma(bad); }));
    BOOST_TEST(refuses([&] { bayes::log_beta(bad, 1); }));
    BOOST_TEST(refuses([&] { bayes::log_beta(1, bad); }));
    BOOST_TEST(refuses([&] { bayes::log_dirichlet_normaliser(std::vector<double>{1, bad}); }));
    BOOST_TEST(refuses([&] { bayes::log_dirichlet_normaliser(std::vector<double>{bad}); }));
    BOOST_TEST(refuses([&] { bayes::log_multivariate_gamma(bad, 1); }));
    BOOST_TEST(refuses([&] { bayes::wishart_digamma(bad, 1); }));
  }
  BOOST_TEST(refuses([] { bayes::log_gamma(1e307); }));  // the result overflows
  BOOST_TEST(refuses([] { bayes::trigamma(1e-200); }));
  BOOST_TEST(refuses([] { bayes::log_multivariate_gamma(1.0, 3); }));
  BOOST_TEST(refuses([] { bayes::log_multivariate_gamma(1.0, 0); }));
  BOOST_TEST(refuses([] { bayes::wishart_digamma(2.0, 3); }));
  BOOST_TEST(refuses([] { bayes::log_dirichlet_normaliser({}); }));
}

BOOST_AUTO_TEST_SUITE_END()
