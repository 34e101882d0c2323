// The texts of errors and reports.
#include "base/message.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

using bayes::message;

BOOST_AUTO_TEST_SUITE(messages)

BOOST_AUTO_TEST_CASE(every_placeholder_takes_the_next_value) {
  const std::string family = "gmm";
  BOOST_TEST(message("") == "");
  BOOST_TEST(message("no rows") == "no rows");
  BOOST_TEST(message("{} of {} rows, {}{}", 1, 20L, family, std::string_view("!")) ==
             "1 of 20 rows, gmm!");
  BOOST_TEST(message("{}", "{}") == "{}");
  BOOST_TEST(message("{\"k\": {}} {x} } {", 3) == "{\"k\": 3} {x} } {");
}

BOOST_AUTO_TEST_CASE(integers_of_every_width) {
  BOOST_TEST(message("{} {}", std::numeric_limits<std::int64_t>::min(),
                     std::numeric_limits<std::uint64_t>::max()) ==
             "-9223372036854775808 18446744073709551615");
  BOOST_TEST(message("{} {} {}", std::int8_t(-3), std::uint8_t(200), std::size_t(7)) == "-3 200 7");
  BOOST_TEST(message("{} {}", std::numeric_limits<std::int32_t>::min(), 4294967295U) ==
             "-2147483648 4294967295");
}

BOOST_AUTO_TEST_CASE(doubles_have_the_fewest_digits) {
  BOOST_TEST(message("{} {} {}", 0.1, 1e150, -2.0) == "0.1 1e+150 -2");
  BOOST_TEST(message("{} {} {} {}", 1e6, 1234567.0, -2e14, 1e15) ==
             "1000000 1234567 -200000000000000 1e+15");
  BOOST_TEST(message("{} {}", 0.0, -0.0) == "0 -0");
  BOOST_TEST(message("{}", 1.0 / 3) == "0.3333333333333333");
  BOOST_TEST(message("{} {} {}", std::nan(""), HUGE_VAL, -HUGE_VAL) == "NaN Infinity -Infinity");
}

BOOST_AUTO_TEST_SUITE_END()
