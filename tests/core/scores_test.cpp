// Scores of rows: estimates and standard errors against sums of influences, in another order of
// computation and in long doubles.
#include "data/scores.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"

using namespace bayes;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Pair = std::array<Score, 2>;

/// Documents of different lengths under two models that agree in most of their scores.
std::vector<Pair> some_rows(int n, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<Pair> out;
  for (int i = 0; i < n; ++i) {
    const double tokens = 1 + double(random.below(20)), common = random.normal();
    Pair row;
    for (int m = 0; m < 2; ++m)
      row[std::size_t(m)] = {tokens, tokens * (-900 - 0.1 * m + common + 0.05 * random.normal()),
                             double(random.uniform() < 0.2 + 0.1 * m)};
    out.push_back(row);
  }
  return out;
}

/// Scores of single rows, whose error is a squared one.
std::vector<Pair> some_responses(int n) {
  Random random(2);
  std::vector<Pair> out;
  for (int i = 0; i < n; ++i) {
    const double common = random.normal();
    Pair row;
    for (int m = 0; m < 2; ++m) {
      const double error = 3 * common + random.normal() + m;
      row[std::size_t(m)] = {1, -5 - error * error, error * error};
    }
    out.push_back(row);
  }
  return out;
}

ScoreSums sums_of(const std::vector<Pair> &rows, int models = 2, int first = 0) {
  ScoreSums out(models);
  for (const Pair &row : rows)
    out.add(std::span(row).subspan(std::size_t(first), std::size_t(models)));
  return out;
}

/// sum(x) / sum(units), and for every row (x - ratio units) / sum(units).
struct Ratio {
  long double value = 0;
  std::vector<long double> influences;
  Ratio(const std::vector<Pair> &rows, std::size_t model, double Score::*number) {
    long double units = 0;
    for (const Pair &row : rows) {
      value += row[model].*number;
      units += row[model].units;
    }
    value /= units;
    for (const Pair &row : rows)
      influences.push_back((row[model].*number - value * row[model].units) / units);
  }
};

/// The difference f(a) - f(b), or f(a) without b; `slope` is f'.
template <class F, class G> ScoreEstimate expected(const Ratio &a, const Ratio *b, F f, G slope) {
  const long double n = (long double)(a.influences.size());
  long double squares = 0;
  for (std::size_t i = 0; i < a.influences.size(); ++i) {
    const long double each =
        slope(a.value) * a.influences[i] - (b ? slope(b->value) * b->influences[i] : 0);
    squares += each * each;
  }
  return {double(f(a.value) - (b ? f(b->value) : 0)), double(std::sqrt(squares * n / (n - 1)))};
}

void check(const ScoreEstimate &have, const ScoreEstimate &want) {
  BOOST_TEST(have.value == want.value, boost::test_tools::tolerance(1e-11));
  BOOST_TEST(have.standard_error == want.standard_error, boost::test_tools::tolerance(1e-9));
}

const auto same = [](long double x) { return x; };
const auto one = [](long double) { return 1.0L; };
const auto root = [](long double x) { return std::sqrt(x); };
const auto of_root = [](long double x) { return 0.5L / std::sqrt(x); };

/// Equal in all that is reported, to a tolerance.
void check_same(const ScoreSums &a, const ScoreSums &b) {
  BOOST_TEST(a.rows() == b.rows());
  check(a.log_density(), b.log_density());
  for (const ErrorMeasure measure : {ErrorMeasure::share, ErrorMeasure::root})
    check(a.error(measure), b.error(measure));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scores)

BOOST_AUTO_TEST_CASE(estimates_of_one_model) {
  const auto rows = some_rows(300), responses = some_responses(300);
  for (std::size_t m = 0; m < 2; ++m) {
    const ScoreSums sums = sums_of(rows, 1, int(m)), numbers = sums_of(responses, 1, int(m));
    BOOST_TEST(sums.rows() == 300);
    check(sums.log_density(), expected(Ratio(rows, m, &Score::log_density), nullptr, same, one));
    const Ratio errors(responses, m, &Score::error);
    check(numbers.error(ErrorMeasure::share), expected(errors, nullptr, same, one));
    check(numbers.error(ErrorMeasure::root), expected(errors, nullptr, root, of_root));
    BOOST_TEST(std::isnan(numbers.error(ErrorMeasure::none).value));
  }
}

BOOST_AUTO_TEST_CASE(estimates_of_differences) {
  const auto rows = some_rows(300), responses = some_responses(300);
  const ScoreSums sums = sums_of(rows), numbers = sums_of(responses);
  const Ratio density(rows, 0, &Score::log_density), other(rows, 1, &Score::log_density),
      error(responses, 0, &Score::error), other_error(responses, 1, &Score::error);
  check(sums.log_density(), expected(density, &other, same, one));
  check(numbers.error(ErrorMeasure::share), expected(error, &other_error, same, one));
  check(numbers.error(ErrorMeasure::root), expected(error, &other_error, root, of_root));
  // what rows have in common makes no difference
  BOOST_TEST(sums.log_density().standard_error <
             0.2 * sums_of(rows, 1).log_density().standard_error);
}

BOOST_AUTO_TEST_CASE(perplexities) {
  auto rows = some_rows(100);
  for (Pair &row : rows)
    for (Score &score : row) score.log_density /= 200;
  const Ratio a(rows, 0, &Score::log_density), b(rows, 1, &Score::log_density);
  const auto f = [](long double x) { return std::exp(-x); };
  const auto slope = [](long double x) { return -std::exp(-x); };
  check(sums_of(rows, 1).perplexity(), expected(a, nullptr, f, slope));
  check(sums_of(rows).perplexity(), expected(a, &b, f, slope));
}

BOOST_AUTO_TEST_CASE(few_rows) {
  const ScoreSums none;
  BOOST_TEST(std::isnan(none.log_density().value));
  BOOST_TEST(std::isnan(none.perplexity().value));
  BOOST_TEST(std::isnan(none.error(ErrorMeasure::share).value));
  const auto row = some_rows(1);
  const ScoreSums single = sums_of(row, 1);
  BOOST_TEST(single.log_density().value == row[0][0].log_density / row[0][0].units,
             boost::test_tools::tolerance(1e-14));
  BOOST_TEST(std::isnan(single.log_density().standard_error));
  // exact predictions
  ScoreSums exact(1);
  for (int i = 0; i < 3; ++i) exact.add(std::array{Score{1, -1.5, 0}});
  BOOST_TEST(exact.error(ErrorMeasure::root).value == 0);
  BOOST_TEST(exact.error(ErrorMeasure::root).standard_error == 0);
  BOOST_TEST(exact.log_density().standard_error == 0);
  // a model does not differ from itself
  ScoreSums twice(2);
  for (const Pair &each : some_rows(100)) twice.add(std::array{each[0], each[0]});
  BOOST_TEST(twice.log_density().value == 0);
  BOOST_TEST(twice.log_density().standard_error == 0);
  // nor from one that differs by rounding errors
  ScoreSums alike(2);
  for (const Pair &each : some_rows(100)) {
    Score other = each[0];
    other.log_density *= 1 - 2e-16;
    alike.add(std::array{each[0], other});
  }
  BOOST_TEST(alike.log_density().value == 0);
  BOOST_TEST(alike.log_density().standard_error == 0);
}

BOOST_AUTO_TEST_CASE(infinite_log_densities) {
  auto rows = some_rows(10);
  rows[3][0].log_density = -infinity;
  const ScoreSums first = sums_of(rows, 1), second = sums_of(rows, 1, 1), both = sums_of(rows);
  BOOST_TEST(first.log_density().value == -infinity);
  BOOST_TEST(std::isnan(first.log_density().standard_error));
  BOOST_TEST(first.perplexity().value == infinity);
  BOOST_TEST(std::isfinite(second.log_density().value));
  BOOST_TEST(both.log_density().value == -infinity);
  BOOST_TEST(both.perplexity().value == infinity);
  // errors are not touched
  check(both.error(ErrorMeasure::share), sums_of(some_rows(10)).error(ErrorMeasure::share));

  rows[5][1].log_density = -infinity;
  BOOST_TEST(std::isnan(sums_of(rows).log_density().value));
  rows[3][0].log_density = infinity;
  BOOST_TEST(sums_of(rows).log_density().value == infinity);
  rows[7][0].log_density = -infinity;
  BOOST_TEST(std::isnan(sums_of(rows, 1).log_density().value));
}

BOOST_AUTO_TEST_CASE(rows_are_removed_and_sums_merged) {
  auto rows = some_rows(60), more = some_rows(40, 9);
  rows[2][0].log_density = -infinity;
  ScoreSums moved = sums_of(rows);
  for (const Pair &row : more) moved.add(row);
  for (const Pair &row : rows) BOOST_TEST(moved.remove(row));
  check_same(moved, sums_of(more));
  BOOST_TEST(std::isfinite(moved.log_density().value));

  rows[2] = some_rows(1, 7)[0];
  ScoreSums merged = sums_of(rows);
  merged.merge(sums_of(more));
  auto all = rows;
  all.insert(all.end(), more.begin(), more.end());
  check_same(merged, sums_of(all));
  // the infinite ones too
  more[0][1].log_density = -infinity;
  merged.merge(sums_of(more));
  BOOST_TEST(merged.log_density().value == infinity);
}

BOOST_AUTO_TEST_CASE(removals_that_leave_no_digits_are_declined) {
  const auto rows = some_responses(50);
  Pair large = rows[0];
  large[1].error = 1e30;
  ScoreSums sums = sums_of(rows);
  sums.add(large);
  BOOST_TEST(!sums.remove(large));
  // of any magnitude, if that is all of the rows
  ScoreSums alone(2);
  alone.add(large);
  BOOST_TEST(alone.remove(large));
  BOOST_TEST(alone.rows() == 0);
  for (const Pair &row : rows) alone.add(row);
  check_same(alone, sums_of(rows));
}

BOOST_AUTO_TEST_SUITE_END()
