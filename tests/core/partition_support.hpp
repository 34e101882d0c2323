// Helpers for the tests of partitions: draws of many kinds, and the definitions of all members of
// an estimate.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "mcmc/diagnostics.hpp"
#include "partition/partition.hpp"

namespace partition_support {

using namespace bayes;

using Labels = std::vector<int>;

inline Control control;  // that never stops anything

inline const std::vector<PartitionLoss> losses = {PartitionLoss::binder,
                                                  PartitionLoss::information};

inline Labels dense(const Labels &labels) {
  std::vector<int> seen;
  Labels out;
  for (const int l : labels) {
    const auto at = std::find(seen.begin(), seen.end(), l);
    out.push_back(int(at - seen.begin()));
    if (at == seen.end()) seen.push_back(l);
  }
  return out;
}

inline int count_of(const Labels &labels) {
  return int(std::set<int>(labels.begin(), labels.end()).size());
}

inline Labels draw(const PartitionDraws &draws, int m) {
  return {draws.labels(m).begin(), draws.labels(m).end()};
}

/// Draws of different kinds: arbitrary ones, a partition with some rows in new places, one with
/// some rows moved between its clusters.
inline PartitionDraws random_draws(int rows, int size, int kind, std::uint64_t seed) {
  Random random(seed, std::uint64_t(rows), std::uint64_t(kind));
  PartitionDraws draws(rows);
  const int k = 1 + int(random.below(std::uint64_t(std::min(rows, 12))));
  const double share = random.uniform();
  Labels base(static_cast<std::size_t>(rows));
  for (int &label : base) label = int(random.below(std::uint64_t(k)));
  for (int m = 0; m < size; ++m) {
    const std::uint64_t own = 1 + random.below(std::uint64_t(rows));
    Labels labels = base;
    for (int &label : labels) {
      if (kind == 0)
        label = int(random.below(own));
      else if (random.uniform() < share)
        label = int(random.below(kind == 1 ? std::uint64_t(rows) : std::uint64_t(k)));
    }
    draws.add(dense(labels));
  }
  return draws;
}

/// Clusters with boundaries the less certain the larger `doubt` is, and draws that sometimes also
/// divide a cluster.
inline PartitionDraws planted_draws(int rows, int size, int k, double doubt, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> own, sure;
  for (int i = 0; i < rows; ++i) {
    own.push_back(double(random.below(std::uint64_t(k))));
    sure.push_back(1 - doubt * random.uniform());
  }
  PartitionDraws draws(rows);
  for (int m = 0; m < size; ++m) {
    const int divided = int(random.below(std::uint64_t(2 * k)));
    Labels labels;
    for (int i = 0; i < rows; ++i) {
      int label = int(own[std::size_t(i)]);
      if (random.uniform() > sure[std::size_t(i)]) label = int(random.below(std::uint64_t(k)));
      if (label == divided && random.uniform() < 0.3) label = k;
      labels.push_back(label);
    }
    draws.add(dense(labels));
  }
  return draws;
}

inline double naive_loss(const Labels &a, const Labels &b, PartitionLoss loss) {
  const std::size_t n = a.size();
  double sum = 0;
  if (loss != PartitionLoss::information) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) sum += (a[i] == a[j]) != (b[i] == b[j]);
    return n > 1 ? sum / (double(n) * double(n - 1) / 2) : 0;
  }
  // H(a|b) + H(b|a), row by row.
  for (std::size_t i = 0; i < n; ++i) {
    double in_a = 0, in_b = 0, both = 0;
    for (std::size_t j = 0; j < n; ++j) {
      in_a += a[i] == a[j];
      in_b += b[i] == b[j];
      both += a[i] == a[j] && b[i] == b[j];
    }
    sum += -std::log2(both / in_a) - std::log2(both / in_b);
  }
  return sum / double(n);
}

inline double naive_expected_loss(const PartitionDraws &draws, const Labels &labels,
                                  PartitionLoss loss) {
  double sum = 0;
  for (int m = 0; m < draws.size(); ++m) sum += naive_loss(labels, draw(draws, m), loss);
  return sum / draws.size();
}

inline PartitionEstimate estimate(const PartitionDraws &draws, PartitionLoss loss,
                                  double level = 0.9, std::uint64_t seed = 1) {
  return estimate_partition(draws, loss, {}, level, seed, control);
}

inline bool close(double a, double b) {
  return std::abs(a - b) <= 1e-12 * std::max({1.0, std::abs(a), std::abs(b)});
}

inline double probability_together(const PartitionDraws &draws, std::size_t i, std::size_t j) {
  double together = 0;
  for (int m = 0; m < draws.size(); ++m) together += draws.labels(m)[i] == draws.labels(m)[j];
  return together / draws.size();
}

/// All members of an estimate except its labels, from the definitions.
inline void check_report(const PartitionDraws &draws, const PartitionEstimate &e,
                         PartitionLoss loss, double level) {
  const std::size_t n = std::size_t(draws.rows());
  BOOST_REQUIRE_EQUAL(e.labels.size(), n);
  BOOST_TEST(e.clusters == count_of(e.labels));
  std::vector<double> size(static_cast<std::size_t>(e.clusters)), first(size);
  for (std::size_t i = n; i-- > 0;) {
    ++size[std::size_t(e.labels[i])];
    first[std::size_t(e.labels[i])] = double(i);
  }
  for (std::size_t c = 1; c < size.size(); ++c)
    BOOST_TEST((size[c - 1] > size[c] || (size[c - 1] == size[c] && first[c - 1] < first[c])));
  BOOST_TEST(close(e.expected_loss, naive_expected_loss(draws, e.labels, loss)));

  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0, others = 0, alone = 0;
    for (std::size_t j = 0; j < n; ++j)
      if (j != i && e.labels[j] == e.labels[i]) {
        sum += probability_together(draws, i, j);
        ++others;
      }
    for (int m = 0; m < draws.size(); ++m) {
      const auto labels = draws.labels(m);
      alone += std::count(labels.begin(), labels.end(), labels[i]) == 1;
    }
    BOOST_TEST(close(e.probability[i], others > 0 ? sum / others : alone / draws.size()));
    BOOST_TEST((e.probability[i] >= 0 && e.probability[i] <= 1));
  }

  std::vector<double> distance;
  for (int m = 0; m < draws.size(); ++m)
    distance.push_back(naive_loss(e.labels, draw(draws, m), loss));
  const auto within = [&](double r) {
    return double(
        std::count_if(distance.begin(), distance.end(), [&](double d) { return d <= r + 1e-12; }));
  };
  BOOST_TEST(within(e.radius) >= level * draws.size() - 1e-9);
  BOOST_TEST(within(e.radius - 1e-9) < level * draws.size() - 1e-9);
  const Chain chain[] = {{1, distance}};
  const double error = mcse_mean(chain, control).value_or(-1);
  BOOST_TEST((error < 0 ? std::isnan(e.mcse) || e.mcse < 1e-9
                        : std::abs(e.mcse - error) <= 1e-6 * error + 1e-12));
  const auto distant = [&](int m) { return distance[std::size_t(m)]; };
  for (int m = 0; m < draws.size(); ++m) {
    if (distant(m) > e.radius + 1e-12) continue;
    BOOST_TEST(distant(m) <= distant(e.horizontal) + 1e-12);
    if (draws.clusters(m) == draws.clusters(e.upper))
      BOOST_TEST(distant(m) <= distant(e.upper) + 1e-12);
    if (draws.clusters(m) == draws.clusters(e.lower))
      BOOST_TEST(distant(m) <= distant(e.lower) + 1e-12);
  }
  BOOST_TEST(draws.clusters(e.upper) == e.fewest_clusters);
  BOOST_TEST(draws.clusters(e.lower) == e.most_clusters);
  for (const int bound : {e.upper, e.lower, e.horizontal})
    BOOST_TEST(distant(bound) <= e.radius + 1e-12);
  int fewest = 1 << 30, most = 0;
  for (int m = 0; m < draws.size(); ++m) {
    if (distance[std::size_t(m)] > e.radius + 1e-12) continue;
    fewest = std::min(fewest, draws.clusters(m));
    most = std::max(most, draws.clusters(m));
  }
  BOOST_TEST(e.fewest_clusters == fewest);
  BOOST_TEST(e.most_clusters == most);
}

template <class F> Errc error_of(F &&run) {
  try {
    run();
  } catch (const Error &error) {
    BOOST_TEST(std::string(error.what()) != "");
    return error.code();
  }
  BOOST_TEST(false, "no error");
  return Errc::internal;
}

}  // namespace partition_support
