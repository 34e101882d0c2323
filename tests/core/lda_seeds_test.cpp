// Topics that somebody has named by seeds, and topics that cannot be told apart.
#include <algorithm>
#include <numeric>

#include "document/members.hpp"
#include "lda_support.hpp"

using namespace topics;

namespace {

/// Topic t of the documents is about terms 10 t, ..., 10 t + 12.
const Corpus blocks = synthetic(200, 40, 4, 50, 12);

std::string name_of(int term) { return names(40)[at(term)]; }

/// The probability of the terms 10 block, ..., 10 block + 9.
double share_of_block(const TopicModel &model, int topic, int block) {
  const std::vector<double> p = model.topic(topic);
  return std::accumulate(p.begin() + 10 * block, p.begin() + 10 * block + 10, 0.0);
}

/// The block of which a topic has most.
int block_of(const TopicModel &model, int topic) {
  int best = 0;
  for (int block = 1; block < 4; ++block)
    if (share_of_block(model, topic, block) > share_of_block(model, topic, best)) best = block;
  return best;
}

Fitted seeded(Document::List seeds, Options options) {
  options.emplace_back("prior", prior({{"alpha", 0.3}, {"eta", 0.1}, {"terms", seeds}}));
  return fitted(blocks, 40, int(seeds.size()), std::move(options));
}

/// The highest bound that coordinate ascent reaches from random topics; eta[k][w].
Real best_of_random_starts(const Corpus &documents, const Reals &alpha, const Table &eta,
                           int starts) {
  bayes::Random random(17);
  Real best = -HUGE_VAL;
  for (int start = 0; start < starts; ++start) {
    Table posterior = eta;
    for (Reals &topic : posterior)
      for (Real &x : topic) x += 4 * random.uniform();
    Table gammas(documents.size());
    for (Reals &gamma : gammas)
      for (const Real a : alpha) gamma.push_back(a + 4 * random.uniform());
    Real bound = 0;
    for (int pass = 0; pass < 400; ++pass) {
      Table log_weights, next = eta;
      bound = 0;
      for (std::size_t k = 0; k < eta.size(); ++k) {
        log_weights.push_back(expected_logs(posterior[k]));
        bound += minus_divergence(posterior[k], eta[k]);
      }
      for (std::size_t d = 0; d < documents.size(); ++d) {
        Reals counts(alpha.size(), 0);
        bound += document_bound(documents[d], alpha, gammas[d], log_weights, &next, &counts);
        for (std::size_t k = 0; k < alpha.size(); ++k) gammas[d][k] = alpha[k] + counts[k];
      }
      posterior = next;
    }
    best = std::max(best, bound);
  }
  return best;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_seeds)

// Seeds that name all terms of a small corpus determine the first start, and not the others.
BOOST_AUTO_TEST_CASE(restarts_with_seeds_differ) {
  const Corpus few = {{{0, 2}, {1, 1}, {2, 1}}, {{1, 1}, {2, 2}}, {{0, 1}, {2, 1}, {3, 1}}};
  const std::vector<double> alpha = {0.9, 0.3};
  const Table added = {{0.9, 0.4, 0, 0}, {0, 0.1, 0.5, 0.9}};
  Document::List seeds(2);
  for (std::size_t k = 0; k < 2; ++k) {
    Options of_topic;
    for (int w = 0; w < 4; ++w)
      if (added[k][at(w)] > 0) of_topic.emplace_back(names(4)[at(w)], double(added[k][at(w)]));
    seeds[k] = of_topic;
  }
  for (const double eta : {0.1, 0.2, 0.5}) {
    Table etas = added;
    for (Reals &topic : etas)
      for (Real &x : topic) x += eta;
    const double best = double(best_of_random_starts(few, reals(alpha), etas, 40));
    for (const int seed : {1, 2, 3, 4, 5}) {
      const Fitted model = fitted(
          few, 4, 2,
          {{"seed", seed},
           {"restarts", 10},
           {"tol", 1e-7},
           {"prior", prior({{"alpha", Tensor{{2}, alpha}}, {"eta", eta}, {"terms", seeds}})}});
      BOOST_TEST(model->info.objective > best - 1e-3, "eta " << eta << ", seed " << seed << ": "
                                                             << model->info.objective << " < "
                                                             << best);
    }
  }
}

// The seeds are so weak that they would change nothing, were it not for where topics begin.
BOOST_AUTO_TEST_CASE(weak_seeds_determine_the_numbering) {
  for (const char *const method : {"vi", "svi"}) {
    std::vector<int> order = {0, 1, 2, 3};
    do {
      Document::List seeds;
      for (const int block : order)
        seeds.push_back(Options{{name_of(10 * block + 4), 0.01}, {name_of(10 * block + 7), 0.01}});
      Options options = {{"method", method}};
      if (method[0] == 's') options.emplace_back("batch_size", 50);
      const Fitted model = seeded(seeds, options);
      for (int k = 0; k < 4; ++k)
        BOOST_TEST(block_of(*model, k) == order[at(k)],
                   method << ", block " << order[at(k)] << " is topic " << k);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

BOOST_AUTO_TEST_CASE(topics_without_seeds_get_the_other_subjects) {
  for (const int block : {0, 1, 2, 3}) {
    Document::List seeds(4);
    seeds[2] = Options{{name_of(10 * block + 5), 0.01}};
    const Fitted model = seeded(seeds, {});
    BOOST_TEST(block_of(*model, 2) == block);
    std::vector<int> blocks;
    for (int k = 0; k < 4; ++k) blocks.push_back(block_of(*model, k));
    std::sort(blocks.begin(), blocks.end());
    BOOST_TEST((blocks == std::vector<int>{0, 1, 2, 3}));
  }
}

BOOST_AUTO_TEST_CASE(the_first_of_two_topics_with_the_same_seeds_gets_them) {
  int first = 0;
  for (const int block : {0, 1, 2, 3}) {
    Document::List seeds(4);
    seeds[1] = Options{{name_of(10 * block + 4), 0.01}};
    seeds[2] = Options{{name_of(10 * block + 7), 0.01}};
    // After one pass, as it is about where topics begin.
    const Fitted model = seeded(seeds, {{"max_iter", 1}});
    first += share_of_block(*model, 1, block) > share_of_block(*model, 2, block);
  }
  // A block may have been found twice.
  BOOST_TEST(first >= 3);
}

BOOST_AUTO_TEST_CASE(topics_may_share_a_seed_word) {
  Document::List seeds(4);
  seeds[0] = Options{{name_of(25), 3}, {name_of(24), 40}};
  seeds[1] = Options{{name_of(25), 1}, {name_of(5), 40}};
  const Fitted model = seeded(seeds, {});
  BOOST_TEST(block_of(*model, 0) == 2);
  BOOST_TEST(block_of(*model, 1) == 0);
  // What the prior adds is in the posterior, and every token once.
  double sum = 0, tokens = 0;
  for (int k = 0; k < 4; ++k)
    for (const double lambda : model->topic_posterior(k)) sum += lambda;
  for (const Counts &each : blocks)
    for (const auto &[w, n] : each) tokens += n;
  BOOST_TEST(distance(sum, tokens + 4 * 40 * 0.1 + 84) < 1e-9);
  BOOST_TEST(model->topic_posterior(1)[25] > 1.1);
  // Seeds that are certain hold their terms.
  seeds[0] = Options{{name_of(25), 1e6}};
  seeds[1] = Document();
  const Fitted certain = seeded(seeds, {});
  for (int k = 1; k < 4; ++k) BOOST_TEST(certain->topic(k)[25] < 0.01);
}

// The bound, by its definition, with priors that differ from term to term.
BOOST_AUTO_TEST_CASE(the_objective_includes_the_seeds) {
  const Corpus few(blocks.begin() + 40, blocks.begin() + 70);
  Document::List seeds(3);
  seeds[0] = Options{{name_of(3), 2.5}, {name_of(14), 0.5}};
  seeds[2] = Options{{name_of(3), 1}, {name_of(39), 7}};
  for (const bool given : {true, false}) {
    const Fitted model =
        fitted(few, 40, 3,
               {{"tol", 0},
                {"max_iter", 2000},
                {"prior", given ? prior({{"alpha", 0.3}, {"eta", 0.2}, {"terms", seeds}})
                                : prior({{"terms", seeds}})}});
    const Reals alpha = reals(model->alpha());
    Table log_weights;
    Real bound = 0;
    for (int k = 0; k < 3; ++k) {
      const Reals posterior = reals(model->topic_posterior(k));
      log_weights.push_back(expected_logs(posterior));
      Reals of_topic(40, model->eta());
      if (const auto *const seeded = seeds[at(k)].as<Document::Object>())
        for (const auto &[term, count] : *seeded)
          of_topic[at(model->code(term))] += *bayes::to_number(count, false);
      bound += minus_divergence(posterior, of_topic);
    }
    for (const Counts &each : few)
      bound += document_bound(each, alpha, slow_gamma(each, alpha, log_weights), log_weights);
    // The proportions of a document may have two optima that are nearly as good.
    BOOST_TEST(distance(model->info.objective, double(bound)) < 1e-5, given);
  }
}

// Topics that are equal stay so, and have equal shares.
BOOST_AUTO_TEST_CASE(equal_topics_have_equal_weights) {
  for (const char *const method : {"vi", "em", "svi"}) {
    Document document =
        fitted(blocks, 40, 3, {{"method", method}, {"prior", prior({{"alpha", 0.3}})}})
            ->to_document();
    Tensor topics = *document.find("topics")->as<Tensor>();
    std::copy_n(topics.values.begin(), 40, topics.values.begin() + 40);
    document.set("topics", topics);
    const auto read = bayes::Model::from_document(document);
    const auto &start = dynamic_cast<const TopicModel &>(*read);
    for (const Counts &each : {blocks[0], blocks[5], Counts{}}) {
      const LdaProportions found = start.proportions(Packed(each));
      BOOST_TEST(distance(found.mean[0], found.mean[1]) < 1e-12);
      BOOST_TEST(distance(found.deviation[0], found.deviation[1]) < 1e-12);
    }
    for (const char *const alpha : {"symmetric", "asymmetric"}) {
      Options options = {{"prior", prior({{"alpha", alpha}})}, {"max_iter", 60}};
      if (method[0] == 's') options.emplace_back("batch_size", 50);
      const Fitted model = fitted(blocks, 40, 0, options, 1, &start);
      BOOST_TEST(distance(model->weights()[0], model->weights()[1]) < 1e-9, method << alpha);
      BOOST_TEST(model->weights()[0] > 0.05);
      BOOST_TEST(distance(std::accumulate(model->weights().begin(), model->weights().end(), 0.0),
                          1) < 1e-12);
      BOOST_TEST(distance(model->alpha()[0], model->alpha()[1]) < 1e-9);
      BOOST_TEST(distance(model->topic(0), model->topic(1)) < 1e-9);
      BOOST_TEST(distance(model->topic(0), model->topic(2)) > 1e-2);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
