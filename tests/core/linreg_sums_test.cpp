// Sufficient statistics of linear regression: the precision of their sums, parts, windows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "linreg_support.hpp"

using namespace linreg;
using support::distance;

namespace {

/// The sum of weight x cell i x cell j of rows without labels, in 113 bits.
double slow_sum(const Rows &rows, int i, int j) {
  const auto cell = [&](std::size_t row, int k) -> __float128 {
    return k == 0 ? 1 : k == 1 ? rows.y[row] : rows.x[row][std::size_t(k) - 2];
  };
  __float128 sum = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) sum += cell(r, i) * cell(r, j) * rows.weight_of(r);
  return double(sum);
}

double largest_difference(const LinregSums &a, const LinregSums &b) {
  double most = a.cells() == b.cells() ? 0 : std::numeric_limits<double>::infinity();
  for (int i = 0; i < a.cells(); ++i)
    for (int j = 0; j <= i; ++j) {
      const DoubleDouble size = sqrt(a.at(i, i) * a.at(j, j));
      most = support::larger(most, std::abs((a.at(i, j) - b.at(i, j)).hi) / size.hi);
    }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linreg_sums)

BOOST_AUTO_TEST_CASE(sums_are_exact_to_the_last_bit) {
  for (const int d : {0, 1, 6, 7, 13}) {
    for (const bool weighted : {false, true}) {
      Rows rows = random_rows(101, d, 3, 1e7);
      Random random(4);
      for (std::size_t i = 0; weighted && i < rows.size(); ++i)
        rows.weight.push_back(random.uniform());
      const LinregSums sums = sums_of(rows);
      BOOST_REQUIRE_EQUAL(sums.cells(), d + 2);
      BOOST_CHECK_EQUAL(sums.rows, 101);
      for (int i = 0; i < sums.cells(); ++i)
        for (int j = 0; j <= i; ++j) BOOST_CHECK_EQUAL(sums.at(i, j).hi, slow_sum(rows, i, j));
    }
  }
}

BOOST_AUTO_TEST_CASE(labels_are_indicators) {
  // Columns: a label, a number, a label. Codes are in order of appearance, not of their names.
  const RowColumns columns = {
      {"a", ValueKind::label, {"z", "y", "x"}}, {"n"}, {"b", ValueKind::label, {"q", "p"}}};
  Rows rows;
  Random random(9);
  for (int i = 0; i < 60; ++i) {
    rows.y.push_back(random.normal());
    rows.x.push_back({double(random.below(3)), random.normal(), double(random.below(2))});
    rows.weight.push_back(random.uniform());
  }
  Rows wide;  // the indicators as numbers, in the order that the sums have
  wide.y = rows.y;
  wide.weight = rows.weight;
  for (const auto &x : rows.x)
    wide.x.push_back({x[1], x[0] == 2.0, x[0] == 1.0, x[0] == 0.0, x[2] == 1.0, x[2] == 0.0});
  const LinregSums sums = sums_of(rows, columns), reference = sums_of(wide);
  BOOST_CHECK_SMALL(largest_difference(sums, reference), 1e-30);
  BOOST_CHECK(sums.columns[0].labels == std::vector<std::string>({"x", "y", "z"}));
  BOOST_CHECK_EQUAL(sums.cell_of(0), 3);
  BOOST_CHECK_EQUAL(sums.cell_of(1), 2);
  BOOST_CHECK_EQUAL(sums.cell_of(2), 6);
  std::int64_t count = 0;
  for (const auto &x : rows.x) count += x[0] == 1.0;
  BOOST_CHECK_EQUAL(sums.label_rows[1], count);
}

BOOST_AUTO_TEST_CASE(order_and_parts_do_not_matter) {
  const Rows rows = random_rows(90, 5, 7, 1e6);
  const LinregSums all = sums_of(rows);
  Rows reversed = rows;
  std::reverse(reversed.y.begin(), reversed.y.end());
  std::reverse(reversed.x.begin(), reversed.x.end());
  BOOST_CHECK_SMALL(largest_difference(all, sums_of(reversed)), 1e-30);
  LinregSums merged = sums_of(rows.part(0, 17));
  merged.add(sums_of(rows.part(17, 90)));
  BOOST_CHECK_SMALL(largest_difference(all, merged), 1e-30);
  BOOST_CHECK_EQUAL(merged.rows, 90);
  const auto a = coefficients(*fit(all)), b = coefficients(*fit(merged));
  for (std::size_t j = 0; j < a.size(); ++j) BOOST_CHECK_EQUAL(a[j].mean, b[j].mean);
}

BOOST_AUTO_TEST_CASE(parts_with_other_labels_are_united) {
  const auto part = [](std::vector<std::string> labels, std::vector<double> y, bool swapped) {
    RowColumns columns = {{"k", ValueKind::label, labels}, {"n"}};
    if (swapped) std::swap(columns[0], columns[1]);
    Rows rows;
    for (std::size_t i = 0; i < y.size(); ++i) {
      rows.y.push_back(y[i]);
      rows.x.push_back({double(i % labels.size()), double(i * i)});
      if (swapped) std::swap(rows.x.back()[0], rows.x.back()[1]);
    }
    return sums_of(rows, columns);
  };
  const std::vector<double> y = {1, 5, 2, 8, 3, 1};
  LinregSums left = part({"b", "d"}, y, false);
  left.add(part({"a", "c", "b"}, y, true));  // columns in another order
  BOOST_CHECK(left.columns[0].labels == std::vector<std::string>({"a", "b", "c", "d"}));
  BOOST_CHECK(left.label_rows == std::vector<std::int64_t>({2, 5, 2, 3}));
  BOOST_CHECK_EQUAL(left.at(response_cell, left.cell_of(0) + 1).hi, 1 + 2 + 3 + 2 + 1);
  BOOST_CHECK_EQUAL(left.at(left.cell_of(1), left.cell_of(0) + 3).hi, 1 + 9 + 25);
  LinregSums other = sums_of(random_rows(5, 2, 1));
  BOOST_CHECK_THROW(left.add(other), Error);
}

BOOST_AUTO_TEST_CASE(rows_that_are_removed_leave_nothing) {
  for (const double offset : {0.0, 1e8}) {
    const Rows rows = random_rows(3000, 3, 11, offset);
    LinregAccumulator window(std::pmr::get_default_resource());
    window.begin({}, 3, false);
    const std::size_t frame = 40;
    int declined = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      window.add(rows.y[i], rows.x[i], 1);
      if (i < frame) continue;
      declined += !window.remove(rows.y[i - frame], rows.x[i - frame], 1);
      if (i % 97 > 0) continue;
      const auto moved = coefficients(*fit(window.sums({})));
      const auto anew = coefficients(*fit(rows.part(i - frame + 1, i + 1)));
      for (std::size_t j = 1; j < moved.size(); ++j) {
        BOOST_CHECK_SMALL(distance(moved[j].mean, anew[j].mean), 1e-9);
        BOOST_CHECK_SMALL(distance(moved[j].sd, anew[j].sd), 1e-9);
      }
    }
    BOOST_CHECK_EQUAL(declined, 0);
  }
}

// A window over columns far from 0 that nearly determine each other, and the response. Declined, it
// is collected anew, as the server does it.
BOOST_AUTO_TEST_CASE(windows_over_columns_that_explain_each_other) {
  const auto part = [](int begin, int end) {
    Rows rows;
    for (int i = begin; i < end; ++i) {
      rows.y.push_back(1e9 + 6 * std::sin(i * 1.7) + 1e-4 * std::cos(i * i * 1.3));
      rows.x.push_back({1e9 + 2 * std::sin(i * 1.7), 1e3 * std::sin(i * 1.3),
                        1e3 * std::sin(i * 1.3) + std::cos(i * 0.7)});
    }
    return rows;
  };
  constexpr int frame = 50;
  auto window = std::make_unique<LinregAccumulator>(std::pmr::get_default_resource());
  window->begin({}, 3, false);
  add_rows(*window, part(1, frame + 1));
  for (int i = frame + 1; i <= 1500; ++i) {
    const Rows in = part(i, i + 1), out = part(i - frame, i - frame + 1);
    window->add(in.y[0], in.x[0], 1);
    if (!window->remove(out.y[0], out.x[0], 1)) {
      window = std::make_unique<LinregAccumulator>(std::pmr::get_default_resource());
      add_rows(*window, part(i - frame + 1, i + 1));
    }
    if (i % 50 > 0) continue;
    const auto moved = fit(window->sums({})), anew = fit(part(i - frame + 1, i + 1));
    BOOST_CHECK_SMALL(moved->noise_variance(0.9).mean / anew->noise_variance(0.9).mean - 1, 1e-9);
    const auto a = coefficients(*moved), b = coefficients(*anew);
    for (std::size_t j = 1; j < a.size(); ++j) {
      BOOST_CHECK_SMALL((a[j].mean - b[j].mean) / b[j].sd, 1e-9);
      BOOST_CHECK_SMALL(a[j].sd / b[j].sd - 1, 1e-9);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_removal_that_would_spoil_the_sums_is_declined) {
  const Rows rows = random_rows(50, 1, 12);
  LinregAccumulator window(std::pmr::get_default_resource());
  add_rows(window, rows);
  window.add(1, std::vector<double>{1e14}, 1);
  BOOST_CHECK(window.remove(rows.y[0], rows.x[0], 1));  // the large one is still there
  BOOST_CHECK(!window.remove(1, std::vector<double>{1e14}, 1));
}

BOOST_AUTO_TEST_CASE(labels_that_have_left_a_window_do_not_count) {
  LinregAccumulator window(std::pmr::get_default_resource());
  window.begin({{"k", ValueKind::label, {}}}, 1, false);
  double i = 0;
  for (bool kept = true; kept && i < 6000; ++i) {
    window.add(std::sin(i), {&i, 1}, 1);
    const double out = i - 30;
    if (out >= 0) kept = window.remove(std::sin(out), {&out, 1}, 1);
  }
  BOOST_CHECK_EQUAL(window.terms(), 30);
  BOOST_CHECK_LT(i, 2000);
}

BOOST_AUTO_TEST_CASE(sums_are_read_back) {
  LinregSums sums = sums_of(random_rows(20, 3, 2));
  sums.skipped = 7;
  const LinregSums read = LinregSums::from_bytes(sums.to_bytes());
  BOOST_CHECK_EQUAL(largest_difference(sums, read), 0);
  BOOST_CHECK_EQUAL(read.skipped, 7);
  BOOST_CHECK_EQUAL(read.to_document().to_json(), sums.to_document().to_json());
  std::string forged = sums.to_bytes();
  forged[forged.size() / 2] ^= 1;
  BOOST_CHECK_THROW(LinregSums::from_bytes(forged), Error);
  BOOST_CHECK_THROW(LinregSums::from_bytes(forged.substr(0, 30)), Error);
  Document wrong = sums.to_document();
  wrong.set("rows", -1);
  BOOST_CHECK_THROW(LinregSums::from_document(wrong), Error);
}

BOOST_AUTO_TEST_CASE(sums_that_overflow_are_refused) {
  Rows rows = random_rows(5, 1, 2);
  rows.weight.assign(5, 1e20);
  rows.x[0][0] = 1e150;
  BOOST_CHECK_THROW(sums_of(rows), Error);
  // of parts that are finite
  const Rows one = {{1e150}, {{1}}, {3e7}};
  LinregSums sums = sums_of(one);
  for (int i = 0; i < 4; ++i) sums.add(sums_of(one));
  BOOST_CHECK_THROW(sums.add(sums_of(one)), Error);
}

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
