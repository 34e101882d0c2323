// The vector functions against long double, at the level that this executable is built for.
#include "base/simd.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "compare.hpp"

using namespace bayes;
using simd::lanes;

namespace {

/// How far y is from the exact value, in units of the last place of a double there.
double ulps(double y, long double exact) {
  const double nearest = double(exact);
  const double unit = std::nextafter(std::abs(nearest), std::numeric_limits<double>::infinity()) -
                      std::abs(nearest);
  return double(std::abs((long double)y - exact) / unit);
}

/// The largest error over n arguments drawn by `draw`, every lane with a different one.
template <class Draw, class F, class G> double worst(int n, Draw draw, F vector, G exact) {
  Random random(3);
  double most = 0;
  for (int i = 0; i < n; i += lanes) {
    double x[lanes], y[lanes];
    for (double &v : x) v = draw(random);
    simd::store(y, vector(simd::load(x)));
    for (int l = 0; l < lanes; ++l)
      most = support::larger(most, ulps(y[l], exact((long double)x[l])));
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simd_functions)

// Caught: the last term of the polynomial dropped, ln 2 in one part instead of two.
BOOST_AUTO_TEST_CASE(exp_within_three_ulp) {
  const auto error = [](double low, double high) {
    return worst(
        200000, [=](Random &r) { return low + (high - low) * r.uniform(); },
        [](simd::Vector v) { return simd::exp(v); }, [](long double v) { return std::exp(v); });
  };
  BOOST_TEST(error(-708, 709) < 3);
  BOOST_TEST(error(-40, 0) < 3);
  BOOST_TEST(error(-1, 1) < 3);
  BOOST_TEST(error(-1e-9, 1e-9) < 3);
  for (const double x :
       {-708.0001, -709.0, -745.0, -1e4, -1e300, -std::numeric_limits<double>::infinity()})
    BOOST_TEST(simd::exp(simd::all(x))[lanes - 1] == 0);
  BOOST_TEST(simd::exp(simd::all(0))[0] == 1);
  BOOST_TEST(simd::exp(simd::all(-0.0))[0] == 1);
  BOOST_TEST(ulps(simd::exp(simd::all(-708.0))[0], std::exp(-708.0L)) < 3);
  BOOST_TEST(ulps(simd::exp(simd::all(709.0))[0], std::exp(709.0L)) < 3);
}

// Caught: the series without its term in s^17, ln 2 in one part.
BOOST_AUTO_TEST_CASE(log_within_one_ulp) {
  const auto error = [](auto draw) {
    return worst(
        200000, draw, [](simd::Vector v) { return simd::log(v); },
        [](long double v) { return std::log(v); });
  };
  BOOST_TEST(error([](Random &r) { return std::exp(-700 + 1400 * r.uniform()); }) < 1);
  BOOST_TEST(error([](Random &r) { return 1 + 20 * r.uniform(); }) < 1);
  BOOST_TEST(error([](Random &r) { return 0.5 + r.uniform(); }) < 1);
  BOOST_TEST(error([](Random &r) { return 1 + 1e-9 * (r.uniform() - 0.5); }) < 1);
  const double root = std::sqrt(0.5);
  for (const double x : {1.0, std::nextafter(1.0, 2.0), std::nextafter(1.0, 0.0), root,
                         std::nextafter(root, 0.0), std::nextafter(root, 1.0), 2.0,
                         std::numeric_limits<double>::min(), std::numeric_limits<double>::max()})
    BOOST_TEST(ulps(simd::log(simd::all(x))[0], std::log((long double)x)) < 1);
  BOOST_TEST(simd::log(simd::all(1))[0] == 0);
}

BOOST_AUTO_TEST_CASE(loads_stores_sums_and_maxima) {
  double x[lanes * simd::sum_lanes + 1], y[lanes];
  for (int i = 0; i <= lanes * simd::sum_lanes; ++i) x[i] = (i * 37 % 101) * 0.1 - 7;
  const double *const loose = x + 1;  // not on a vector's boundary
  for (int i = 0; i < lanes; ++i) {
    // The order of the additions is the same at every level.
    const double *const p = loose + i * simd::sum_lanes;
    double total = 0;
    for (int l = 0; l < simd::sum_lanes; ++l) total += p[l];
    BOOST_TEST(simd::sum(p) == total);
    simd::Vector in_registers[simd::registers];
    for (int r = 0; r < simd::registers; ++r) in_registers[r] = simd::load(p + r * lanes);
    BOOST_TEST(simd::sum(in_registers) == total);
    BOOST_TEST(simd::sums(loose)[i] ==
               ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7])));
  }
  simd::store(y, simd::max(simd::load(x), simd::all(0)));
  for (int l = 0; l < lanes; ++l) BOOST_TEST(y[l] == std::max(x[l], 0.0));
  // Of a NaN and b it is b: the local step relies on it for rows infinitely far away.
  BOOST_TEST(simd::max(simd::all(std::nan("")), simd::all(1))[0] == 1);
  BOOST_TEST(simd::max(simd::all(-std::numeric_limits<double>::infinity()), simd::all(-5))[0] ==
             -5);
}

// Caught: a product that is rounded before it is added at a level that need not.
BOOST_AUTO_TEST_CASE(multiply_add_rounds_once_where_it_can) {
  const double a = 1 + 0x1p-30, c = -1;
#if defined(__FP_FAST_FMA)
  const double want = 0x1p-29 + 0x1p-60;
#else
  const double want = 0x1p-29;
#endif
  BOOST_TEST(simd::madd(a, a, c) == want);
  BOOST_TEST(simd::madd(a, simd::all(a), simd::all(c))[lanes - 1] == want);
#if defined(__x86_64__)
  // Elsewhere the compiler fuses nothing.
  volatile double b = a;
  BOOST_TEST(b * b + c == 0x1p-29);
#endif
}

BOOST_AUTO_TEST_SUITE_END()
