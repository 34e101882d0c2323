// Bipartitions against enumeration and against Boost's minimum cut; similarities; the assignment
// problem. Seeds are fixed.
#include <bit>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/stoer_wagner_min_cut.hpp>
#include <numeric>

#include "base/assignment.hpp"
#include "partition/partition_search.hpp"
#include "partition_support.hpp"

using namespace partition_support;

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix similarities(const PartitionDraws &draws) {
  Matrix s(std::size_t(draws.rows()));
  similarity(draws, 1, control, [&](std::int64_t row, std::span<const double> p, auto) {
    s[std::size_t(row)].assign(p.begin(), p.end());
  });
  return s;
}

/// The least expected Rand loss of all bipartitions, each obtained from the previous one by moving
/// one row; counted in pairs and draws.
double least_loss(const PartitionDraws &draws) {
  const Matrix s = similarities(draws);
  const std::size_t n = s.size();
  std::vector<std::vector<std::int64_t>> weight(n, std::vector<std::int64_t>(n, 0));
  std::int64_t sum = 0, least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      weight[i][j] = weight[j][i] = std::lround((2 * s[i][j] - 1) * draws.size());
      sum += std::lround((1 - s[i][j]) * draws.size());
    }
  std::vector<char> side(n, 0);
  for (std::uint32_t step = 1; step < std::uint32_t(1) << (n - 1); ++step) {
    const std::size_t i = std::size_t(std::countr_zero(step));
    for (std::size_t j = 0; j < n; ++j) sum += side[i] == side[j] ? weight[i][j] : -weight[i][j];
    side[i] ^= 1;
    least = std::min(least, sum);
  }
  return double(least) / draws.size() / (double(n) * double(n - 1) / 2);
}

double boosts_minimum_cut(const Graph &weights) {
  using Weighted = boost::property<boost::edge_weight_t, double>;
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Weighted>
      graph(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) boost::add_edge(i, j, weights[i][j], graph);
  return boost::stoer_wagner_min_cut(graph, boost::get(boost::edge_weight, graph));
}

/// The least expected Rand loss of all bipartitions if no two rows are more often apart than
/// together.
double least_loss_by_cut(const PartitionDraws &draws) {
  const Matrix s = similarities(draws);
  Graph graph(s.size());
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      BOOST_REQUIRE(s[i][j] >= 0.5);
      graph[i][j] = graph[j][i] = 2 * s[i][j] - 1;
      sum += 1 - s[i][j];
    }
  return (sum + boosts_minimum_cut(graph)) / (double(s.size()) * double(s.size() - 1) / 2);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bipartition)

BOOST_AUTO_TEST_CASE(small_bipartitions_are_the_best_of_all) {
  for (int rep = 0; rep < 110; ++rep) {
    const auto draws = random_draws(2 + rep % 9, 1 + rep % 12, rep % 3, std::uint64_t(700 + rep));
    const auto e = estimate(draws, PartitionLoss::bipartition);
    check_report(draws, e, PartitionLoss::bipartition, 0.9);
    BOOST_TEST(e.clusters == 2);
    BOOST_TEST(e.optimal);
    BOOST_TEST(close(e.expected_loss, least_loss(draws)));
  }
}

BOOST_AUTO_TEST_CASE(the_search_finds_the_best_of_all) {
  // 21 patterns are too many for exhaustive search. A local search from the minimum cut alone
  // misses these three.
  for (const auto &draws :
       {random_draws(21, 12, 0, 13), random_draws(21, 12, 1, 8), random_draws(21, 12, 1, 12)}) {
    const auto e = estimate(draws, PartitionLoss::bipartition);
    check_report(draws, e, PartitionLoss::bipartition, 0.9);
    BOOST_TEST(!e.optimal);
    BOOST_TEST(close(e.expected_loss, least_loss(draws)));
  }
}

BOOST_AUTO_TEST_CASE(minimum_cut_of_any_graph) {
  for (int rep = 0; rep < 200; ++rep) {
    Random random(std::uint64_t(rep), 41);
    const std::size_t n = 2 + random.below(30);
    const double share = random.uniform();
    Graph graph(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (random.uniform() < share || (i + j) % 3 == 0)
          graph[i][j] = graph[j][i] = double(random.below(1 + std::uint64_t(rep)));
    const Cut cut = minimum_cut(graph, control);
    double cost = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (cut.side[i] != cut.side[j]) cost += graph[i][j];
    const auto ones = std::count(cut.side.begin(), cut.side.end(), 1);
    BOOST_TEST((ones > 0 && ones < std::ptrdiff_t(n)));
    BOOST_TEST(cut.cost == cost);
    BOOST_TEST(cut.cost == boosts_minimum_cut(graph));
  }
}

BOOST_AUTO_TEST_CASE(without_negative_weights_it_is_a_minimum_cut) {
  int uneven = 0;
  for (int rep = 0; rep < 10; ++rep) {
    // In every other draw all rows are together; else there are two groups, with some misplaced
    // rows and sometimes mixed. So the cheapest cut is between the groups or around a row.
    Random random(std::uint64_t(rep), 31);
    PartitionDraws draws(60);
    for (int m = 0; m < 400; ++m) {
      Labels labels(60, 0);
      const bool mixed = random.uniform() < 0.01 * rep;
      if (m % 2)
        for (int i = 0; i < 60; ++i)
          labels[std::size_t(i)] = mixed || random.uniform() < 0.01 ? int(random.below(2)) : i < 25;
      draws.add(dense(labels));
    }
    const auto e = estimate(draws, PartitionLoss::bipartition);
    BOOST_TEST(e.optimal);
    BOOST_TEST(close(e.expected_loss, least_loss_by_cut(draws)));
    uneven += std::count(e.labels.begin(), e.labels.end(), 1) < 20;
  }
  BOOST_TEST((uneven > 2 && uneven < 8), uneven);
}

BOOST_AUTO_TEST_CASE(two_clear_clusters_are_proved_optimal) {
  const auto draws = planted_draws(300, 200, 2, 0.3, 8);
  const auto e = estimate(draws, PartitionLoss::bipartition);
  BOOST_TEST(e.optimal);
  Random random(8);
  Labels truth;
  for (int i = 0; i < 300; ++i) {
    truth.push_back(int(random.below(2)));
    random.uniform();
  }
  BOOST_TEST(naive_loss(e.labels, truth, PartitionLoss::binder) == 0);
}

BOOST_AUTO_TEST_CASE(rows_together_in_every_draw) {
  // One row is separated from the rest: n-1 of the n(n-1)/2 pairs are wrong.
  PartitionDraws one(50);
  one.add(Labels(50, 0));
  const auto single = estimate(one, PartitionLoss::bipartition);
  BOOST_TEST(single.optimal);
  BOOST_TEST(close(single.expected_loss, 49.0 / (50 * 49 / 2)));
  check_report(one, single, PartitionLoss::bipartition, 0.9);
  // Patterns of three rows, more than can be searched exhaustively or fewer, for which separating a
  // single row costs less than separating a pattern.
  for (const int kinds : {2, 6, 30}) {
    PartitionDraws draws(3 * kinds);
    for (int m = 0; m < 4 * kinds; ++m) {
      Labels labels;
      for (int i = 0; i < 3 * kinds; ++i) labels.push_back(i % kinds == m ? 1 : 0);
      draws.add(dense(labels));
    }
    const auto e = estimate(draws, PartitionLoss::bipartition);
    BOOST_TEST(e.optimal);
    BOOST_TEST(std::count(e.labels.begin(), e.labels.end(), 1) == 1);
    BOOST_TEST(close(e.expected_loss, least_loss_by_cut(draws)));
    check_report(draws, e, PartitionLoss::bipartition, 0.9);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(similarity_of_rows)

BOOST_AUTO_TEST_CASE(similarity_is_the_share_of_draws_together) {
  for (const int n : {1, 2, 16, 17, 255, 256, 257, 530}) {
    const auto draws = random_draws(n, 7, n % 3, 9);
    std::int64_t next = 0;
    bool right = true;
    similarity(
        draws, 1, control, [&](std::int64_t row, std::span<const double> probabilities, auto) {
          right = right && row == next++ && std::int64_t(probabilities.size()) == row;
          for (std::size_t j = 0; j < probabilities.size(); ++j)
            right = right && probabilities[j] == probability_together(draws, std::size_t(row), j);
        });
    BOOST_TEST(right);
    BOOST_TEST(next == n);
  }
  // More draws than a counter of two bytes holds.
  PartitionDraws many(3);
  for (int m = 0; m < 70000; ++m) many.add(m % 7 ? Labels{0, 0, 1} : Labels{0, 1, 0});
  similarity(many, 3, control, [&](std::int64_t row, std::span<const double> probabilities, auto) {
    if (row == 1) BOOST_TEST(probabilities[0] == 60000.0 / 70000);
    if (row == 2) BOOST_TEST((probabilities[0] == 10000.0 / 70000 && probabilities[1] == 0));
  });
}

// Of independent draws the standard error is known. Chains that disagree have a larger one.
BOOST_AUTO_TEST_CASE(standard_errors_of_similarities) {
  for (const bool agree : {true, false})
    for (const int size : {60, 2000, 9001}) {
      const int chains = size == 9001 ? 1 : 4;
      Random random(3, std::uint64_t(size));
      PartitionDraws draws(40);
      for (int m = 0; m < size; ++m) {
        Labels labels(40, 0);
        const double share = agree ? 0.6 : 0.3 + 0.6 * (chains * m / size % 2) * double(chains > 1);
        for (int i = 20; i < 40; ++i) labels[std::size_t(i)] = random.uniform() < share;
        draws.add(dense(labels));
      }
      double sum = 0, count = 0;
      const auto share_of = [&](double p, double error) {
        sum += error * error / (p * (1 - p) / size);
        ++count;
      };
      similarity(draws, chains, control, [&](std::int64_t row, auto p, auto mcse) {
        for (std::size_t j = 0; j < std::size_t(row); ++j)
          if (row < 20)
            BOOST_TEST((p[j] == 1 && std::isnan(mcse[j])));
          else
            share_of(p[j], mcse[j]);
      });
      const auto expected = [&](double ratio) {
        if (agree || chains == 1)
          BOOST_TEST((ratio > 0.8 && ratio < 1.5), size << ' ' << ratio);
        else
          BOOST_TEST(ratio > 0.02 * size, size << ' ' << ratio);
      };
      expected(sum / count);
      // each of the last row's certainty is the mean of its pairs
      Labels halves(40, 0);
      halves[39] = halves[38] = 1;
      sum = count = 0;
      const std::vector<double> errors = membership_mcse(draws, halves, chains, control);
      share_of(probability_together(draws, 38, 39), errors[39]);
      BOOST_TEST(errors[38] == errors[39]);
      if (agree) BOOST_TEST((sum > 0.3 && sum < 3), size << ' ' << sum);
    }
  // too few draws, or not as many of each chain
  for (const int chains : {2, 3}) {
    const auto few = random_draws(6, 10, 0, 4);
    similarity(few, chains, control, [](std::int64_t, auto, auto mcse) {
      for (const double error : mcse) BOOST_TEST(std::isnan(error));
    });
    for (const double error : membership_mcse(few, Labels(6, 0), chains, control))
      BOOST_TEST(std::isnan(error));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(assignment)

BOOST_AUTO_TEST_CASE(the_best_assignment) {
  Random random(3);
  for (int rep = 0; rep < 300; ++rep) {
    const int k = rep % 7;
    std::vector<double> overlap;
    for (int i = 0; i < k * k; ++i)
      overlap.push_back(rep % 2 ? double(random.below(4)) : 100 * random.normal());
    const auto value = [&](const std::vector<int> &p) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += overlap[std::size_t(i * k + p[std::size_t(i)])];
      return sum;
    };
    std::vector<int> p(std::size_t(k), 0);
    std::iota(p.begin(), p.end(), 0);
    const std::vector<int> identity = p;
    double best = -std::numeric_limits<double>::infinity();
    do best = std::max(best, value(p));
    while (std::next_permutation(p.begin(), p.end()));
    const std::vector<int> found = best_assignment(overlap, k);
    BOOST_TEST(std::is_permutation(found.begin(), found.end(), identity.begin(), identity.end()));
    BOOST_TEST(close(value(found), best));
  }
  // A hidden permutation that keeps nine tenths of its rows.
  const int k = 200;
  std::vector<double> counts(std::size_t(k * k));
  for (int i = 0; i < k; ++i)
    for (int r = 0; r < 100; ++r)
      ++counts[std::size_t(i * k + (r < 90 ? i * 7 % k : int(random.below(std::uint64_t(k)))))];
  const std::vector<int> p = best_assignment(counts, k);
  for (int i = 0; i < k; ++i) BOOST_TEST(p[std::size_t(i)] == i * 7 % k);
  BOOST_TEST((error_of([] { best_assignment({1, 2, 3}, 2); }) == Errc::invalid_argument));
  BOOST_TEST((error_of([] { best_assignment({}, -1); }) == Errc::invalid_argument));
  BOOST_TEST((error_of([] { best_assignment({std::numeric_limits<double>::quiet_NaN()}, 1); }) ==
              Errc::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
