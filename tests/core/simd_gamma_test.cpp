// The vector forms of the gamma function's logarithm and its derivative against long double.
#include "base/simd.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "base/random.hpp"
#include "compare.hpp"

using namespace bayes;

BOOST_AUTO_TEST_SUITE(simd_gamma)

// Caught: any term of a series or coefficient of a polynomial that is wrong in its ninth digit.
BOOST_AUTO_TEST_CASE(digamma_and_log_gamma_are_accurate) {
  Random random(5);
  double of_digamma = 0, of_log_gamma = 0, of_exp = 0;
  for (int i = 0; i < 100000; ++i) {
    const double wide = std::exp(130 * (random.uniform() - 0.5)),
                 near = 1e-3 + 15 * random.uniform();
    const double x = i % 2 ? wide : near;
    const simd::GammaPair found = simd::digamma_and_log_gamma(simd::all(x));
    const long double digamma = boost::math::digamma((long double)x),
                      log_gamma = boost::math::lgamma((long double)x);
    of_digamma = support::larger(of_digamma, double(std::abs(found.digamma[0] - digamma) /
                                                    std::max(1.0L, std::abs(digamma))));
    of_log_gamma = support::larger(of_log_gamma, double(std::abs(found.log_gamma[0] - log_gamma) /
                                                        std::max(1.0L, std::abs(log_gamma))));
    if (digamma > -700)
      of_exp = support::larger(
          of_exp, double(std::abs(simd::exp_digamma(simd::all(x))[0] / std::exp(digamma) - 1) /
                         std::max(1.0L, std::abs(digamma))));
  }
  BOOST_TEST(of_digamma < 3e-15);
  BOOST_TEST(of_log_gamma < 2e-14);
  BOOST_TEST(of_exp < 3e-15);
}

BOOST_AUTO_TEST_CASE(arguments_at_the_ends) {
  BOOST_TEST(simd::exp_digamma(simd::all(1e-3))[0] == 0);
  BOOST_TEST(simd::exp_digamma(simd::all(1e-29))[0] == 0);
  for (const double x : {1e-29, 1e29}) {
    const simd::GammaPair found = simd::digamma_and_log_gamma(simd::all(x));
    BOOST_TEST(support::distance(found.digamma[0], boost::math::digamma(x)) < 1e-14);
    BOOST_TEST(support::distance(found.log_gamma[0], boost::math::lgamma(x)) < 1e-14);
  }
}

BOOST_AUTO_TEST_SUITE_END()
