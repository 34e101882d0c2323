// The samplers of topic models against the enumeration of all assignments of a few tokens, and by
// joint-distribution tests; chains, matching of topics, errors.
#include <numeric>

#include "topic_sampler_support.hpp"

using namespace topics;

BOOST_AUTO_TEST_SUITE(topic_sampler)

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
    begin_topics(chain, nullptr, control);
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
  check(prior, {},
        exact_means(3,
                    [&](const std::vector<int> &z) {
                      return slow_log_likelihood(documents, terms, prior, z) +
                             slow_log_assignment(documents, prior.alpha, z);
                    }),
        "symmetric", effort(40000));
}

BOOST_AUTO_TEST_CASE(all_assignments_asymmetric_alpha_and_large_eta) {
  const LdaPrior prior{{0.3, 1.9}, 1.3, {}};
  check(prior, {},
        exact_means(2,
                    [&](const std::vector<int> &z) {
                      return slow_log_likelihood(documents, terms, prior, z) +
                             slow_log_assignment(documents, prior.alpha, z);
                    }),
        "asymmetric", effort(40000));
}

BOOST_AUTO_TEST_CASE(all_assignments_seeded_topics) {
  const LdaPrior prior{{0.5, 0.8}, 0.2, added(terms, 2, {{0, 0, 1.5}, {2, 1, 0.3}, {3, 1, 2}})};
  check(prior, {},
        exact_means(2,
                    [&](const std::vector<int> &z) {
                      return slow_log_likelihood(documents, terms, prior, z) +
                             slow_log_assignment(documents, prior.alpha, z);
                    }),
        "seeded", effort(40000));
}

namespace {

/// The trapezoidal rule in the logarithm of x of f(x) times the hyperprior.
template <class F> double over_hyperprior(F f) {
  constexpr double step = 0.3;
  double sum = 0;
  for (double u = -16; u < 4; u += step) {
    const double x = std::exp(u);
    sum += step * x * std::exp(-x) * f(x);
  }
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_assignments_learned_prior) {
  // p(z) and p(w | z) integrate over alpha and eta separately.
  const auto of_topics = [&](const std::vector<int> &z) {
    return over_hyperprior([&](double eta) {
      return std::exp(slow_log_likelihood(documents, terms, {{1, 1}, eta, {}}, z));
    });
  };
  const auto of_documents = [&](const std::vector<int> &z, double a, double b) {
    return std::exp(slow_log_assignment(documents, {a, b}, z));
  };
  check({{0.5, 0.5}, 0.5, {}}, {true, true, true},
        exact_means(2,
                    [&](const std::vector<int> &z) {
                      return std::log(of_topics(z) * over_hyperprior([&](double a) {
                                        return of_documents(z, a, a);
                                      }));
                    }),
        "learned, symmetric", effort(40000));
  check({{0.5, 0.5}, 0.5, {}}, {true, false, true},
        exact_means(2,
                    [&](const std::vector<int> &z) {
                      return std::log(of_topics(z) * over_hyperprior([&](double a) {
                                        return over_hyperprior(
                                            [&](double b) { return of_documents(z, a, b); });
                                      }));
                    }),
        "learned, asymmetric", effort(40000));
}

BOOST_AUTO_TEST_CASE(eta_is_learned_with_seeds) {
  const PaddedMatrix seeds = added(terms, 2, {{0, 0, 1.5}, {2, 1, 0.3}});
  check({{0.5, 0.8}, 0.2, seeds}, {false, false, true},
        exact_means(2,
                    [&](const std::vector<int> &z) {
                      return slow_log_assignment(documents, {0.5, 0.8}, z) +
                             std::log(over_hyperprior([&](double eta) {
                               return std::exp(
                                   slow_log_likelihood(documents, terms, {{1, 1}, eta, seeds}, z));
                             }));
                    }),
        "eta and seeds", effort(40000));
}

BOOST_AUTO_TEST_CASE(log_joint_agrees_with_its_definition) {
  MemoryCorpus corpus = corpus_of(documents, terms);
  Control control;
  const TokenIndex index(corpus, control);
  for (const LdaPrior &prior :
       {LdaPrior{{0.3, 1.9, 0.2}, 1.3, {}},
        LdaPrior{{0.5, 0.8}, 0.2, added(terms, 2, {{0, 0, 1.5}, {2, 1, 0.3}})}})
    for (const Path &path : paths) {
      TopicChain chain(corpus, index, prior, 31, 0);
      begin_topics(chain, nullptr, control);
      const auto sampler = path.make(chain, path.sparsity);
      for (int t = 0; t < 5; ++t) {
        sampler->sweep(t, control);
        chain.score();
        const std::vector<int> z(chain.assigned.begin(), chain.assigned.end());
        BOOST_TEST(support::distance(chain.log_joint(),
                                     slow_log_likelihood(documents, terms, prior, z) +
                                         slow_log_assignment(documents, prior.alpha, z)) < 1e-11);
        BOOST_TEST(support::distance(chain.log_likelihood(),
                                     slow_log_likelihood(documents, terms, prior, z)) < 1e-11);
      }
    }
}

BOOST_AUTO_TEST_CASE(weights_are_updated_when_a_document_loses_a_topic) {
  // Term 0 is of topics 0 and 1, term 1 of 1 and 2, term 2 of 2, of which the document is full. As
  // a rule the first token leaves topic 0, which nothing else is in; then the second finds topic 2.
  const LdaPrior prior{
      {0.1, 0.1, 0.1},
      0.01,
      added(3, 3, {{0, 0, 1e6}, {0, 1, 1e6}, {1, 1, 1e6}, {1, 2, 1e6}, {2, 2, 1e6}})};
  Tokens tokens(102, 2);
  tokens[0] = 0;
  tokens[1] = 1;
  MemoryCorpus corpus = corpus_of({tokens}, 3);
  Control control;
  const TokenIndex index(corpus, control);
  for (const Path &path : paths) {
    int left = 0, found = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      TopicChain chain(corpus, index, prior, seed, 0);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        const int z = tokens[i];
        chain.assigned[i] = std::uint16_t(z);
        ++chain.counts.row(tokens[i])[z];
        ++chain.totals[std::size_t(z)];
      }
      path.make(chain, path.sparsity)->sweep(0, control);
      left += chain.assigned[0] == 1;
      found += chain.assigned[1] == 2;
    }
    BOOST_TEST(left > 200, path.name << ": " << left);
    BOOST_TEST(found > 280, path.name << ": " << found);  // 297 are expected
  }
}

namespace {

/// Documents drawn from the model, and the topics of their tokens. A token keeps its place: an
/// order that depends on topics, or on former terms, would tell a sampler that goes through it of
/// them.
struct World {
  std::vector<Tokens> documents;
  std::vector<std::vector<int>> topics;

  /// f(term, topic, number) for all tokens in the order of their terms, as a corpus has them.
  template <class F> void each(F f) {
    std::size_t number = 0;
    for (std::size_t d = 0; d < documents.size(); ++d) {
      std::vector<std::size_t> order(documents[d].size());
      std::iota(order.begin(), order.end(), std::size_t(0));
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return documents[d][a] < documents[d][b];
      });
      for (const std::size_t i : order) f(documents[d][i], topics[d][i], number++);
    }
  }
};

void draw_topics(World &world, const LdaPrior &prior, Random &random) {
  std::vector<double> theta(prior.alpha.size());
  for (auto &topics : world.topics) {
    random.dirichlet(prior.alpha, theta);
    for (int &z : topics) z = random.categorical(theta);
  }
}
void draw_terms(World &world, const LdaPrior &prior, std::int32_t v, Random &random) {
  std::vector<std::vector<double>> beta(prior.alpha.size(), std::vector<double>(std::size_t(v)));
  std::vector<double> parameters(static_cast<std::size_t>(v));
  for (std::size_t k = 0; k < beta.size(); ++k) {
    for (std::int32_t w = 0; w < v; ++w)
      parameters[std::size_t(w)] = prior.eta + (prior.added.rows() > 0 ? prior.added.row(w)[k] : 0);
    random.dirichlet(parameters, beta[k]);
  }
  for (std::size_t d = 0; d < world.documents.size(); ++d)
    for (std::size_t i = 0; i < world.documents[d].size(); ++i)
      world.documents[d][i] = random.categorical(beta[std::size_t(world.topics[d][i])]);
}
void draw_hyperprior(LdaPrior &prior, const DrawnPrior &drawn, Random &random) {
  if (drawn.alpha) {
    for (double &a : prior.alpha) a = std::max(1e-30, random.exponential());
    if (drawn.symmetric) std::fill(prior.alpha.begin(), prior.alpha.end(), prior.alpha[0]);
  }
  if (drawn.eta) prior.eta = std::max(1e-30, random.exponential());
}

/// What two samples of worlds are compared by.
std::vector<double> quantities(const World &world, const LdaPrior &prior, std::int32_t v) {
  const auto k = prior.alpha.size();
  std::vector<double> of_topic(k, 0.0), of_pair(k * std::size_t(v), 0.0);
  double squares = 0, ends = 0;
  for (std::size_t d = 0; d < world.documents.size(); ++d) {
    std::vector<double> own(k, 0.0);
    for (std::size_t i = 0; i < world.topics[d].size(); ++i) {
      const auto z = std::size_t(world.topics[d][i]);
      own[z] += 1;
      of_topic[z] += 1;
      of_pair[z * std::size_t(v) + std::size_t(world.documents[d][i])] += 1;
      ends += world.documents[d][i] == 0 && z < k / 2;
    }
    for (const double n : own) squares += n * n;
  }
  double pairs = 0, topics = 0, used = 0;
  for (const double n : of_pair) pairs += n * n;
  for (const double n : of_topic) {
    topics += n * n;
    used += n > 0;
  }
  const double whole = std::accumulate(prior.alpha.begin(), prior.alpha.end(), 0.0);
  return {squares,
          ends,
          pairs,
          topics,
          used,
          of_topic[0],
          of_topic.back(),
          std::log(whole),
          std::log(prior.eta),
          of_pair[0]};
}

/// Geweke 2004: worlds drawn at once, against a chain that draws topics given terms by the sampler
/// and terms given topics from the model.
void check_jointly(const Path &path, LdaPrior prior, const DrawnPrior &drawn, std::int32_t v,
                   int size, int iterations) {
  const auto k = prior.alpha.size();
  World world;
  for (const int length : {size, 2 * size, 3 * size, 1}) {
    world.documents.emplace_back(std::size_t(length), 0);
    world.topics.emplace_back(std::size_t(length), 0);
  }
  BatchMeans at_once(iterations), chained(iterations);
  LdaPrior own = prior;
  World independent = world;
  Random random(41);
  for (int t = 0; t < iterations; ++t) {
    draw_hyperprior(own, drawn, random);
    draw_topics(independent, own, random);
    draw_terms(independent, own, v, random);
    at_once.add(quantities(independent, own, v));
  }
  world = independent;
  prior = own;
  Control control;
  for (int t = 0; t < iterations; ++t) {
    draw_terms(world, prior, v, random);
    MemoryCorpus corpus = corpus_of(world.documents, v);
    const TokenIndex index(corpus, control);
    TopicChain chain(corpus, index, prior, 42, 0);
    world.each([&](std::int32_t w, int &z, std::size_t i) {
      chain.assigned[i] = std::uint16_t(z);
      ++chain.counts.row(w)[z];
      ++chain.totals[std::size_t(z)];
    });
    path.make(chain, path.sparsity)->sweep(t, control);
    draw_prior(chain, drawn, random);
    prior.alpha = chain.prior.alpha;
    prior.eta = chain.prior.eta;
    world.each([&](std::int32_t, int &z, std::size_t i) { z = chain.assigned[i]; });
    chained.add(quantities(world, prior, v));
  }
  BOOST_TEST_REQUIRE(at_once.quantities() == chained.quantities());
  for (std::size_t q = 0; q < at_once.quantities(); ++q)
    BOOST_TEST(at_once.z_score(q, chained) < largest_z,
               path.name << " of " << k << " topics, quantity " << q << " is "
                         << at_once.z_score(q, chained) << " standard errors off");
}

}  // namespace

BOOST_AUTO_TEST_CASE(joint_distribution) {
  for (const Path &path : paths) {
    check_jointly(path, {{0.3, 0.9, 0.4}, 0.5, added(5, 3, {{0, 0, 1.5}, {2, 1, 0.3}})}, {}, 5, 4,
                  effort(20000));
    check_jointly(path, {std::vector<double>(4, 1), 0.5, {}}, {true, false, true}, 6, 6,
                  effort(20000));
    // Several vectors of topics.
    check_jointly(path, {std::vector<double>(27, 0.1), 0.3, {}}, {true, true, false}, 6, 8,
                  effort(20000));
  }
  // As sparse as it is by itself.
  for (const auto make : {collapsed_topics, gibbs_topics})
    check_jointly({"automatic", make, Sparsity::automatic},
                  {std::vector<double>(150, 0.05), 0.2, {}}, {}, 12, 40, effort(8000));
}

BOOST_AUTO_TEST_SUITE_END()
