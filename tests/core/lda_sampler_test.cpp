// The samplers of topic models against the enumeration of all assignments of a few tokens, and by
// joint-distribution tests; chains, matching of topics, errors.
#include "lda_support.hpp"

using namespace topics;

BOOST_AUTO_TEST_SUITE(lda_sampler)

namespace {

const std::vector<Tokens> documents = {{0, 0, 1, 3}, {1, 2, 2}, {0, 3}, {}};
constexpr std::int32_t terms = 4;

struct Path {
  const char *name;
  std::unique_ptr<TopicSampler> (*make)(TopicChain &, Sparsity);
  Sparsity sparsity;
};
const Path paths[] = {{"collapsed", collapsed_topics, Sparsity::never},
                      {"collapsed, sparse", collapsed_topics, Sparsity::always},
                      {"gibbs", gibbs_topics, Sparsity::never},
                      {"gibbs, sparse", gibbs_topics, Sparsity::always}};

/// Of an assignment: which tokens are in which topic, and which two are in one.
std::vector<double> indicators(const std::vector<int> &z, int k) {
  std::vector<double> out;
  for (std::size_t i = 0; i < z.size(); ++i) {
    for (int j = 0; j < k; ++j) out.push_back(z[i] == j);
    for (std::size_t h = 0; h < i; ++h) out.push_back(z[h] == z[i]);
  }
  return out;
}

/// Means of the indicators under p(z | w), which is proportional to exp(log_joint(z)).
std::vector<double> exact_means(int k,
                                const std::function<double(const std::vector<int> &)> &log_joint) {
  std::vector<double> out;
  double total = 0;
  each_assignment(9, k, [&](const std::vector<int> &z) {
    const auto values = indicators(z, k);
    const double p = std::exp(log_joint(z));
    out.resize(values.size(), 0.0);
    for (std::size_t q = 0; q < values.size(); ++q) out[q] += p * values[q];
    total += p;
  });
  for (double &mean : out) mean /= total;
  return out;
}

void check(const LdaPrior &prior, const DrawnPrior &drawn, const std::vector<double> &exact,
           const std::string &name, int iterations) {
  const int k = int(prior.alpha.size());
  MemoryCorpus corpus = corpus_of(documents, terms);
  Control control;
  const TokenIndex index(corpus, control);
  for (const Path &path : paths) {
    TopicChain chain(corpus, index, prior, 21, 0);
    const auto sampler = path.make(chain, path.sparsity);
    begin_topics(chain, control);
    BatchMeans means(iterations);
    for (int t = 0; t < iterations; ++t) {
      sampler->sweep(t, control);
      Random random(22, std::uint64_t(t));
      draw_prior(chain, drawn, random);
      means.add(indicators({chain.assigned.begin(), chain.assigned.end()}, k));
    }
    BOOST_TEST_REQUIRE(means.quantities() == exact.size());
    for (std::size_t q = 0; q < exact.size(); ++q)
      BOOST_TEST(means.z_score(q, exact[q]) < largest_z,
                 name << ", " << path.name << ": quantity " << q << " is "
                      << means.z_score(q, exact[q]) << " standard errors off");
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_assignments_symmetric) {
  const LdaPrior prior{{0.7, 0.7, 0.7}, 0.4, {}};
  check(
      prior, {},
      exact_means(
          3, [&](const std::vector<int> &z) { return slow_log_joint(documents, terms, prior, z); }),
      "symmetric", effort(40000));
}

BOOST_AUTO_TEST_CASE(all_assignments_asymmetric_alpha_and_large_eta) {
  const LdaPrior prior{{0.3, 1.9}, 1.3, {}};
  check(
      prior, {},
      exact_means(
          2, [&](const std::vector<int> &z) { return slow_log_joint(documents, terms, prior, z); }),
      "asymmetric", effort(40000));
}

BOOST_AUTO_TEST_CASE(all_assignments_seeded_topics) {
  const LdaPrior prior{{0.5, 0.8}, 0.2, added(terms, 2, {{0, 0, 1.5}, {2, 1, 0.3}, {3, 1, 2}})};
  check(
      prior, {},
      exact_means(
          2, [&](const std::vector<int> &z) { return slow_log_joint(documents, terms, prior, z); }),
      "seeded", effort(40000));
}

BOOST_AUTO_TEST_SUITE_END()
