// Boost as the library uses it: its assertions throw, and its root finder ends.
#include "base/root.hpp"

// first of all, for the headers of Boost.Test
#include "base/boost_settings.hpp"
// after the settings
#include <boost/assert.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"

BOOST_AUTO_TEST_SUITE(root)

BOOST_AUTO_TEST_CASE(assertions_of_boost_throw) {
  const double x = std::acos(-1.0);
  BOOST_CHECK_THROW(BOOST_ASSERT(x < 3), bayes::Error);
  BOOST_CHECK_THROW(BOOST_ASSERT_MSG(x < 3, "it is not"), bayes::Error);
  BOOST_CHECK_NO_THROW(BOOST_ASSERT(x > 3));
}

BOOST_AUTO_TEST_CASE(roots_are_found_or_refused) {
  const auto cubic = [](double x) { return x * x * x - 2; };
  BOOST_TEST(std::fabs(bayes::root_between(cubic, 0, 2, -2, 6, 45) - std::cbrt(2)) < 1e-12);
  const auto refused = [](auto f, double low, double high) {
    try {
      bayes::root_between(f, low, high, f(low), f(high), 45);
    } catch (const bayes::Error &error) {
      return error.code() == bayes::Errc::numeric;
    }
    return false;
  };
  BOOST_TEST(refused([](double x) { return x > 0.3 && x < 1 ? NAN : x - 0.5; }, 0.0, 2.0));
  BOOST_TEST(refused([](double x) { return x * x + 1; }, -1.0, 2.0));
}

BOOST_AUTO_TEST_CASE(the_search_for_a_root_polls) {
  struct Interrupt {};
  class Impatient : public bayes::Control {
   public:
    void poll() override { throw Interrupt(); }
  } control;
  const bayes::PollScope scope(control);
  BOOST_CHECK_THROW(bayes::root_between([](double x) { return x - 0.3; }, 0, 1, -0.3, 0.7, 45),
                    Interrupt);
}

BOOST_AUTO_TEST_SUITE_END()
