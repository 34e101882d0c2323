// Priors that tell topics apart: an alpha for each topic, or terms of each.
#include <functional>

#include "lda_support.hpp"

using namespace topics;

namespace {

/// E p(term | topic) given the documents, by all assignments of their tokens; K x V.
std::vector<std::vector<double>> exact_topics(const Corpus &documents, int terms,
                                              const std::vector<double> &alpha,
                                              const std::vector<std::vector<double>> &eta) {
  std::vector<std::pair<std::size_t, std::int32_t>> tokens;
  for (std::size_t d = 0; d < documents.size(); ++d)
    for (const auto &[w, n] : documents[d])
      for (int i = 0; i < int(n); ++i) tokens.emplace_back(d, w);
  const std::size_t k = alpha.size();
  std::vector<std::vector<double>> mean(k, std::vector<double>(at(terms), 0.0));
  double whole = 0;
  std::vector<std::size_t> z(tokens.size(), 0);
  for (;;) {
    // one token after the other, each given those before it
    std::vector<std::vector<double>> in_document(documents.size(), alpha), in_topic = eta;
    double p = 1;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      double &share = in_document[tokens[i].first][z[i]],
             &term = in_topic[z[i]][at(tokens[i].second)];
      double all = 0;
      for (const double x : in_topic[z[i]]) all += x;
      p *= share * term / all;
      share += 1;
      term += 1;
    }
    whole += p;
    for (std::size_t j = 0; j < k; ++j) {
      double all = 0;
      for (const double x : in_topic[j]) all += x;
      for (std::size_t w = 0; w < at(terms); ++w) mean[j][w] += p * in_topic[j][w] / all;
    }
    std::size_t i = 0;
    while (i < z.size() && ++z[i] == k) z[i++] = 0;
    if (i == z.size()) break;
  }
  for (auto &topic : mean)
    for (double &x : topic) x /= whole;
  return mean;
}

const Corpus three_documents = {
    {{0, 2}, {1, 1}, {2, 1}}, {{1, 1}, {2, 2}}, {{0, 1}, {2, 1}, {3, 1}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_named_prior)

// Topics are averages of the expected topics of all draws, none of them relabelled.
BOOST_AUTO_TEST_CASE(samplers_keep_the_numbering_of_the_prior) {
  const std::vector<double> alpha = {0.9, 0.3};
  const std::vector<std::vector<double>> eta = {{1, 0.5, 0.1, 0.1}, {0.1, 0.2, 0.6, 1}};
  const auto exact = exact_topics(three_documents, 4, alpha, eta);
  BOOST_TEST(std::abs(exact[0][0] - 0.4686) < 1e-4);
  BOOST_TEST(std::abs(exact[0][3] - 0.0280) < 1e-4);
  const Document::List terms = {
      Document(Options{{"t00000", 0.9}, {"t00001", 0.4}}),
      Document(Options{{"t00001", 0.1}, {"t00002", 0.5}, {"t00003", 0.9}})};
  for (const char *const method : {"collapsed", "gibbs"}) {
    const Fitted model =
        fitted(three_documents, 4, 2,
               {{"method", method},
                {"chains", 2},
                {"draws", 20000},
                {"warmup", 100},
                {"prior", prior({{"alpha", Tensor{{2}, alpha}}, {"eta", 0.1}, {"terms", terms}})}});
    for (int k = 0; k < 2; ++k)
      for (std::size_t w = 0; w < 4; ++w)
        // about seven standard errors
        BOOST_TEST(std::abs(model->topic(k)[w] - exact[at(k)][w]) < 0.012);
  }
}

// Two topics are exchangeable beside one that has terms: that one keeps its place and its average,
// and the draws of the others are matched.
BOOST_AUTO_TEST_CASE(topics_without_seeds_are_matched_with_each_other) {
  const std::vector<double> alpha(3, 0.4);
  const std::vector<std::vector<double>> eta = {
      {0.3, 0.3, 0.3, 2.3}, {0.3, 0.3, 0.3, 0.3}, {0.3, 0.3, 0.3, 0.3}};
  const Corpus documents = {{{0, 2}, {1, 1}}, {{1, 1}, {2, 2}}, {{2, 2}, {3, 1}}};
  const auto exact = exact_topics(documents, 4, alpha, eta);
  const Document::List terms = {Document(Options{{"t00003", 2.0}}), Document(), Document()};
  const Fitted model = fitted(documents, 4, 3,
                              {{"method", "collapsed"},
                               {"chains", 2},
                               {"draws", 20000},
                               {"warmup", 100},
                               {"prior", prior({{"alpha", 0.4}, {"eta", 0.3}, {"terms", terms}})}});
  double apart = 0;
  for (std::size_t w = 0; w < 4; ++w) {
    BOOST_TEST(std::abs(model->topic(0)[w] - exact[0][w]) < 0.012);
    BOOST_TEST(std::abs(model->topic(1)[w] + model->topic(2)[w] - 2 * exact[1][w]) < 0.024);
    apart += std::abs(model->topic(1)[w] - model->topic(2)[w]);
  }
  BOOST_TEST(apart > 0.1);
}

// Given numbers of alpha are found their topics, in whatever order they are given, and a refit
// from the model stays there.
BOOST_AUTO_TEST_CASE(topics_are_assigned_to_their_alpha) {
  bayes::Random random(5);
  const std::vector<double> usual = {6, 1, 0.3};
  Corpus documents;
  for (int d = 0; d < 120; ++d) {
    std::vector<double> theta(3);
    random.dirichlet(usual, theta);
    Counts counts;
    for (int i = 0; i < 100; ++i)
      counts[8 * random.categorical(theta) + std::int32_t(random.below(8))] += 1;
    documents.push_back(counts);
  }
  for (const char *const method : {"vi", "em", "cvb0"}) {
    double first = 0;
    std::vector<std::size_t> order = {0, 1, 2};
    do {
      std::vector<double> alpha;
      for (const std::size_t i : order) alpha.push_back(usual[i]);
      Options options = {{"method", method}, {"prior", prior({{"alpha", Tensor{{3}, alpha}}})}};
      const Fitted model = fitted(documents, 24, 3, options);
      for (std::size_t k = 0; k < 3; ++k) {
        double share = 0;
        for (std::size_t w = 0; w < 8; ++w) share += model->topic(int(k))[8 * order[k] + w];
        BOOST_TEST(share > 0.6, method << " " << k << ": " << share);
      }
      if (first == 0) first = model->info.objective;
      BOOST_TEST(distance(model->info.objective, first) < 1e-3);
      const Fitted again = fitted(documents, 24, 3, {{"method", method}}, 1, model.get());
      BOOST_TEST(distance(again->info.objective, model->info.objective) < 1e-3);
      BOOST_TEST(again->weights()[0] == model->weights()[0], boost::test_tools::tolerance(0.05));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
