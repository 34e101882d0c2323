// The precision of the sums of a linear regression.
#include <algorithm>
#include <cmath>

#include "linreg_support.hpp"

using namespace linreg;

// Whole numbers of 52 bits, every seventh row a million times the others: sums by integers.
BOOST_AUTO_TEST_CASE(sums_have_nearly_a_hundred_bits) {
  using Integer = __int128;
  constexpr int n = 203, d = 12;
  for (const bool weighted : {false, true}) {
    Rows rows;
    Random random(8);
    for (int i = 0; i < n; ++i) {
      const double size = i % 7 == 3 ? 0x1p52 : 0x1p32;
      const auto number = [&] { return std::floor(size * (2 * random.uniform() - 1)); };
      rows.y.push_back(number());
      rows.x.emplace_back();
      for (int j = 0; j < d; ++j) rows.x.back().push_back(j == 5 ? 0 : number());
      if (weighted) rows.weight.push_back(1 + double(i % 3));
    }
    const LinregSums sums = sums_of(rows);
    const auto cell = [&](std::size_t row, int i) {
      return Integer(i == 0 ? 1 : i == 1 ? rows.y[row] : rows.x[row][std::size_t(i - 2)]);
    };
    const auto slow = [&](int i, int j) {
      Integer sum = 0;
      for (std::size_t row = 0; row < rows.size(); ++row)
        sum += Integer(rows.weight_of(row)) * cell(row, i) * cell(row, j);
      return sum;
    };
    for (int i = 0; i < sums.cells(); ++i)
      for (int j = 0; j <= i; ++j) {
        const DoubleDouble at = sums.at(i, j);
        const double error = double(Integer(at.hi) + Integer(at.lo) - slow(i, j)),
                     size = std::sqrt(double(slow(i, i)) * double(slow(j, j)));
        BOOST_CHECK_SMALL(error / std::max(size, 1.0), 0x1p-97);
      }
  }
}
