// The comparisons used by other tests: NaN is never near anything.
#include "compare.hpp"

#include <boost/test/unit_test.hpp>

using support::distance;
using support::larger;
using support::largest_of;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
using Vector = std::vector<double>;

/// The part of a matrix's interface that largest_of uses.
struct Column {
  Vector values;
  int rows() const { return int(values.size()); }
  int cols() const { return 1; }
  double operator()(int i, int) const { return values[std::size_t(i)]; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(compare)

BOOST_AUTO_TEST_CASE(nan_is_the_largest_difference) {
  BOOST_TEST(larger(1, 2) == 2);
  BOOST_TEST(larger(2, 1) == 2);
  BOOST_TEST(larger(1, not_a_number) == infinity);
  BOOST_TEST(larger(not_a_number, 1) == infinity);
  BOOST_TEST(larger(larger(0, not_a_number), 1) == infinity);
  BOOST_TEST(largest_of(Column{{1, -3, 2}}) == 3);
  for (const std::size_t at : {0u, 1u, 2u}) {
    Column column{{1, -3, 2}};
    column.values[at] = not_a_number;
    BOOST_TEST(largest_of(column) == infinity);
  }
}

BOOST_AUTO_TEST_CASE(distances_of_numbers) {
  BOOST_TEST(distance(2, 2) == 0);
  BOOST_TEST(distance(2, 1) == 0.5);
  BOOST_TEST(distance(0.5, 0.25) == 0.25);
  BOOST_TEST(distance(infinity, infinity) == 0);
  for (const double other : {1.0, infinity, not_a_number}) {
    BOOST_TEST(distance(not_a_number, other) == infinity);
    BOOST_TEST(distance(other, not_a_number) == infinity);
    BOOST_TEST(distance(-infinity, other) == infinity);
  }
}

BOOST_AUTO_TEST_CASE(distances_of_vectors) {
  BOOST_TEST(distance(Vector{1, 4}, Vector{1, 4}) == 0);
  BOOST_TEST(distance(Vector{1, 4}, Vector{2, 4}) == 0.25);
  BOOST_TEST(distance(Vector{1, 4}, Vector{1, 4, 0}) == infinity);
  BOOST_TEST(distance(Vector{infinity, 1}, Vector{infinity, 2}) == 0.5);
  for (const double bad : {infinity, -infinity, not_a_number})
    for (const std::size_t at : {0u, 1u, 2u}) {
      const Vector good = {1, 1, 1};
      Vector other = good;
      other[at] = bad;
      BOOST_TEST(distance(good, other) == infinity);
      BOOST_TEST(distance(other, good) == infinity);
      if (std::isnan(bad)) BOOST_TEST(distance(other, other) == infinity);
    }
}

BOOST_AUTO_TEST_SUITE_END()
