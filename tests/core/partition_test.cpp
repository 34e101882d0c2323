// Point estimates of a clustering from posterior draws, against enumeration and against the
// definitions.
//
// Seeds are fixed, so nothing here can fail by chance.
#include "partition/partition.hpp"

#include <numeric>

#include "partition_support.hpp"

using namespace partition_support;

namespace {

/// All partitions of n rows.
template <class Visit>
void each_partition(Labels &labels, std::size_t next, int clusters, Visit &&visit) {
  if (next == labels.size()) return visit(labels);
  for (int c = 0; c <= clusters; ++c) {
    labels[next] = c;
    each_partition(labels, next + 1, std::max(clusters, c + 1), visit);
  }
}

double least_expected_loss(const PartitionDraws &draws, PartitionLoss loss) {
  Labels labels(std::size_t(draws.rows()));
  double least = std::numeric_limits<double>::infinity();
  each_partition(labels, 0, 0, [&](const Labels &each) {
    least = std::min(least, expected_loss(draws, each, loss));
  });
  return least;
}

bool same(const PartitionEstimate &a, const PartitionEstimate &b) {
  return a.labels == b.labels && a.expected_loss == b.expected_loss &&
         a.probability == b.probability && a.radius == b.radius;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(partition)

BOOST_AUTO_TEST_CASE(expected_loss_agrees_with_its_definition) {
  for (int rep = 0; rep < 60; ++rep) {
    const int n = 1 + rep;
    const auto draws = random_draws(n, 1 + rep % 7, rep % 3, 11);
    const Labels labels = draw(random_draws(n, 1, (rep + 1) % 3, 12), 0);
    for (const auto loss : {PartitionLoss::binder, PartitionLoss::information,
                            PartitionLoss::bipartition, PartitionLoss::map})
      BOOST_TEST(
          close(expected_loss(draws, labels, loss), naive_expected_loss(draws, labels, loss)));
  }
}

BOOST_AUTO_TEST_CASE(losses_are_metrics_with_the_stated_scale) {
  for (const auto loss : losses) {
    const double most = loss == PartitionLoss::binder ? 1 : std::log2(40);
    for (int rep = 0; rep < 40; ++rep) {
      const auto three = random_draws(40, 3, rep % 3, std::uint64_t(100 + rep));
      const auto d = [&](int a, int b) {
        PartitionDraws one(40);
        one.add(draw(three, b));
        return expected_loss(one, draw(three, a), loss);
      };
      for (int a = 0; a < 3; ++a) BOOST_TEST(d(a, a) == 0);
      BOOST_TEST(close(d(0, 1), d(1, 0)));
      BOOST_TEST(d(0, 1) <= d(0, 2) + d(2, 1) + 1e-12);
      BOOST_TEST((d(0, 1) >= 0 && d(0, 1) <= most + 1e-12));
      BOOST_TEST((d(0, 1) > 0) == (dense(draw(three, 0)) != dense(draw(three, 1))));
    }
    Labels apart(40);
    std::iota(apart.begin(), apart.end(), 0);
    PartitionDraws together(40);
    together.add(Labels(40, 0));
    BOOST_TEST(close(expected_loss(together, apart, loss), most));
  }
}

BOOST_AUTO_TEST_CASE(estimates_do_not_depend_on_label_names_or_row_order) {
  for (int rep = 0; rep < 20; ++rep) {
    const int n = 12;
    const auto draws = random_draws(n, 9, rep % 3, std::uint64_t(200 + rep));
    const Labels labels = draw(random_draws(n, 1, 0, std::uint64_t(300 + rep)), 0);
    Random random(std::uint64_t(rep), 7);
    std::vector<std::size_t> order(std::size_t(n), 0);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    PartitionDraws other(n);
    Labels renamed, moved;
    for (int m = 0; m < draws.size(); ++m) {
      moved.clear();
      for (const std::size_t i : order) moved.push_back(draws.clusters(m) - 1 - draws.labels(m)[i]);
      other.add(moved);
    }
    for (const std::size_t i : order) renamed.push_back(-1000000 * (labels[i] - 3));
    for (const auto loss : losses) {
      BOOST_TEST(close(expected_loss(draws, labels, loss), expected_loss(other, renamed, loss)));
      BOOST_TEST(close(estimate(draws, loss).expected_loss, estimate(other, loss).expected_loss));
    }
  }
}

BOOST_AUTO_TEST_CASE(estimates_of_up_to_seven_rows_are_the_best_of_all_partitions) {
  for (const auto loss : losses)
    for (int rep = 0; rep < 150; ++rep) {
      const int n = 1 + rep % 7;
      const auto draws = random_draws(n, 1 + rep % 23, rep % 3, std::uint64_t(400 + rep));
      const auto e = estimate(draws, loss);
      BOOST_TEST(close(e.expected_loss, least_expected_loss(draws, loss)));
      BOOST_TEST(e.optimal);
      check_report(draws, e, loss, 0.9);
    }
}

BOOST_AUTO_TEST_CASE(the_search_finds_the_best_of_all_partitions_of_nine_rows) {
  int searched = 0;
  for (const auto loss : losses)
    for (int rep = 0; rep < 12; ++rep) {
      const auto draws = random_draws(9, 5 + rep, rep % 3, std::uint64_t(500 + rep));
      const auto e = estimate(draws, loss);
      searched += !e.optimal;
      BOOST_TEST(close(e.expected_loss, least_expected_loss(draws, loss)));
    }
  BOOST_TEST(searched >= 16);  // the others have rows that are together in every draw
}

BOOST_AUTO_TEST_CASE(rows_together_in_every_draw_form_one_pattern) {
  for (const auto loss : losses)
    for (int rep = 0; rep < 12; ++rep) {
      // Nine rows in four patterns, so that some partitions divide a pattern; and forty in eleven,
      // which are searched.
      for (const int n : {9, 40}) {
        const int kinds = n == 9 ? 4 : 11;
        const auto few = random_draws(kinds, 15, rep % 3, std::uint64_t(600 + rep));
        Random random(std::uint64_t(rep), 8);
        PartitionDraws draws(n);
        Labels kind;
        for (int i = 0; i < n; ++i)
          kind.push_back(i < kinds ? i : int(random.below(std::uint64_t(kinds))));
        for (int m = 0; m < few.size(); ++m) {
          Labels labels;
          for (const int k : kind) labels.push_back(few.labels(m)[std::size_t(k)]);
          draws.add(labels);
        }
        const auto e = estimate(draws, loss);
        for (int i = 0; i < n; ++i)
          BOOST_TEST(e.labels[std::size_t(i)] == e.labels[std::size_t(kind[std::size_t(i)])]);
        if (n == 9) BOOST_TEST(close(e.expected_loss, least_expected_loss(draws, loss)));
        check_report(draws, e, loss, 0.9);
      }
    }
}

BOOST_AUTO_TEST_CASE(an_estimate_is_never_worse_than_a_draw_or_a_neighbour,
                     *boost::unit_test::label("long")) {
  struct Case {
    int rows, draws, clusters;
    double doubt;
  };
  // The last two are searched in samples, of rows and of draws; to save time, under one loss each.
  for (const Case &c : {Case{60, 40, 4, 0.5}, Case{400, 100, 6, 1}, Case{250, 30, 60, 0.7},
                        Case{2000, 300, 5, 0.5}, Case{100, 6000, 4, 0.5}}) {
    const auto draws = planted_draws(c.rows, c.draws, c.clusters, c.doubt, 42);
    for (const auto loss : losses) {
      if (c.rows * c.draws > 500000 && (loss == PartitionLoss::binder) != (c.rows < c.draws))
        continue;
      const auto e = estimate(draws, loss);
      BOOST_TEST(close(e.expected_loss, expected_loss(draws, e.labels, loss)));
      for (int m = 0; m < draws.size(); m += 1 + draws.size() / 300)
        BOOST_TEST(e.expected_loss <= expected_loss(draws, draw(draws, m), loss) + 1e-12);
      // No move of one row, to another large cluster or to a new one, is better: the rows with the
      // least certain membership are tried.
      std::vector<std::size_t> order(e.labels.size());
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](std::size_t i, std::size_t j) { return e.probability[i] < e.probability[j]; });
      Random random(9);
      for (std::size_t rep = 0; rep < 300; ++rep) {
        Labels moved = e.labels;
        const int to = int(random.below(std::uint64_t(std::min(e.clusters, 6) + 1)));
        moved[order[rep / 3 % order.size()]] = to < 6 ? to : e.clusters;
        BOOST_TEST(e.expected_loss <= expected_loss(draws, moved, loss) + 1e-12);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_merge_of_two_clusters_is_better) {
  // With moves of single rows alone the search would stop earlier here.
  for (const auto &draws : {planted_draws(40, 30, 4, 0.7, 1), planted_draws(250, 30, 8, 0.9, 1)}) {
    const auto e = estimate(draws, PartitionLoss::information);
    for (int to = 0; to < e.clusters; ++to)
      for (int from = to + 1; from < e.clusters; ++from) {
        Labels merged = e.labels;
        std::replace(merged.begin(), merged.end(), from, to);
        BOOST_TEST(e.expected_loss <=
                   expected_loss(draws, merged, PartitionLoss::information) + 1e-12);
      }
  }
}

BOOST_AUTO_TEST_CASE(clear_clusters_are_found_at_any_size) {
  for (const int n : {30, 3000, 60000}) {
    const auto draws = planted_draws(n, 25, 5, 0.2, 77);
    Random random(77);
    Labels truth;
    for (int i = 0; i < n; ++i) {
      truth.push_back(int(random.below(5)));
      random.uniform();
    }
    for (const auto loss : losses) {
      const auto e = estimate(draws, loss);
      PartitionDraws one(n);
      one.add(dense(truth));
      BOOST_TEST(expected_loss(one, e.labels, PartitionLoss::binder) < 0.01);
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_draws_give_themselves_as_the_estimate) {
  for (const int k : {1, 3, 50, 400}) {
    PartitionDraws draws(400);
    Labels labels;
    for (int i = 0; i < 400; ++i) labels.push_back(i * 7 % k);
    for (int m = 0; m < 5; ++m) draws.add(labels);
    for (const auto loss : losses) {
      const auto e = estimate(draws, loss);
      BOOST_TEST(e.expected_loss == 0);
      BOOST_TEST(e.optimal);
      BOOST_TEST(e.clusters == k);
      BOOST_TEST(e.radius == 0);
      BOOST_TEST(std::count(e.probability.begin(), e.probability.end(), 1.0) == 400);
    }
  }
}

BOOST_AUTO_TEST_CASE(map_is_the_draw_of_largest_log_joint) {
  const auto draws = random_draws(20, 6, 1, 5);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  const auto chosen = [&](std::vector<double> log_joint) {
    const auto e = estimate_partition(draws, PartitionLoss::map, log_joint, 0.5, 1, control);
    check_report(draws, e, PartitionLoss::map, 0.5);
    for (int m = 0; m < draws.size(); ++m)
      if (naive_loss(e.labels, draw(draws, m), PartitionLoss::binder) == 0) return m;
    return -1;
  };
  BOOST_TEST(chosen({-5, -3, -4, -3, -9, -8}) == 1);
  BOOST_TEST(chosen({nan, -inf, -4, nan, -9, -3}) == 5);
  BOOST_TEST(chosen({nan, nan, -inf, -inf, nan, nan}) == 2);
  BOOST_TEST(chosen({nan, nan, nan, nan, nan, nan}) == 0);
  BOOST_TEST((error_of([&] { estimate(draws, PartitionLoss::map); }) == Errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(credible_balls_agree_with_their_definition_at_every_level) {
  const auto draws = random_draws(10, 20, 2, 6);
  for (const auto loss : losses)
    for (int percent = 1; percent <= 100; ++percent)
      check_report(draws, estimate(draws, loss, percent / 100.0), loss, percent / 100.0);
}

// Of many draws only some are searched, but the report is of all.
BOOST_AUTO_TEST_CASE(estimates_of_many_draws_rest_on_all, *boost::unit_test::label("long")) {
  for (const auto loss :
       {PartitionLoss::binder, PartitionLoss::information, PartitionLoss::bipartition}) {
    for (const auto &draws : {planted_draws(60, 1700, 4, 0.9, 4), planted_draws(7, 900, 3, 0.9, 5),
                              planted_draws(1400, 600, 4, 0.9, 6)}) {
      if (loss == PartitionLoss::bipartition && draws.rows() > 1000) continue;
      const auto e = estimate(draws, loss);
      if (draws.rows() < 100) check_report(draws, e, loss, 0.9);
      BOOST_TEST(close(e.expected_loss, expected_loss(draws, e.labels, loss)));
      const auto some = estimate(draws.evenly_spaced(500), loss);
      BOOST_TEST(e.expected_loss <= expected_loss(draws, some.labels, loss) + 1e-12);
      if (draws.rows() == 7 && loss != PartitionLoss::bipartition) {
        BOOST_TEST(e.optimal);
        BOOST_TEST(close(e.expected_loss, least_expected_loss(draws, loss)));
      }
    }
  }
  // The draws searched, every third, have another best partition than all.
  PartitionDraws draws(40);
  Labels even(40), odd(40), both(40);
  for (int i = 0; i < 40; ++i) {
    even[std::size_t(i)] = i % 2 * (i / 20 + 1);
    odd[std::size_t(i)] = i % 2 ? 0 : i / 20 + 1;
    both[std::size_t(i)] = i % 2;
  }
  for (int m = 0; m < 1500; ++m) draws.add(dense(m % 3 == 1 ? even : m % 3 == 0 ? odd : both));
  for (const auto loss : losses) {
    const auto e = estimate(draws, loss);
    BOOST_TEST(e.expected_loss < expected_loss(draws, even, loss));
    BOOST_TEST(close(e.expected_loss, expected_loss(draws, both, loss)));
  }
}

BOOST_AUTO_TEST_CASE(draws_numbered_by_size_and_some_of_them) {
  const auto draws = random_draws(50, 9, 1, 8);
  for (int m = 0; m < draws.size(); ++m) {
    const Labels labels = labels_by_size(draws, m);
    BOOST_TEST(naive_loss(labels, draw(draws, m), PartitionLoss::binder) == 0);
    PartitionDraws one(50);
    one.add(draw(draws, m));
    BOOST_TEST(labels == estimate(one, PartitionLoss::binder).labels);
  }
  const auto some = draws.evenly_spaced(3);
  BOOST_TEST((some.size() == 3 && some.rows() == 50));
  for (int j = 0; j < 3; ++j) {
    BOOST_TEST(draw(some, j) == draw(draws, 1 + 3 * j));
    BOOST_TEST(some.clusters(j) == draws.clusters(1 + 3 * j));
  }
}

BOOST_AUTO_TEST_CASE(estimates_depend_on_arguments_only) {
  Control busy;
  busy.threads = 7;
  for (const auto &draws :
       {planted_draws(60, 40, 4, 0.9, 4), planted_draws(1500, 400, 5, 0.5, 4)}) {
    const auto loss = draws.rows() == 60 ? PartitionLoss::binder : PartitionLoss::information;
    BOOST_TEST(same(estimate(draws, loss), estimate_partition(draws, loss, {}, 0.9, 1, busy)));
  }
}

BOOST_AUTO_TEST_CASE(searches_can_be_cancelled_anywhere) {
  struct Stopped {};
  struct Impatient : Control {
    int left;
    explicit Impatient(int polls) : left(polls) {}
    void poll() override {
      if (left-- == 0) throw Stopped();
    }
  };
  const auto draws = planted_draws(200, 60, 4, 0.9, 5);
  for (const auto loss :
       {PartitionLoss::binder, PartitionLoss::information, PartitionLoss::bipartition}) {
    int polls = 1;
    for (bool stopped = true; stopped; polls *= 3) {
      Impatient impatient(polls);
      try {
        estimate_partition(draws, loss, {}, 0.9, 1, impatient);
        stopped = false;
      } catch (const Stopped &) {
      }
    }
    BOOST_TEST(polls > 100);
  }
  Impatient impatient(3);
  BOOST_CHECK_THROW(similarity(draws, 1, impatient, [](auto, auto, auto) {}), Stopped);
}

BOOST_AUTO_TEST_CASE(invalid_arguments_are_refused) {
  PartitionDraws draws(3);
  // no draws
  BOOST_TEST((error_of([&] { estimate(draws, PartitionLoss::binder); }) == Errc::invalid_argument));
  BOOST_TEST((error_of([&] {
                expected_loss(draws, Labels{0, 0, 0}, PartitionLoss::binder);
              }) == Errc::invalid_argument));
  BOOST_TEST((error_of([&] { similarity(draws, 1, control, [](auto, auto, auto) {}); }) ==
              Errc::invalid_argument));
  for (const Labels &labels :
       {Labels{0, 0}, Labels{0, 1, 3}, Labels{0, -1, 1}, Labels{1, 1, 1}, Labels{-1, -1, -1}})
    BOOST_TEST((error_of([&] { draws.add(labels); }) == Errc::invalid_argument));
  BOOST_TEST(draws.size() == 0);
  draws.add(Labels{1, 0, 1});
  BOOST_TEST((draws.size() == 1 && draws.clusters(0) == 2 && draws.rows() == 3));
  BOOST_TEST((error_of([&] {
                expected_loss(draws, Labels{0, 0}, PartitionLoss::binder);
              }) == Errc::invalid_argument));
  for (const double level : {0.0, -1.0, 1.1, std::numeric_limits<double>::quiet_NaN()})
    BOOST_TEST((error_of([&] { estimate(draws, PartitionLoss::binder, level); }) ==
                Errc::invalid_argument));
  BOOST_TEST((error_of([] { PartitionDraws(0); }) == Errc::invalid_argument));
  BOOST_TEST((error_of([] { PartitionDraws(std::int64_t(1) << 31); }) == Errc::too_large));

  PartitionDraws large(70000);
  Labels labels(70000);
  for (int i = 0; i < 70000; ++i) labels[std::size_t(i)] = i % 65536;
  BOOST_TEST((error_of([&] { large.add(labels); }) == Errc::too_large));
  for (int &label : labels) label = label % 65535;
  large.add(labels);
  BOOST_TEST(large.clusters(0) == 65535);
  BOOST_TEST(estimate(large, PartitionLoss::information).expected_loss == 0);
  BOOST_TEST((error_of([&] { estimate(large, PartitionLoss::bipartition); }) == Errc::too_large));

  PartitionDraws one(1);
  one.add(Labels{0});
  BOOST_TEST(
      (error_of([&] { estimate(one, PartitionLoss::bipartition); }) == Errc::invalid_argument));
  const auto e = estimate(one, PartitionLoss::binder);
  BOOST_TEST((e.expected_loss == 0 && e.probability[0] == 1 && e.clusters == 1));

  Control poor;
  poor.memory = 1000;
  const auto many = planted_draws(500, 20, 4, 0.9, 5);
  BOOST_TEST((error_of([&] {
                estimate_partition(many, PartitionLoss::binder, {}, 0.9, 1, poor);
              }) == Errc::too_large));
}

BOOST_AUTO_TEST_SUITE_END()
