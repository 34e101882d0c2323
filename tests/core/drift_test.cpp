// Drift: tests of bins and means against closed forms, and above all that p is uniform where there
// is no drift, and small where there is.
#include "data/drift.hpp"
#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "drift_support.hpp"

using namespace bayes;
using namespace drifting;

BOOST_AUTO_TEST_SUITE(drift)

// 1,000 simulations without drift: p < 0.05 in 3 to 7 % of each column. A share of 0.05 has a
// standard error of 0.007; the seeds are fixed.
BOOST_AUTO_TEST_CASE(p_is_uniform_without_drift) {
  struct Case {
    int fitted, compared;
  };
  for (const Case &each : {Case{1000, 1500}, Case{2000, 200}, Case{300, 1200}})
    BOOST_TEST_CONTEXT(each.fitted << " rows, then " << each.compared) {
      Source source{Random(17, std::uint64_t(each.fitted), std::uint64_t(each.compared))};
      constexpr int simulations = 1000;
      std::vector<int> small(7, 0), half(7, 0);
      for (int i = 0; i < simulations; ++i) {
        const auto entries = simulate(source, each.fitted, each.compared);
        BOOST_REQUIRE(entries.size() == 7);
        for (std::size_t j = 0; j < 7; ++j) {
          small[j] += entries[j].p < 0.05;
          half[j] += entries[j].p < 0.5;
        }
      }
      for (std::size_t j = 0; j < 7; ++j) BOOST_TEST_CONTEXT("column " << j) {
          BOOST_TEST(small[j] >= 0.03 * simulations);
          BOOST_TEST(small[j] <= 0.07 * simulations);
          BOOST_TEST(std::abs(half[j] - 0.5 * simulations) <= 0.08 * simulations);
        }
    }
}

// The density test of a fitted model: its own rows are more probable than others by about as many
// nats as it has parameters, which the test has to take off.
BOOST_AUTO_TEST_CASE(p_of_whole_rows_is_uniform_under_a_fitted_model) {
  for (const int components : {1, 2}) BOOST_TEST_CONTEXT(components << " components") {
      constexpr int simulations = 1000, fitted = 200, compared = 400, d = 4;
      int small = 0, lower = 0;
      for (int i = 0; i < simulations; ++i) {
        Random random(23, std::uint64_t(i), std::uint64_t(components));
        const auto draw = [&](int n) {
          Matrix x(n, d);
          for (int r = 0; r < n; ++r) {
            const double centre = components == 2 && random.uniform() < 0.4 ? 6 : 0;
            for (int j = 0; j < d; ++j) x(r, j) = centre + random.normal() + (j > 0 ? x(r, 0) : 0);
          }
          return x;
        };
        const Matrix x = draw(fitted), y = draw(compared);
        std::shared_ptr<GaussianMixture> model =
            support::fit(x, components, {{"method", "em"}, {"restarts", 1}});
        MemoryRows rows = support::rows_of(x);
        Control control;
        model->info.reference = reference_of(*model, rows, 0, control);
        Drift drift(model);
        for (int r = 0; r < compared; ++r) drift.add(support::row(y, r));
        const DriftEntry whole = drift.entries()[0];
        small += whole.p < 0.05;
        lower += whole.z < 0;
      }
      BOOST_TEST(small >= 0.03 * simulations);
      BOOST_TEST(small <= 0.07 * simulations);
      BOOST_TEST(std::abs(lower - 0.5 * simulations) <= 0.08 * simulations);
    }
}

BOOST_AUTO_TEST_CASE(few_rows_give_no_false_alarms) {
  for (const int compared : {1, 5, 20}) BOOST_TEST_CONTEXT(compared << " rows") {
      Source source{Random(29, std::uint64_t(compared))};
      constexpr int simulations = 1000;
      std::vector<int> small(7, 0), tiny(7, 0);
      for (int i = 0; i < simulations; ++i) {
        const auto entries = simulate(source, 1000, compared);
        for (std::size_t j = 0; j < 7; ++j) {
          small[j] += entries[j].p < 0.05;
          tiny[j] += entries[j].p < 0.001;
        }
      }
      for (std::size_t j = 0; j < 7; ++j) BOOST_TEST_CONTEXT("column " << j) {
          BOOST_TEST(small[j] <= 0.07 * simulations);
          BOOST_TEST(tiny[j] <= 0.006 * simulations);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_shift_of_a_fifth_is_found_and_named) {
  for (int i = 0; i < 20; ++i) {
    Source source{Random(31, std::uint64_t(i))};
    const auto entries = simulate(source, 10000, 10000, 0.2);
    BOOST_TEST(entries[1].p < 1e-4);
    BOOST_TEST(entries[1].z > 3.5);
    for (const std::size_t j : {2, 3, 4, 5, 6}) BOOST_TEST(entries[j].p > entries[1].p);
  }
}

BOOST_AUTO_TEST_CASE(news_that_no_row_of_the_fit_has_is_found_in_few_rows) {
  std::vector<std::vector<double>> x(500, {0.0, 1.0, 0.0});
  for (std::size_t i = 0; i < x.size(); ++i) x[i][1] = std::sin(double(i)), x[i][2] = i % 2;
  const RowColumns columns = {
      {"constant", ValueKind::boolean}, {"number"}, {"label", ValueKind::label, {"a", "b"}}};
  const auto model = model_of(columns, x);
  const std::vector<std::vector<double>> as_before(x.begin(), x.begin() + 20);
  for (const DriftEntry &each : drift_of(model, as_before)) BOOST_TEST(!(each.p < 0.05));
  const auto news = drift_of(
      model, std::vector<std::vector<double>>(10, std::vector<double>{1, hole, unseen_category}));
  for (const std::size_t j : {1, 2, 3}) {
    BOOST_TEST(news[j].p < 1e-9);
    BOOST_TEST(news[j].z > 6);
    BOOST_TEST(news[j].distance == 1);
  }
  BOOST_TEST(news[2].nulls == 1);
  BOOST_TEST(news[2].nulls_fit == 0);
  BOOST_TEST(std::isnan(news[2].unknown));
  BOOST_TEST(news[3].unknown == 1);
  BOOST_TEST(news[0].unknown == 1);
  BOOST_TEST(news[0].nulls == 1);
}

// A new label is news where those of the fit are frequent, and none where most are rare.
BOOST_AUTO_TEST_CASE(unknown_labels_are_news_unless_labels_are_rare) {
  const RowColumns column = {{"label", ValueKind::label, {"a", "b", "c"}}};
  std::vector<std::vector<double>> fit, now;
  for (int i = 0; i < 93; ++i) {
    fit.push_back({double(i % 3)});
    now.push_back({i % 7 < 2 ? unseen_category : double(i % 3)});
  }
  const auto model = model_of(column, fit);
  const auto found = drift_of(model, now);
  BOOST_TEST(found[1].unknown_p < 1e-6);
  BOOST_TEST(found[0].unknown_p == found[1].unknown_p);
  BOOST_TEST(drift_of(model, fit)[1].unknown_p == 1);
  BOOST_TEST(drift_of(model, {now.begin(), now.begin() + 1})[1].unknown_p > 0.005);
  int alarms = 0;
  constexpr int runs = 300;
  for (int run = 0; run < runs; ++run) {
    Source source{Random(17, std::uint64_t(run))};
    RowColumns labels = {{"label", ValueKind::label, {}}};
    std::map<double, int> codes;
    std::vector<std::vector<double>> rows, later;
    for (int i = 0; i < 200; ++i) {
      const double label = source.row()[5];
      codes.emplace(label, int(codes.size()));
      rows.push_back({double(codes[label])});
    }
    for (std::size_t i = 0; i < codes.size(); ++i)
      labels[0].labels.push_back("l" + std::to_string(1000 + i));
    for (int i = 0; i < 150; ++i) {
      const auto known = codes.find(source.row()[5]);
      later.push_back({known == codes.end() ? unseen_category : double(known->second)});
    }
    alarms += drift_of(model_of(labels, rows), later)[1].unknown_p < 0.05;
  }
  // At most 5 %: above 35 of 300 with less than 1e-5.
  BOOST_TEST(alarms < 35);
}

BOOST_AUTO_TEST_CASE(rows_that_a_fit_leaves_out_are_left_out_of_tests) {
  std::vector<std::vector<double>> x;
  for (int i = 0; i < 400; ++i) x.push_back({std::sin(i), std::cos(3 * i)});
  auto y = x;
  for (std::size_t i = 0; i < y.size(); i += 2) y[i] = {100, hole};
  const RowColumns columns = {{"a"}, {"b"}};
  const auto skipped = drift_of(model_of(columns, x, "skip"), y),
             kept = drift_of(model_of(columns, x), y);
  for (const std::size_t j : {1, 2}) BOOST_TEST(skipped[j].p > 0.5);
  BOOST_TEST(skipped[2].nulls == 0.5);
  BOOST_TEST(std::isnan(skipped[2].nulls_fit));
  BOOST_TEST(skipped[0].p > 0.5);
  BOOST_TEST(kept[1].p < 1e-9);
  BOOST_TEST(kept[2].p < 1e-9);
  BOOST_TEST(kept[0].p < 1e-9);
}

BOOST_AUTO_TEST_CASE(tests_of_bins_are_those_of_tables) {
  const std::vector<BinPair> table = {{30, 60}, {70, 40}};
  const double determinant = 30.0 * 40 - 60.0 * 70,
               statistic = 200 * determinant * determinant / (90.0 * 110 * 100 * 100);
  const Comparison found = compare_bins(table, {}, true);
  BOOST_TEST(std::abs(found.p - gamma_above(0.5, statistic / 2)) < 1e-14);
  BOOST_TEST(std::abs(normal_below(-found.z) - found.p) < 1e-12);
  // Bins in which too few rows are expected are joined: the first two, and all from the fourth on.
  const std::vector<BinPair> numbers = {{20, 3}, {20, 1}, {40, 9}, {20, 2}, {20, 1}},
                             joined = {{40, 4}, {40, 9}, {40, 3}};
  BOOST_TEST(compare_bins(numbers, {}, false).p == compare_bins(joined, {}, false).p);
  const std::vector<BinPair> rare = {{1, 2}, {60, 40}, {40, 60}, {2, 1}},
                             common = {{61, 42}, {42, 61}};
  BOOST_TEST(compare_bins(rare, {}, true).p > compare_bins(common, {}, true).p / 10);
  BOOST_TEST(std::isnan(compare_bins({{50, 2}, {50, 2}}, {}, false).p));
  // A special bin by its exact probability: all three rows in it are new ones.
  const std::vector<BinPair> special = {{0, 3}};
  BOOST_TEST(std::abs(compare_bins({{1000, 7}}, special, false).p - 50 * std::pow(10.0 / 1010, 3)) <
             1e-12);
  // Where p underflows, z goes on.
  const std::vector<BinPair> far = {{1e4, 0}, {0, 1e4}}, farther = {{1e6, 0}, {0, 1e6}};
  BOOST_TEST(compare_bins(far, {}, true).p == 0);
  BOOST_TEST(compare_bins(far, {}, true).z > 40);
  BOOST_TEST(compare_bins(farther, {}, true).z > compare_bins(far, {}, true).z);
}

BOOST_AUTO_TEST_CASE(distances_are_from_0_to_1) {
  const auto distance = [](std::vector<BinPair> bins) { return jensen_shannon(bins); };
  BOOST_TEST(distance({{1, 0}, {0, 5}}) == 1);
  BOOST_TEST(distance({{1, 10}, {3, 30}}) == 0);
  // Of (1/2, 1/2) and (1, 0): half of log2(2 / 3 4) and so on, by hand.
  const double third = 0.75,
               divergence = 0.5 * (0.5 * std::log2(0.5 / third) + 0.5) - 0.5 * std::log2(third);
  BOOST_TEST(std::abs(distance({{5, 7}, {5, 0}}) - std::sqrt(divergence)) < 1e-14);
  BOOST_TEST(std::isnan(distance({{5, 0}, {5, 0}})));
}

BOOST_AUTO_TEST_CASE(tests_of_means_have_the_skewness_of_the_rows) {
  // One row of an exponential distribution, whose mean and deviation are 1: its tails are known.
  const Moments fit = {1e12, 1, 1, 2};
  const double high = 4;
  BOOST_TEST(std::abs(compare_means(fit, {1, high, 0, 0}, 0).p - 2 * std::exp(-high)) < 1e-6);
  BOOST_TEST(std::abs(compare_means(fit, {1, high, 0, 0}, 0).z - 3) < 1e-6);
  // The normal distribution without skewness; of means, optimism is taken off.
  const Moments even = {100, 0, 1, 0};
  const double error = std::sqrt(0.02 + 0.01);
  BOOST_TEST(std::abs(compare_means(even, {100, -0.5, 1, 0}, 0.2).z + 0.3 / error) < 1e-12);
  BOOST_TEST(std::abs(compare_means(even, {100, -0.5, 1, 0}, 0.2).p -
                      2 * normal_below(-0.3 / error)) < 1e-12);
  // At the shorter tail, and beyond the bound of the gamma distribution, p is the normal one.
  const Comparison beyond = compare_means({100, 1, 1, -2}, {1, 2.5, 0, 0}, 0);
  BOOST_TEST(std::abs(beyond.p - 2 * normal_below(-beyond.z)) < 1e-12);
}

BOOST_AUTO_TEST_CASE(counts_of_parts_are_added) {
  Source source{Random(41)};
  auto fit = source.rows(500), now = source.rows(300);
  RowColumns columns = {
      {"a"}, {"b"}, {"c"}, {"d"}, {"e", ValueKind::label}, {"f", ValueKind::label}};
  for (const std::size_t j : {4, 5}) recode(fit, now, j, columns[j].labels);
  const auto model = model_of(columns, fit);
  Drift all(model), some(model), rest(model);
  for (std::size_t i = 0; i < now.size(); ++i) {
    all.add(now[i]);
    (i % 3 ? some : rest).add(now[i]);
  }
  some.add_bytes(rest.to_bytes());
  BOOST_TEST(some.rows() == 300);
  const auto a = all.entries(), b = some.entries();
  for (std::size_t j = 0; j < a.size(); ++j) {
    BOOST_TEST((a[j].p == b[j].p || (std::isnan(a[j].p) && std::isnan(b[j].p))));
    BOOST_TEST(a[j].distance == b[j].distance);
    BOOST_TEST(a[j].nulls == b[j].nulls);
  }
  BOOST_TEST(a[0].log_density == b[0].log_density);
  BOOST_CHECK_THROW(some.add_bytes("short"), Error);
  const auto other = std::make_shared<Plain>(columns);
  BOOST_CHECK_THROW(Drift{other}, Error);
}

BOOST_AUTO_TEST_SUITE_END()
