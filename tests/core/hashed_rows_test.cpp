// Minibatches that are chosen by hashes of rows.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "data/hashed_rows.hpp"
#include "data/row_order.hpp"
#include "fit/driver.hpp"
#include "mixture/gmm.hpp"
#include "support.hpp"

using namespace bayes;

namespace {

/// The number of rows in minibatches of one in ten: its mean, and its variance beside that of rows
/// that are chosen one by one.
void check_sizes(const HashedRows &hashed, int rows, Random &random) {
  constexpr int steps = 2000;
  double sum = 0, squares = 0;
  for (int step = 0; step < steps; ++step) {
    const double more =
        double(hashed.count({random.bits(), std::uint64_t(std::ldexp(0.1, 64))})) - 0.1 * rows;
    sum += more;
    squares += more * more;
  }
  const double variance = 0.09 * rows;
  BOOST_TEST(std::abs(sum) < 5 * std::sqrt(variance * steps));
  BOOST_TEST(std::abs(squares / steps / variance - 1) < 5 * std::sqrt(2.0 / steps));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hashed_rows)

BOOST_AUTO_TEST_CASE(rows_are_chosen_equally_often_and_independently) {
  MemoryRows rows({1, false});
  constexpr int n = 4000, steps = 400;
  for (int i = 0; i < n; ++i) {
    const double x = i;
    rows.append(&x);
  }
  Control control;
  const HashedRows hashed(rows, 0, control);
  MemoryRows batch({1, true});
  std::vector<int> times(n);
  std::int64_t all = 0, pairs = 0;
  Random random(5);
  std::vector<char> before(n);
  for (int step = 0; step < steps; ++step) {
    hashed.choose({random.bits(), std::uint64_t(std::ldexp(0.1, 64))}, batch);
    all += batch.rows();
    std::vector<char> now(n);
    for (std::int64_t i = 0; i < batch.rows(); ++i) {
      std::vector<double> block(batch.shape().block_doubles());
      batch.read_block(i / block_rows, block.data());
      const auto row = std::size_t(block[std::size_t(i % block_rows)]);
      now[row] = 1;
      ++times[row];
    }
    for (int i = 0; i < n; ++i) pairs += step > 0 && now[std::size_t(i)] && before[std::size_t(i)];
    before = now;
  }
  // Standard deviations of the sums: sqrt(n steps 0.1 0.9), and of Poisson numbers.
  BOOST_TEST(std::abs(double(all) - 0.1 * n * steps) < 5 * std::sqrt(0.09 * n * steps));
  BOOST_TEST(std::abs(double(pairs) - 0.01 * n * (steps - 1)) < 5 * std::sqrt(0.01 * n * steps));
  double squares = 0;
  for (const int each : times) squares += (each - 0.1 * steps) * (each - 0.1 * steps);
  BOOST_TEST(std::abs(squares / (0.09 * steps) / n - 1) < 5 * std::sqrt(2.0 / n));
}

BOOST_AUTO_TEST_CASE(equal_rows_are_chosen_one_by_one) {
  constexpr int n = 4000;
  Random random(17);
  for (const bool weighted : {false, true}) {
    // Half of the rows are equal, and the others are two of each; in order of arrival, and
    // arranged.
    MemoryRows rows({1, weighted}), arranged({1, weighted});
    std::vector<std::pair<std::uint64_t, double>> order;
    for (int i = 0; i < n; ++i) {
      const double x = i % 2 ? 0 : i / 4;
      rows.append(&x, 2);
      std::vector<double> block(std::size_t(2 * block_rows), 2);
      block[0] = x;
      std::uint64_t hash[block_rows];
      hash_block(1 + weighted, 0, block.data(), hash);
      order.push_back({hash[0], x});
    }
    std::sort(order.begin(), order.end());
    for (const auto &[hash, x] : order) arranged.append(&x, 2);
    Control control;
    const PollScope scope(control);
    const HashedRows one(rows, 0, control), other(arranged, 0, control), third(rows, 1, control);
    check_sizes(one, n, random);
    check_sizes(other, n, random);
    std::int64_t both = 0;
    for (int step = 0; step < 50; ++step) {
      const HashChoice choice = {random.bits(), std::uint64_t(std::ldexp(0.1, 64))};
      BOOST_TEST(one.count(choice) == other.count(choice));  // whatever the order is
      both += one.count(choice) == third.count(choice);
    }
    BOOST_TEST(both < 25);  // but not those of another part
  }
}

BOOST_AUTO_TEST_CASE(minibatches_of_rows_of_which_many_are_equal) {
  MemoryRows rows({2, false});
  Random random(23);
  for (int i = 0; i < 40000; ++i) {
    double x[] = {0, 0};
    if (i % 2) x[0] = 5 + random.uniform() + random.uniform(), x[1] = random.uniform();
    rows.append(x);
  }
  Document options = Document::object();
  options.set("method", "svi").set("restarts", 1).set("minibatch", "hash").set("batch_size", 200);
  Control control;
  const auto fit = gmm_fit(rows, 2, options, nullptr, false, control);
  double nearest = 9;
  fit->describe_parameters(0.9, [&](const Parameter &p) {
    if (p.name == std::string("mean")) nearest = std::min(nearest, std::abs(p.value));
  });
  BOOST_TEST(nearest < 0.01);
}

BOOST_AUTO_TEST_CASE(minibatches_are_as_large_as_the_memory_allows) {
  constexpr int d = 1000, n = 8100;  // 65 MB
  MemoryRows rows({d, false});
  std::vector<double> x(d);
  for (int i = 0; i < n; ++i) {
    x[0] = i;
    rows.append(x.data());
  }
  Control control;
  control.row_memory = 1e6;  // 64 MB are free
  const PollScope scope(control);
  const HashedRows hashed = hash_rows(rows, 0, control);
  MemoryRows batch({d, true});
  BOOST_CHECK_THROW(choose_minibatch(hashed, {1, ~std::uint64_t(0)}, batch, control), Error);
  choose_minibatch(hashed, {1, std::uint64_t(1) << 60}, batch, control);
  BOOST_TEST(batch.rows() == hashed.count({1, std::uint64_t(1) << 60}));
  control.memory = 8 * n - 1;
  BOOST_CHECK_THROW(hash_rows(rows, 0, control), Error);
}

BOOST_AUTO_TEST_SUITE_END()
