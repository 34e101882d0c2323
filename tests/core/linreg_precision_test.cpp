// The precision of the sums of a linear regression.
#include <algorithm>
#include <cmath>

#include "linreg_support.hpp"

using namespace linreg;
using support::distance;

BOOST_AUTO_TEST_SUITE(linreg_precision)

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

// Weights that make a huge number a small term: the sums are those of the numbers without it.
BOOST_AUTO_TEST_CASE(weights_do_not_cost_digits) {
  Rows rows;
  for (int i = 1; i <= 47; ++i) {
    rows.y.push_back(2 * std::sin(i * i) + std::cos(i) / 10);
    rows.x.push_back({1e9 + std::sin(i * i)});
    rows.weight.push_back(1);
  }
  rows.y.push_back(1);
  rows.x.push_back({1e17});
  rows.weight.push_back(1e-36);
  const Options flat = {{"prior", prior({{"c", 0}, {"a", 0}, {"b", 0}})}};
  const auto slope = coefficients(*fit(sums_of(rows), flat))[1];
  // by rational arithmetic
  BOOST_CHECK_SMALL(slope.mean / 2.0087918069451334 - 1, 1e-12);
  BOOST_CHECK_SMALL(slope.sd / 0.016237924803996 - 1, 1e-11);
}

// A column that an outlier has left does not make others inexact.
BOOST_AUTO_TEST_CASE(an_outlier_that_has_left_a_window_is_forgotten) {
  const auto part = [](int begin, int end) {
    Rows rows;
    for (int i = begin; i < end; ++i) {
      rows.y.push_back(i == 3 ? 999999 : std::sin(i) / 10);
      rows.x.push_back({1.7e9 + i});
    }
    return rows;
  };
  auto window = std::make_unique<LinregAccumulator>(std::pmr::get_default_resource());
  add_rows(*window, part(1, 31));
  int declined = 0;
  for (int i = 31; i <= 100; ++i) {
    const Rows in = part(i, i + 1), out = part(i - 30, i - 29);
    window->add(in.y[0], in.x[0], 1);
    if (!window->remove(out.y[0], out.x[0], 1)) {
      ++declined;
      window = std::make_unique<LinregAccumulator>(std::pmr::get_default_resource());
      add_rows(*window, part(i - 29, i + 1));
    }
    const auto moved = coefficients(*fit(window->sums({}))),
               anew = coefficients(*fit(part(i - 29, i + 1)));
    BOOST_CHECK_SMALL(distance(moved[1].mean, anew[1].mean), 1e-9);
    BOOST_CHECK_SMALL(distance(moved[1].sd, anew[1].sd), 1e-9);
  }
  BOOST_CHECK_EQUAL(declined, 1);
}

BOOST_AUTO_TEST_SUITE_END()
