// Samplers of mixtures, apart from their exact posteriors: memory, large clusters, uninformative
// rows, real data, threads.
#include "sampler_exact.hpp"

using namespace samplers;

namespace {

/// The mean of a quantity over batches of sweeps.
using Quantities = std::vector<std::pair<
    std::string, std::function<double(double alpha, std::span<const int> labels, int clusters)>>>;
template <class Sampler>
std::vector<std::vector<double>> batch_means(Sampler &&sampler, const Quantities &quantities,
                                             int warmup, int sweeps) {
  Control control;
  std::vector<std::vector<double>> out(quantities.size(), std::vector<double>(batches));
  for (int t = 0; t < warmup; ++t) sampler.sweep(t, control);
  for (int t = 0; t < sweeps; ++t) {
    sampler.sweep(warmup + t, control);
    for (std::size_t q = 0; q < out.size(); ++q)
      out[q][std::size_t(t / (sweeps / batches))] +=
          quantities[q].second(sampler.concentration(), sampler.labels(), sampler.clusters()) /
          (sweeps / batches);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampler)

// No sampler opens more clusters than memory allows.
BOOST_AUTO_TEST_CASE(clusters_beyond_memory_are_refused) {
  const auto prior = normal_prior(full_covariance, 2);
  auto rows = support::rows_of(doubtful_rows(40, 2, 45));
  auto setting = setting_of(PartitionPrior::dirichlet_process(1e6), 46);
  setting.most_clusters = 10;
  for_each_sampler(rows, prior, setting, [&](const char *name, auto &&sampler) {
    Control control;
    BOOST_CHECK_EXCEPTION(sampler.sweep(0, control), Error, [&](const Error &error) {
      return error.code() == Errc::too_large &&
             std::string(error.what()).find("needs more than 10 clusters at once") !=
                 std::string::npos &&
             std::string(error.what()).find(name) != std::string::npos;
    });
  });
}

// Each sampler splits one cluster of many rows into the three true ones, bit-identically for rows
// in memory or in a file and any number of threads.
BOOST_AUTO_TEST_CASE(large_clusters_are_split) {
  const int n = 30000;
  Matrix x = support::normal_rows(n, 2, 71, 1);
  for (int i = 0; i < n; ++i) x(i, 0) += 12 * (i % 3);
  const auto prior = normal_prior(full_covariance, 2);
  const auto run = [&]<class Sampler>(std::type_identity<Sampler>, RowSource &rows, int threads,
                                      auto... components) {
    Control control;
    control.threads = threads;
    const auto partition = sizeof...(components) > 0 ? PartitionPrior::finite(5, 0.7) : process;
    Sampler sampler(rows, prior, setting_of(partition, 44), Labels(std::size_t(n), 0),
                    components..., control);
    for (int t = 0; t < 25; ++t) sampler.sweep(t, control);
    int large = 0;
    for (const double count : sampler.counts()) large += count > n / 4;
    BOOST_TEST(large == 3);
    return Labels(sampler.labels().begin(), sampler.labels().end());
  };
  auto rows = support::rows_of(x);
  RowsInFile file(x);
  using Q = NormalWishart;
  const Labels slice = run(std::type_identity<SliceSampler<Q>>{}, rows, 1),
               finite = run(std::type_identity<FiniteSampler<Q>>{}, rows, 1, 5);
  BOOST_TEST((run(std::type_identity<SliceSampler<Q>>{}, rows, 3) == slice));
  BOOST_TEST((run(std::type_identity<SliceSampler<Q>>{}, file, 2) == slice));
  BOOST_TEST((run(std::type_identity<FiniteSampler<Q>>{}, file, 3, 5) == finite));
  BOOST_TEST((run(std::type_identity<CollapsedSampler<Q>>{}, rows, 1) ==
              run(std::type_identity<CollapsedSampler<Q>>{}, rows, 2)));
  run(std::type_identity<MarginalSampler<Q>>{}, rows, 1);
}

// Uninformative rows, of the only category there is: the posterior is the prior.
BOOST_AUTO_TEST_CASE(without_information_the_prior_returns) {
  const auto prior = products::some_prior({{kind_of<Categorical>, 1}});
  const WithoutMoves<ProductPosterior> unmoved(prior);
  const int sweeps = effort(8000);
  for (const int n : {1, 20}) {
    auto rows = support::rows_of(Matrix::Zero(n, 1));
    Quantities quantities;
    const int most = std::min(n, 14);
    for (int k = 1; k <= most; ++k)
      quantities.emplace_back(
          "K = " + std::to_string(k),
          [k](double, std::span<const int>, int clusters) { return clusters == k; });
    quantities.emplace_back("K",
                            [](double, std::span<const int>, int clusters) { return clusters; });
    if (n > 1)
      quantities.emplace_back("together", [](double, std::span<const int> labels, int) {
        return labels.front() == labels.back();
      });
    quantities.emplace_back("alpha", [](double alpha, std::span<const int>, int) { return alpha; });
    quantities.emplace_back(
        "log alpha", [](double alpha, std::span<const int>, int) { return std::log(alpha); });
    quantities.emplace_back("alpha < 1",
                            [](double alpha, std::span<const int>, int) { return alpha < 1; });
    // Stirling numbers of the first kind.
    std::vector<double> stirling{1};
    for (int i = 0; i < n; ++i) {
      stirling.push_back(0);
      for (std::size_t k = stirling.size(); k-- > 0;)
        stirling[k] = i * stirling[k] + (k ? stirling[k - 1] : 0);
    }
    for (const double alpha : {0.0, 0.4, 6.0}) {  // 0: learned
      std::vector<double> exact;
      const auto average = [&](const std::function<double(double)> &f) {
        return alpha == 0 ? ConcentrationIntegral{gamma_prior, 0}.mean(0, f) : f(alpha);
      };
      for (int k = 1; k <= most; ++k)
        exact.push_back(average([&](double a) {
          return stirling[std::size_t(k)] *
                 std::exp(k * std::log(a) + std::lgamma(a) - std::lgamma(a + n));
        }));
      exact.push_back(average([&](double a) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += a / (a + i);
        return sum;
      }));
      if (n > 1) exact.push_back(average([](double a) { return 1 / (1 + a); }));
      exact.push_back(average([](double a) { return a; }));
      exact.push_back(average([](double a) { return std::log(a); }));
      exact.push_back(alpha == 0 ? 1 - std::exp(-1.5) * (1 + 1.5) : alpha < 1);  // Gamma(2, 1.5)
      const auto test = [&](const char *name, auto &&sampler) {
        const auto means = batch_means(sampler, quantities, 20, sweeps);
        for (std::size_t q = 0; q < quantities.size(); ++q) {
          if (exact[q] * sweeps < 100 && exact[q] > 0) continue;
          const double z = z_score(means[q], exact[q]);
          BOOST_TEST(std::abs(z) < largest_z, name << " n " << n << " alpha " << alpha << ' '
                                                   << quantities[q].first << ": " << z);
        }
      };
      const auto setting = setting_of(PartitionPrior::dirichlet_process(alpha == 0 ? 1 : alpha), 51,
                                      alpha == 0 ? &gamma_prior : nullptr);
      for_each_sampler(rows, prior, setting, test);
      for_each_sampler(rows, unmoved, setting, test);
    }
    // Finite mixtures: j given components of three hold all rows with probability P(j); inclusion
    // and exclusion make P(K = k).
    Control control;
    for (const double alpha : {0.7, 5.0}) {
      const auto of_three = PartitionPrior::finite(3, alpha);
      FiniteSampler<ProductPosterior> finite(rows, prior, setting_of(of_three, 52),
                                             Labels(std::size_t(n), 0), 3, control);
      CollapsedSampler<ProductPosterior> collapsed(rows, prior, setting_of(of_three, 53),
                                                   Labels(std::size_t(n), 0), control);
      const auto within = [&](int j) {
        return j == 0 ? 0
                      : std::exp(std::lgamma(3 * alpha) + std::lgamma(n + alpha * j) -
                                 std::lgamma(alpha * j) - std::lgamma(n + 3 * alpha));
      };
      const double exact[] = {3 * within(1), 3 * (within(2) - 2 * within(1)),
                              1 - 3 * within(2) + 3 * within(1)};
      const auto a = batch_means(finite, quantities, 20, sweeps),
                 b = batch_means(collapsed, quantities, 20, sweeps);
      for (std::size_t k = 0; k < 3 && int(k) < n; ++k) {
        // too seldom for a normal approximation
        if (exact[k] * sweeps < 100) continue;
        BOOST_TEST(std::abs(z_score(a[k], exact[k])) < largest_z);
        BOOST_TEST(std::abs(z_score(b[k], exact[k])) < largest_z);
      }
      for (std::size_t q = 0; q < quantities.size(); ++q)
        if (quantities[q].first == "together") {
          const double together = (1 + alpha) / (1 + 3 * alpha);
          BOOST_TEST(std::abs(z_score(a[q], together)) < largest_z);
          BOOST_TEST(std::abs(z_score(b[q], together)) < largest_z);
        }
    }
  }
}

BOOST_AUTO_TEST_CASE(samplers_agree_on_real_data) {
  Matrix x = support::data_set("galaxies");
  x = (x.array() - x.mean()).matrix();
  x /= std::sqrt(x.squaredNorm() / double(x.rows()));
  auto rows = support::rows_of(x);
  const NormalWishart prior{full_covariance,
                            Matrix::Zero(1, 1),
                            Vector::Constant(1, 0.01),
                            Vector::Constant(1, 3.0),
                            {Matrix::Constant(1, 1, 0.04)}};
  NormalClusters one(prior);
  const auto log_joint = [&](double, std::span<const int> labels, int k) {
    while (one.size()) one.close(one.size() - 1);
    for (int j = 0; j < k; ++j) one.open();
    for (std::size_t i = 0; i < labels.size(); ++i) one.add(labels[i], &x(Eigen::Index(i), 0));
    double total = process.log_probability(sizes(labels));
    for (int j = 0; j < k; ++j) total += one.log_marginal(j);
    return total;
  };
  Quantities quantities = {
      {"log joint", log_joint},
      {"alpha", [](double alpha, auto, int) { return alpha; }},
      {"0 with 20", [](double, auto labels, int) { return labels[0] == labels[20]; }}};
  for (int k = 3; k <= 8; ++k)
    quantities.emplace_back("K = " + std::to_string(k),
                            [k](double, auto, int clusters) { return clusters == k; });
  std::vector<std::vector<std::vector<double>>> of_samplers;
  for_each_sampler(rows, prior, setting_of(process, 61, &gamma_prior),
                   [&](const char *, auto &&sampler) {
                     of_samplers.push_back(batch_means(sampler, quantities, 500, effort(6000)));
                   });
  for (std::size_t q = 0; q < quantities.size(); ++q)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        // Chains are independent: so are differences of their batches.
        std::vector<double> differences(of_samplers[a][q]);
        for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= of_samplers[b][q][i];
        BOOST_TEST(std::abs(z_score(differences, 0)) < 4.5,
                   quantities[q].first << " of samplers " << a << " and " << b);
      }
}

BOOST_AUTO_TEST_CASE(eight_clusters_are_found_from_one) {
  Random random(71);
  const int n = 500;
  Matrix x(n, 2);
  Labels truth;
  for (int i = 0; i < n; ++i) {
    truth.push_back(i % 8);
    x(i, 0) = 20 * (i % 8 % 3) + random.normal();
    x(i, 1) = 20 * (i % 8 / 3) + random.normal();
  }
  auto rows = support::rows_of(x);
  const NormalWishart prior{full_covariance,
                            Eigen::Vector2d(20, 20),
                            Vector::Constant(1, 0.01),
                            Vector::Constant(1, 4.0),
                            {4 * Matrix::Identity(2, 2)}};
  for_each_sampler(rows, prior, setting_of(PartitionPrior::dirichlet_process(0.5), 72),
                   [&](const char *name, auto &&sampler) {
                     Control control;
                     int sweeps = 0;
                     // The clusters of a draw are the true ones.
                     const auto found = [&] {
                       Labels of(8, -1);
                       for (int i = 0; i < n; ++i) {
                         int &label = of[std::size_t(truth[std::size_t(i)])];
                         if (label < 0) label = sampler.labels()[std::size_t(i)];
                         if (label != sampler.labels()[std::size_t(i)]) return false;
                       }
                       return sampler.clusters() == 8;
                     };
                     while (!found() && sweeps < 300) sampler.sweep(sweeps++, control);
                     BOOST_TEST(found(), name);
                     BOOST_TEST_MESSAGE(name << " after " << sweeps << " sweeps");
                   });
}

BOOST_AUTO_TEST_CASE(any_number_of_threads_makes_the_same_draws) {
  const int n = 15000, d = 8;  // four pieces
  const Matrix x = support::normal_rows(n, d, 81, 5);
  auto rows = support::rows_of(x);
  const auto prior = normal_prior(full_covariance, d);
  Labels labels;
  for (int i = 0; i < n; ++i) labels.push_back(i % 3);
  const auto ten = PartitionPrior::finite(10, 0.7);
  const auto after = [&](auto make) {
    std::vector<Labels> out;
    for (const int threads : {1, 2, 3}) {
      Control control;
      control.threads = threads;
      auto sampler = make(control);
      for (int t = 0; t < 3; ++t) sampler.sweep(t, control);
      out.emplace_back(sampler.labels().begin(), sampler.labels().end());
      out.back().push_back(sampler.clusters());
    }
    BOOST_TEST((out[0] == out[1]));
    BOOST_TEST((out[0] == out[2]));
  };
  using Q = NormalWishart;
  after([&](Control &control) {
    return SliceSampler<Q>(rows, prior, setting_of(process, 82), labels, control);
  });
  after([&](Control &control) {
    return FiniteSampler<Q>(rows, prior, setting_of(ten, 83), labels, 10, control);
  });
}

BOOST_AUTO_TEST_SUITE_END()
