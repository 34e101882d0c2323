// Profiles of components, against sums over all rows.
#include "data/profile.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"

using namespace bayes;

namespace {

const double hole = std::numeric_limits<double>::quiet_NaN();

struct Row {
  std::vector<double> x, p;
};

/// A number far from 0, a category and a constant, of components that differ.
std::vector<Row> some_rows(int n) {
  Random random(4);
  std::vector<Row> out;
  for (int i = 0; i < n; ++i) {
    Row row{{0, 0, 3}, std::vector<double>(3)};
    random.dirichlet(std::vector<double>{1, 2, 0.5}, row.p);
    row.x[0] = 1e8 + random.normal() + 3 * row.p[0];
    row.x[1] = row.p[1] > 0.4 ? 7 : random.uniform() < 0.5 ? -2 : 9;
    for (int j = 0; j < 2; ++j)
      if (random.uniform() < 0.2) row.x[std::size_t(j)] = hole;
    out.push_back(row);
  }
  return out;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-7 * (1 + std::abs(b)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(profile)

// The third number of every row is the probability of what is no component.
BOOST_AUTO_TEST_CASE(profiles_are_sums_over_rows) {
  const std::vector<Row> rows = some_rows(200);
  Profile of(2, {{}, {-2, 1, 7, 9}, {}});
  for (const Row &row : rows) of.add(row.x, row.p);
  const auto entries = of.entries();
  BOOST_REQUIRE(entries.size() == 12);
  std::vector<int> ranks(2, 0);
  for (const ProfileEntry &entry : entries) {
    const std::size_t k = std::size_t(entry.component), j = std::size_t(entry.element);
    const bool number = std::isnan(entry.category);
    BOOST_TEST(number == (j != 1));
    double all = 0, own = 0, sum = 0, rest = 0, other = 0, count = 0, mean = 0, square = 0;
    const double origin = j == 0 ? 1e8 : 0;
    for (const Row &row : rows) {
      all += row.p[k];
      if (std::isnan(row.x[j])) continue;
      const double x = number ? row.x[j] - origin : row.x[j] == entry.category;
      own += row.p[k];
      rest += 1 - row.p[k];
      sum += row.p[k] * x;
      other += (1 - row.p[k]) * x;
      mean += x;
      square += x * x;
      ++count;
    }
    mean /= count;
    const double variance = square / count - mean * mean;
    BOOST_TEST(close(entry.rows, all));
    BOOST_TEST(close(entry.value - origin, sum / own));
    BOOST_TEST(close(entry.others - origin, other / rest));
    BOOST_TEST(close(entry.missing, 1 - own / all));
    BOOST_TEST(close(entry.difference, sum / own - other / rest));
    if (j == 2 || entry.category == 1) {  // constant
      BOOST_TEST((std::isnan(entry.effect) && entry.rank == 0));
      continue;
    }
    BOOST_TEST(close(entry.effect, (sum / own - other / rest) / std::sqrt(variance)));
    int before = 1;
    for (const ProfileEntry &next : entries)
      before += next.component == entry.component && std::abs(next.effect) > std::abs(entry.effect);
    BOOST_TEST(entry.rank == before);
  }
}

BOOST_AUTO_TEST_CASE(where_there_is_nothing_to_compare) {
  Profile one(1, {{}});
  one.add(std::vector<double>{hole}, std::vector<double>{1});
  BOOST_TEST(std::isnan(one.entries()[0].value));
  BOOST_TEST(one.entries()[0].missing == 1);
  one.add(std::vector<double>{5}, std::vector<double>{1});
  one.add(std::vector<double>{7}, std::vector<double>{1});
  const ProfileEntry entry = one.entries()[0];
  BOOST_TEST(entry.value == 6);
  BOOST_TEST((std::isnan(entry.others) && std::isnan(entry.effect) && entry.rank == 0));
  BOOST_TEST(std::abs(entry.missing - 1.0 / 3) < 1e-15);
  // A component without rows.
  Profile two(2, {{}});
  two.add(std::vector<double>{5}, std::vector<double>{1, 0});
  BOOST_TEST((two.entries()[1].rows == 0 && std::isnan(two.entries()[1].value)));
  BOOST_TEST(std::isnan(two.entries()[1].missing));
  BOOST_CHECK_EXCEPTION(Profile(10000, std::vector<std::vector<double>>(1600)), Error,
                        [](const Error &error) { return error.code() == Errc::too_large; });
}

BOOST_AUTO_TEST_SUITE_END()
