// The order of rows by their contents.
#include "data/row_order.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"

using namespace bayes;

namespace {

using Row = std::vector<double>;  // elements and weight

MemoryRows rows_of(const std::vector<Row> &rows) {
  MemoryRows out({int(rows[0].size()) - 1, true});
  for (const Row &row : rows) out.append(row.data(), row.back());
  return out;
}

/// The rows in order; `former`: their former numbers.
std::vector<Row> arranged(const std::vector<Row> &from, std::vector<std::uint32_t> &former) {
  MemoryRows rows = rows_of(from);
  Control control;
  control.threads = 2;
  former = arrange_rows(rows, control);
  const std::span<const Piece> pieces = rows.stretch(0);
  std::vector<Row> out(from.size(), Row(from[0].size()));
  const std::size_t in_piece = std::size_t(rows.shape().piece_rows());
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t j = 0; j < out[i].size(); ++j)
      out[i][j] =
          pieces[i / in_piece].blocks[i % in_piece / block_rows * rows.shape().block_doubles() +
                                      j * block_rows + i % block_rows];
  return out;
}

std::vector<Row> random_rows(std::size_t n, int numbers) {
  Random random(5);
  std::vector<Row> out(n, Row(std::size_t(numbers)));
  for (Row &row : out) {
    for (double &x : row) x = std::floor(4 * random.uniform());
    row.back() += 1;
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(row_orders)

// Caught: a weight that is not part of the hash, a piece mistaken for the next.
BOOST_AUTO_TEST_CASE(any_order_of_the_same_rows_becomes_the_same) {
  // several pieces, repeated rows, more than one bucket of the sort
  for (const auto &[n, numbers] :
       {std::pair(1, 2), {127, 3}, {1000, 102}, {20000, 3}, {20000, 8}}) {
    std::vector<Row> rows = random_rows(std::size_t(n), numbers);
    std::vector<std::uint32_t> former;
    const std::vector<Row> want = arranged(rows, former);
    std::vector<std::uint32_t> numbers_of_rows(rows.size());
    std::iota(numbers_of_rows.begin(), numbers_of_rows.end(), 0U);
    if (n == 1) continue;
    BOOST_TEST(std::is_permutation(former.begin(), former.end(), numbers_of_rows.begin()));
    for (std::size_t i = 0; i < rows.size(); ++i) BOOST_REQUIRE(want[i] == rows[former[i]]);
    BOOST_TEST((want != rows));

    Random random(9);
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
    BOOST_TEST((arranged(rows, former) == want));
    std::sort(rows.begin(), rows.end());
    BOOST_TEST((arranged(rows, former) == want));
    BOOST_TEST((arranged(want, former) == want));
    BOOST_TEST(former.empty());
  }
}

BOOST_AUTO_TEST_CASE(zeros_and_missing_values_have_one_hash) {
  std::vector<double> block(2 * block_rows, 1.0);
  block[1] = -0.0;
  block[0] = 0.0;
  block[2] = std::numeric_limits<double>::quiet_NaN();
  block[3] = -std::nan("7");
  block[4] = std::numeric_limits<double>::denorm_min();
  std::uint64_t hash[block_rows], other[block_rows];
  hash_block(2, 0, block.data(), hash);
  BOOST_TEST(hash[0] == hash[1]);
  BOOST_TEST(hash[2] == hash[3]);
  BOOST_TEST(hash[0] != hash[4]);
  BOOST_TEST(hash[0] != hash[2]);
  BOOST_TEST(hash[5] == hash[6]);
  hash_block(2, 1, block.data(), other);
  BOOST_TEST(hash[0] != other[0]);
}

BOOST_AUTO_TEST_SUITE_END()
