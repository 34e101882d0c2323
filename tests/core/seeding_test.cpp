// Starting points: the sketch of distinct rows, k-means++, and k-means.
//
// Seeds are fixed. Each statistical check has a false-alarm rate of 1e-5 over the choice of the
// seed.
#include "fit/seeding.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <map>
#include <set>

#include "data/sketch.hpp"
#include "support.hpp"

using namespace bayes;
using support::row;

namespace {

Control control;  // that never stops anything

bool has_frequencies(const std::vector<double> &counts, const std::vector<double> &probabilities) {
  double n = 0, statistic = 0;
  for (const double c : counts) n += c;
  int cells = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] == 0) {
      if (counts[i] != 0) return false;
      continue;
    }
    ++cells;
    statistic += (counts[i] - n * probabilities[i]) * (counts[i] - n * probabilities[i]) /
                 (n * probabilities[i]);
  }
  return statistic <
         boost::math::quantile(boost::math::complement(boost::math::chi_squared(cells - 1), 1e-5));
}

Eigen::Index index_of(const Matrix &x, const Vector &v) {
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    if (Vector(x.row(i)) == v) return i;
  return -1;
}

/// The rows and weights of a sketch, as a map.
std::map<std::vector<double>, double> content(const Sketch &sketch, int d) {
  std::map<std::vector<double>, double> out;
  MemoryRows rows = sketch.sorted();
  Buffer block(rows.shape().block_doubles());
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    rows.read_block(i / block_rows, block.data());
    std::vector<double> x;
    for (int j = 0; j <= d; ++j) x.push_back(block[std::size_t(j * block_rows + i % block_rows)]);
    const double weight = x.back();
    x.pop_back();
    BOOST_TEST(out.emplace(x, weight).second);  // rows are distinct
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seeding)

// Caught: squared distance without its square or its weight, distance to the last centre instead of
// the nearest.
BOOST_AUTO_TEST_CASE(kmeans_plus_plus_draws_by_weight_and_squared_distance) {
  Matrix x(5, 2);
  x << 0, 0, 1, 0, 0, 4, 6, 2, 1, 8;
  Vector w(5), deviation(2);
  w << 1, 2, 0.5, 3, 1.5;
  deviation << 1, 2;
  auto rows = support::rows_of(x, w);
  const auto squared = [&](Eigen::Index a, Eigen::Index b) {
    return (x.row(a) - x.row(b)).transpose().cwiseQuotient(deviation).squaredNorm();
  };
  std::vector<double> counts(125), probabilities(125);
  for (int trial = 0; trial < 40000; ++trial) {
    Random random(11, std::uint64_t(trial));
    const Matrix c = kmeans_plus_plus(rows, 3, deviation, random, control);
    const auto a = index_of(x, c.col(0)), b = index_of(x, c.col(1)), e = index_of(x, c.col(2));
    BOOST_REQUIRE((a >= 0 && b >= 0 && e >= 0));
    ++counts[std::size_t(25 * a + 5 * b + e)];
  }
  for (int a = 0; a < 5; ++a) {
    double second = 0;
    for (int b = 0; b < 5; ++b) second += w(b) * squared(a, b);
    for (int b = 0; b < 5; ++b) {
      double third = 0;
      for (int e = 0; e < 5; ++e) third += w(e) * std::min(squared(a, e), squared(b, e));
      for (int e = 0; e < 5; ++e)
        probabilities[std::size_t(25 * a + 5 * b + e)] =
            w(a) / w.sum() * w(b) * squared(a, b) / second * w(e) *
            std::min(squared(a, e), squared(b, e)) / third;
    }
  }
  BOOST_TEST(has_frequencies(counts, probabilities));
}

// Rows that miss elements may be equal once they are completed; there are centres all the same, one
// for each row.
BOOST_AUTO_TEST_CASE(equal_rows_are_drawn_once) {
  MemoryRows rows({1, true});
  double weight = 1;
  for (const double x : {3.0, 3.0, 3.0, 3.0}) rows.append(&x, weight *= 2);
  Random random(1);
  const Matrix centres = kmeans_plus_plus(rows, 4, Vector::Ones(1), random, control);
  BOOST_TEST(bool((centres.array() == 3).all()));
}

BOOST_AUTO_TEST_CASE(centres_are_distinct_rows) {
  for (const double factor : {1.0, 1e-200, 1e-320, 1e150}) {
    Matrix x = support::normal_rows(9, 2, 12) * factor;
    if (factor == 1e-200) x.array() += 1e-180;
    std::set<std::vector<double>> distinct;
    for (int i = 0; i < 9; ++i) distinct.insert(row(x, i));
    const int k = int(distinct.size());
    MemoryRows rows({2, true});
    for (const auto &r : distinct) rows.append(r.data(), 2);
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      Random one(trial), two(trial);
      for (const Matrix &c :
           {kmeans_plus_plus(rows, k, Vector::Ones(2), one, control), random_rows(rows, k, two)}) {
        std::set<std::vector<double>> drawn;
        for (int j = 0; j < k; ++j) drawn.insert({c(0, j), c(1, j)});
        BOOST_TEST_CONTEXT("factor " << factor) BOOST_TEST(bool(drawn == distinct));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(random_rows_draws_by_weight) {
  Matrix x(4, 1);
  x << 1, 2, 3, 4;
  Vector w(4);
  w << 1, 5, 2, 0.5;
  auto rows = support::rows_of(x, w);
  std::vector<double> counts(4);
  for (std::uint64_t trial = 0; trial < 20000; ++trial) {
    Random random(13, trial);
    ++counts[std::size_t(index_of(x, random_rows(rows, 2, random).col(0)))];
  }
  BOOST_TEST(has_frequencies(counts, {1 / 8.5, 5 / 8.5, 2 / 8.5, 0.5 / 8.5}));
}

BOOST_AUTO_TEST_CASE(the_sketch_holds_every_distinct_row_with_all_its_weight) {
  const Matrix some = support::normal_rows(500, 3, 14);
  Random random(15);
  Matrix x(20000, 3);
  Vector w(20000);
  std::map<std::vector<double>, double> expected;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    x.row(i) = some.row(Eigen::Index(random.below(500)));
    w(i) = double(1 + random.below(4));  // whole numbers add up exactly in any order
    expected[row(x, i)] += w(i);
  }
  for (const int threads : {1, 3}) {
    Control control;
    control.threads = threads;
    auto rows = support::rows_of(x, w);
    const Sketch sketch = Sketch::of(rows, control, 1, 500);
    BOOST_TEST(sketch.size() == expected.size());
    BOOST_TEST(bool(content(sketch, 3) == expected));
    // Too small for all rows: those retained have their whole weight.
    const Sketch small = Sketch::of(rows, control, 1, 100);
    BOOST_TEST(small.size() == 100u);
    BOOST_TEST(!small.complete());
    for (const auto &[r, weight] : content(small, 3)) BOOST_TEST(expected.at(r) == weight);
  }
}

BOOST_AUTO_TEST_CASE(the_sketch_does_not_depend_on_order_threads_or_pieces) {
  const Matrix x = support::normal_rows(60000, 2, 16);
  Matrix backwards = x.colwise().reverse();
  Control one, many;
  many.threads = 3;
  auto a = support::rows_of(x), b = support::rows_of(backwards);
  support::StretchedRows c(x, {}, 1);
  const auto expected = content(Sketch::of(a, one, 5, 1000), 2);
  BOOST_TEST(expected.size() == 1000u);
  BOOST_TEST(bool(content(Sketch::of(a, many, 5, 1000), 2) == expected));
  BOOST_TEST(bool(content(Sketch::of(b, many, 5, 1000), 2) == expected));
  BOOST_TEST(bool(content(Sketch::of(c, many, 5, 1000), 2) == expected));
  BOOST_TEST(bool(content(Sketch::of(a, one, 6, 1000), 2) != expected));
  // It is a representative sample: the mean of 1000 of the rows is near that of all (4.417 standard
  // errors each way).
  for (int j = 0; j < 2; ++j) {
    double mean = 0;
    for (const auto &[r, weight] : expected) mean += r[std::size_t(j)] / 1000;
    const double whole = x.col(j).mean(),
                 spread = std::sqrt((x.col(j).array() - whole).square().mean());
    BOOST_TEST(std::abs(mean - whole) < 4.417 * spread / std::sqrt(1000.0));
  }
}

BOOST_AUTO_TEST_CASE(kmeans_finds_clusters_that_are_far_apart) {
  for (const int d : {1, 2, 7}) {
    Matrix x(60, d);
    for (int i = 0; i < 60; ++i)
      x.row(i) = 0.01 * support::normal_rows(1, d, std::uint64_t(100 + i), 1).row(0).array() +
                 100.0 * (i % 4);
    const auto model = support::fit(x, 4, {{"method", "kmeans"}});
    for (int j = 0; j < 4; ++j) BOOST_TEST(model->component(j).count == 15);
    double within = 0;
    for (int c = 0; c < 4; ++c) {
      Matrix own(15, d);
      for (int i = 0; i < 15; ++i) own.row(i) = x.row(4 * i + c);
      within += (own.rowwise() - own.colwise().mean()).squaredNorm();
    }
    BOOST_TEST(support::distance(model->info.objective, -within) < 1e-9);
    for (int i = 0; i < 60; ++i)  // the mixture predicts the nearest centre
      BOOST_TEST(model->predict(row(x, i)) == model->predict(row(x, (i + 4) % 60)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
