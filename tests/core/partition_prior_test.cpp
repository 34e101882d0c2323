// The prior of partitions: it sums to 1, is exchangeable, and has the conditionals that samplers
// use.
#include "sampler_support.hpp"

using namespace samplers;

namespace {

struct Named {
  std::string name;
  PartitionPrior prior;
};
const std::vector<Named> priors = {{"process 0.2", PartitionPrior::dirichlet_process(0.2)},
                                   {"process 1", PartitionPrior::dirichlet_process(1)},
                                   {"process 7.5", PartitionPrior::dirichlet_process(7.5)},
                                   {"one", PartitionPrior::finite(1, 0.5)},
                                   {"three", PartitionPrior::finite(3, 0.7)},
                                   {"twenty", PartitionPrior::finite(20, 0.05)}};

/// Sum over all partitions of p(partition) f(sizes).
double mean(const PartitionPrior &prior, int n,
            const std::function<double(const std::vector<double> &)> &f) {
  double total = 0;
  for_each_partition(n, [&](const Labels &labels, int) {
    const auto counts = sizes(labels);
    const double log_p = prior.log_probability(counts);
    if (log_p > -1e300) total += std::exp(log_p) * f(counts);
  });
  return total;
}

/// Steps of the concentration's sampler with a fault: K for K - 1 in the odds and the shape; no
/// mixture of two gammas.
double one_cluster_more(const GammaPrior &prior, double concentration, int clusters, double n,
                        Random &random) {
  return draw_concentration(prior, concentration, clusters + 1, n, random);
}
double one_gamma(const GammaPrior &prior, double concentration, int clusters, double n,
                 Random &random) {
  return random.gamma(prior.shape + clusters) /
         (prior.rate - std::log(random.beta(concentration + 1, n)));
}

/// The largest difference of a long run's moments and distribution function from p(alpha | K, n),
/// in standard errors.
template <class Draw>
Largest compare_concentration(const GammaPrior &prior, int k, int n, Draw draw) {
  const ConcentrationIntegral integral{prior, n};
  const std::vector<std::pair<std::string, std::function<double(double)>>> quantities = {
      {"alpha", [](double a) { return a; }},
      {"log alpha", [](double a) { return std::log(a); }},
      {"1 / (1 + 10 alpha)", [](double a) { return 1 / (1 + 10 * a); }},
      {"1 / (1 + alpha)", [](double a) { return 1 / (1 + a); }},
      {"1 / (10 + alpha)", [](double a) { return 1 / (10 + a); }}};
  const int steps = effort(40000);
  Random random(5, std::uint64_t(k), std::uint64_t(n));
  double alpha = 1;
  for (int t = 0; t < 100; ++t) alpha = draw(prior, alpha, k, n, random);
  std::vector<std::vector<double>> means(quantities.size(), std::vector<double>(batches));
  for (int t = 0; t < steps; ++t) {
    alpha = draw(prior, alpha, k, n, random);
    for (std::size_t q = 0; q < means.size(); ++q)
      means[q][std::size_t(t / (steps / batches))] +=
          quantities[q].second(alpha) / (steps / batches);
  }
  Largest out;
  for (std::size_t q = 0; q < means.size(); ++q)
    out.take(z_score(means[q], integral.mean(k, quantities[q].second)), quantities[q].first);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(partition_prior)

BOOST_AUTO_TEST_CASE(probabilities_sum_to_one) {
  for (const auto &[name, prior] : priors)
    for (int n = 1; n <= 8; ++n)
      BOOST_TEST(std::abs(mean(prior, n, [](const auto &) { return 1.0; }) - 1) < 1e-12,
                 name << " n " << n);
  // 002 L10 prints n_k! for (n_k - 1)!, which does not sum to 1: it has an extra factor n_k for
  // every cluster.
  const PartitionPrior one = PartitionPrior::dirichlet_process(1);
  const auto printed = [](const std::vector<double> &counts) {
    double factor = 1;
    for (const double count : counts) factor *= count;
    return factor;
  };
  BOOST_TEST(std::abs(mean(one, 1, printed) - 1) < 1e-12);
  BOOST_TEST(std::abs(mean(one, 2, printed) - 1.5) < 1e-12);
  BOOST_TEST(mean(one, 8, printed) > 9);
}

BOOST_AUTO_TEST_CASE(only_the_multiset_of_sizes_matters) {
  for (const auto &[name, prior] : priors)
    for_each_partition(7, [&, &p = prior](const Labels &labels, int) {
      auto counts = sizes(labels);
      const double before = p.log_probability(counts);
      std::sort(counts.begin(), counts.end());
      do
        BOOST_TEST((before == p.log_probability(counts) ||
                    distance(before, p.log_probability(counts)) < 1e-13));
      while (std::next_permutation(counts.begin(), counts.end()));
    });
}

// For rows in sequence the normalised weights are ratios of probabilities. Marginalising the last
// row leaves the distribution of the others.
BOOST_AUTO_TEST_CASE(weights_are_ratios_of_probabilities) {
  for (const auto &[name, prior] : priors)
    for_each_partition(6, [&, &p = prior, &title = name](const Labels &labels, int clusters) {
      auto counts = sizes(labels);
      const double before = p.log_probability(counts);
      if (!(before > -1e300)) return;
      double sum = 0;
      for (int k = 0; k <= clusters; ++k) {
        const double log_weight =
            k < clusters ? std::log(p.weight(counts[std::size_t(k)])) : p.log_new(clusters);
        auto after = counts;
        if (k < clusters)
          ++after[std::size_t(k)];
        else
          after.push_back(1);
        const double log_after = p.log_probability(after);
        if (p.full(clusters) && k == clusters) {
          BOOST_TEST(log_weight == -std::numeric_limits<double>::infinity());
          BOOST_TEST(log_after == -std::numeric_limits<double>::infinity());
          continue;
        }
        BOOST_TEST(distance(log_weight - std::log(p.total(6)), log_after - before) < 1e-12, title);
        sum += std::exp(log_after - before);
      }
      BOOST_TEST(std::abs(sum - 1) < 1e-12, title);
      // The parts that moves of whole clusters use.
      double parts = 0;
      for (int k = 0; k < clusters; ++k)
        parts += p.log_birth(k) + p.log_cluster(counts[std::size_t(k)]);
      double normaliser = 0;
      for (int i = 0; i < 6; ++i) normaliser += std::log(p.total(i));
      BOOST_TEST(distance(parts - normaliser, before) < 1e-12, title);
    });
}

// E K_n = sum alpha / (alpha + i - 1), and Stirling numbers of the first kind (002 L10, 003).
BOOST_AUTO_TEST_CASE(the_number_of_clusters_has_its_distribution) {
  const double stirling[] = {0, 5040, 13068, 13132, 6769, 1960, 322, 28, 1};
  for (const double alpha : {0.2, 1.0, 7.5}) {
    const auto prior = PartitionPrior::dirichlet_process(alpha);
    double expected = 0, rising = 1;
    for (int i = 0; i < 8; ++i) {
      expected += alpha / (alpha + i);
      rising *= alpha + i;
    }
    BOOST_TEST(distance(mean(prior, 8, [](const auto &counts) { return double(counts.size()); }),
                        expected) < 1e-12);
    for (int k = 1; k <= 8; ++k)
      BOOST_TEST(
          distance(mean(prior, 8, [&](const auto &counts) { return int(counts.size()) == k; }),
                   stirling[k] * std::pow(alpha, k) / rising) < 1e-12);
    // Two rows are together with probability 1 / (1 + alpha).
    BOOST_TEST(distance(mean(prior, 8,
                             [](const auto &counts) {
                               double pairs = 0;
                               for (const double n : counts) pairs += n * (n - 1);
                               return pairs / 56;
                             }),
                        1 / (1 + alpha)) < 1e-12);
    // Many components with alpha / components each come near it.
    const auto many = PartitionPrior::finite(1000000, alpha / 1e6);
    for_each_partition(6, [&](const Labels &labels, int) {
      BOOST_TEST(std::abs(many.log_probability(sizes(labels)) -
                          prior.log_probability(sizes(labels))) < 1e-4);
    });
  }
}

BOOST_AUTO_TEST_CASE(finite_mixtures_are_exchangeable_over_components) {
  // Sum over all labelled allocations of Dirichlet-multinomial probabilities.
  const auto prior = PartitionPrior::finite(3, 0.7);
  std::map<std::int64_t, double> exact;
  const int n = 5;
  for (int code = 0; code < 243; ++code) {
    Labels labels;
    for (int i = 0, rest = code; i < n; ++i, rest /= 3) labels.push_back(rest % 3);
    double log_p = std::lgamma(2.1) - std::lgamma(n + 2.1), counts[3] = {};
    for (const int label : labels) ++counts[label];
    for (const double count : counts) log_p += std::lgamma(count + 0.7) - std::lgamma(0.7);
    exact[name_of(labels)] += std::exp(log_p);
  }
  std::size_t seen = 0;
  for_each_partition(n, [&](const Labels &labels, int clusters) {
    if (clusters > 3) return;
    ++seen;
    BOOST_TEST(distance(std::exp(prior.log_probability(sizes(labels))), exact.at(name_of(labels))) <
               1e-13);
  });
  BOOST_TEST(seen == exact.size());
}

BOOST_AUTO_TEST_CASE(draws_of_the_concentration_follow_its_conditional) {
  for (const GammaPrior prior :
       {GammaPrior{2, 4}, GammaPrior{1, 1}, GammaPrior{0.3, 0.1}, GammaPrior{20, 2}})
    for (const auto &[k, n] : std::vector<std::pair<int, int>>{
             {1, 1}, {1, 5}, {3, 10}, {10, 10}, {4, 1000}, {30, 200}}) {
      const Largest largest = compare_concentration(prior, k, n, draw_concentration);
      BOOST_TEST(largest.z < largest_z, "shape " << prior.shape << " K " << k << " n " << n << ": "
                                                 << largest.what << ' ' << largest.z);
    }
  for (const auto &wrong : {one_cluster_more, one_gamma}) {
    const double z = compare_concentration({2, 4}, 3, 10, wrong).z;
    BOOST_TEST((z > 3 * largest_z && std::isfinite(z)), z);
  }
}

BOOST_AUTO_TEST_SUITE_END()
