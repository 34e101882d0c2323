// The order of rows by their contents.
#include "data/row_order.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <map>
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

/// Asks to be polled again and again, and lets the work go on.
class Interrupting : public Control {
 public:
  bool pending() const noexcept override { return --left_ <= 0; }
  void poll() override {
    left_ = every_++;
    ++polls;
  }
  int polls = 0;

 private:
  int every_ = 2;
  mutable std::atomic<int> left_ = 1;
};

/// The rows in order; `former`: their former numbers.
std::vector<Row> arranged(const std::vector<Row> &from, RowNumbers &former, Control &control) {
  MemoryRows rows = rows_of(from);
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

std::vector<Row> arranged(const std::vector<Row> &from, RowNumbers &former) {
  Control control;
  control.threads = 2;
  return arranged(from, former, control);
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
    RowNumbers former;
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

// Equal rows too are numbered alike. Caught: sums of buckets that depend on the threads, a piece of
// work that cannot be done twice.
BOOST_AUTO_TEST_CASE(threads_and_interrupts_change_nothing) {
  const std::vector<Row> rows = random_rows(300000, 3);
  RowNumbers former, same;
  Control alone;
  const std::vector<Row> want = arranged(rows, former, alone);
  bool rising = true;
  for (std::size_t i = 1; i < rows.size(); ++i)
    rising &= want[i] != want[i - 1] || former[i - 1] < former[i];
  BOOST_TEST(rising);
  for (const int threads : {1, 2, 7}) {
    Control control;
    control.threads = threads;
    BOOST_TEST((arranged(rows, same, control) == want));
    BOOST_TEST((same == former));
    Interrupting interrupting;
    interrupting.threads = threads;
    BOOST_TEST((arranged(rows, same, interrupting) == want));
    BOOST_TEST((same == former));
    // Other threads may have done all the work before they are asked.
    BOOST_TEST(interrupting.polls > (threads == 1 ? 10 : 0));
  }
  // In order within the pieces, and not from one to the next.
  std::vector<Row> pieces = want;
  const auto piece = pieces.begin() + RowShape{2, true}.piece_rows();
  std::swap_ranges(pieces.begin(), piece, piece);
  BOOST_TEST((arranged(pieces, same) == want));
}

// Two rows, each many times, whose hashes begin alike. Caught: insertion into long runs, which
// would take longer than anybody waits.
BOOST_AUTO_TEST_CASE(hashes_that_begin_alike_are_told_apart) {
  std::map<std::uint64_t, double> known;
  std::vector<double> block(block_rows);
  std::uint64_t hash[block_rows];
  std::pair<double, double> pair;
  for (int i = 0; pair.first == pair.second; ++i) {
    std::iota(block.begin(), block.end(), double(i) * block_rows);
    hash_block(1, 0, block.data(), hash);
    for (int b = 0; b < block_rows; ++b) {
      const auto [at, fresh] = known.try_emplace(hash[b] >> 36, block[std::size_t(b)]);
      if (!fresh) pair = {at->second, block[std::size_t(b)]};
    }
  }
  MemoryRows rows({1, false});
  constexpr std::int64_t n = 1000000;
  for (std::int64_t i = 0; i < n; ++i) rows.append(i % 2 ? &pair.first : &pair.second);
  Control control;
  control.threads = 2;
  const RowNumbers former = arrange_rows(rows, control);
  std::int64_t wrong = 0;
  for (std::size_t i = 1; i < n; ++i) wrong += i != n / 2 && former[i] != former[i - 1] + 2;
  BOOST_TEST(wrong == 0);
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
