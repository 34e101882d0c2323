// Moves of whole topics, and where topics begin.
#include <algorithm>
#include <numeric>

#include "topic_sampler_support.hpp"
#include "topics/lda_start.hpp"

namespace {

using namespace topics;

constexpr int subjects = 4, terms_of_subject = 6;
/// Documents of one or two of four subjects, which share no terms.
std::vector<Tokens> documents_of_subjects(int documents) {
  Random random(5);
  std::vector<Tokens> out;
  for (int d = 0; d < documents; ++d) {
    const int first = d % subjects, second = d % 3 == 0 ? (d / 3) % subjects : first;
    Tokens tokens;
    for (int i = 0; i < 30; ++i)
      tokens.push_back(terms_of_subject * (i % 3 == 0 ? second : first) +
                       int(random.below(terms_of_subject)));
    std::sort(tokens.begin(), tokens.end());
    out.push_back(tokens);
  }
  return out;
}

/// Gives the tokens these topics.
template <class F> void assign(TopicChain &chain, const std::vector<Tokens> &documents, F topic) {
  std::size_t at = 0;
  for (const Tokens &tokens : documents)
    for (const std::int32_t w : tokens) {
      const int k = topic(w / terms_of_subject, at);
      chain.assigned[at++] = std::uint16_t(k);
      ++chain.counts.row(w)[k];
      ++chain.totals[std::size_t(k)];
    }
}

/// log p(w, z) from the definition
double log_joint(const TopicChain &chain, const std::vector<Tokens> &documents) {
  const std::vector<int> z(chain.assigned.begin(), chain.assigned.end());
  return slow_log_assignment(documents, chain.prior.alpha, z) +
         slow_log_likelihood(documents, chain.terms(), chain.prior, z);
}

void check_counts(const TopicChain &chain, const std::vector<Tokens> &documents) {
  CountMatrix counts(chain.terms(), chain.topics());
  std::size_t at = 0;
  for (const Tokens &tokens : documents)
    for (const std::int32_t w : tokens) ++counts.row(w)[chain.assigned[at++]];
  for (int k = 0; k < chain.topics(); ++k) {
    std::int64_t total = 0;
    for (std::int32_t w = 0; w < chain.terms(); ++w) {
      BOOST_TEST(counts.row(w)[k] == chain.counts.row(w)[k]);
      total += counts.row(w)[k];
    }
    BOOST_TEST(total == chain.totals[std::size_t(k)]);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(topic_moves)

// Topic 0 is two subjects, and topics 1 and 2 are one; or topic 3 is empty.
BOOST_AUTO_TEST_CASE(mixed_topics_are_split_and_duplicates_merged) {
  const std::vector<Tokens> documents = documents_of_subjects(200);
  MemoryCorpus corpus = corpus_of(documents, subjects * terms_of_subject);
  for (const bool empty : {false, true})
    for (const bool own_alphas : {false, true}) {
      std::vector<std::uint16_t> before;
      for (const int threads : {1, 3}) {
        Control control;
        control.threads = threads;
        const TokenIndex index(corpus, control);
        TopicChain chain(corpus, index, {{0.1, 0.1, 0.1, 0.1}, 0.05, {}}, 7, 0);
        assign(chain, documents, [&](int subject, std::size_t token) {
          if (subject < 2) return 0;
          if (subject == 3) return empty ? 2 : 3;
          return !empty && token % 2 == 0 ? 2 : 1;
        });
        const double joint = log_joint(chain, documents);
        BOOST_TEST(move_topics(chain, own_alphas, 0, control) == 1);
        check_counts(chain, documents);
        BOOST_TEST(log_joint(chain, documents) > joint + 100);
        std::vector<int> topics;
        for (int subject = 0; subject < subjects; ++subject) {
          const std::int32_t *const n = chain.counts.row(subject * terms_of_subject);
          topics.push_back(int(std::max_element(n, n + subjects) - n));
          for (int i = 0; i < terms_of_subject; ++i) {
            const std::int32_t *const row = chain.counts.row(subject * terms_of_subject + i);
            BOOST_TEST(row[topics.back()] == std::accumulate(row, row + subjects, 0));
          }
        }
        std::sort(topics.begin(), topics.end());
        BOOST_TEST((topics == std::vector<int>{0, 1, 2, 3}));
        const std::vector<double> &alpha = chain.prior.alpha;
        BOOST_TEST(std::abs(std::accumulate(alpha.begin(), alpha.end(), 0.0) -
                            (own_alphas && empty ? 0.3 : 0.4)) < 1e-12);
        BOOST_TEST(alpha[0] == (own_alphas ? 0.05 : 0.1));
        if (threads == 1) before = chain.assigned;
        BOOST_TEST((chain.assigned == before));
        // nothing is left to be moved
        BOOST_TEST(move_topics(chain, own_alphas, 1, control) == 0);
      }
    }
}

BOOST_AUTO_TEST_CASE(nothing_moves_in_empty_corpora) {
  for (const std::vector<Tokens> &documents :
       {std::vector<Tokens>{{}}, {{}, {0}}, {{0, 0, 1, 1}}, {{0}, {1}, {2}}})
    for (const int k : {1, 2, 5}) {
      MemoryCorpus corpus = corpus_of(documents, 3);
      Control control;
      const TokenIndex index(corpus, control);
      TopicChain chain(corpus, index, {std::vector<double>(std::size_t(k), 0.5), 0.1, {}}, 1, 0);
      begin_topics(chain, nullptr, control);
      const double joint = log_joint(chain, documents);
      const int made = move_topics(chain, false, 0, control);
      check_counts(chain, documents);
      BOOST_TEST(log_joint(chain, documents) >= joint);
      BOOST_TEST((made == 0 || log_joint(chain, documents) > joint));
    }
}

// To tell two small subjects apart, two large ones would have to become one.
BOOST_AUTO_TEST_CASE(moves_that_lower_the_probability_are_not_made) {
  constexpr int common = subjects * terms_of_subject;  // a term of all documents
  const int subject_of[] = {0, 1, 2, 2, 2, 3, 3, 3};
  Random random(17);
  std::vector<Tokens> documents(400);
  for (std::size_t d = 0; d < documents.size(); ++d) {
    Tokens &document = documents[d];
    document.assign(3, common);
    for (int i = 0; i < 27; ++i)
      document.push_back(terms_of_subject * subject_of[d % 8] +
                         int(random.below(terms_of_subject)));
    std::sort(document.begin(), document.end());
  }
  MemoryCorpus corpus = corpus_of(documents, common + 1);
  Control control;
  const TokenIndex index(corpus, control);
  TopicChain chain(corpus, index, {{0.1, 0.1, 0.1}, 0.05, {}}, 7, 0);
  assign(chain, documents,
         [&](int, std::size_t token) { return std::max(0, subject_of[token / 30 % 8] - 1); });
  const double joint = log_joint(chain, documents);
  BOOST_TEST(move_topics(chain, false, 0, control) == 0);
  BOOST_TEST(log_joint(chain, documents) == joint);
}

BOOST_AUTO_TEST_CASE(initial_topics_are_the_subjects) {
  const std::vector<Tokens> documents = documents_of_subjects(200);
  for (const double each : {1.0, 0.01, 1e9}) {
    MemoryCorpus corpus(subjects * terms_of_subject);
    for (const Tokens &tokens : documents) append(corpus, tokens, each);
    for (const bool drawn : {true, false}) {
      const LdaPrior prior{std::vector<double>(subjects, 0.1), 0.05, {}};
      Control control;
      const TopicStart start = starting_topics(corpus, prior, {drawn, false, drawn}, 1, 0, control);
      double all = 0;
      for (std::int32_t w = 0; w < start.counts.rows(); ++w) {
        const double *const row = start.counts.row(w);
        const double sum = std::accumulate(row, row + subjects, 0.0);
        BOOST_TEST(*std::max_element(row, row + subjects) > 0.8 * sum);
        BOOST_TEST((
            std::max_element(row, row + subjects) - row ==
            std::max_element(start.counts.row(w / terms_of_subject * terms_of_subject),
                             start.counts.row(w / terms_of_subject * terms_of_subject) + subjects) -
                start.counts.row(w / terms_of_subject * terms_of_subject)));
        all += sum;
      }
      BOOST_TEST(std::abs(all / corpus.totals().tokens - 1) < 1e-9);
      BOOST_TEST((start.alpha == prior.alpha) != drawn);
      BOOST_TEST((start.eta == prior.eta) != drawn);
    }
  }
}

// Of terms with few tokens each, some have one where topics begin.
BOOST_AUTO_TEST_CASE(initial_topics_from_fractional_counts) {
  MemoryCorpus corpus(8);
  const std::vector<std::int32_t> terms = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> counts = {0.6, 1.4, 0.6, 1.4, 0.6, 1.4, 0.6, 1.4};
  for (int d = 0; d < 50; ++d) corpus.append({terms, counts});
  Control control;
  const TopicStart start =
      starting_topics(corpus, {{0.1, 0.1}, 0.05, {}}, {false, false, false}, 1, 0, control);
  double rare = 0;
  for (std::int32_t w = 0; w < 8; w += 2) rare += start.counts.row(w)[0] + start.counts.row(w)[1];
  BOOST_TEST(rare > 0);
}

BOOST_AUTO_TEST_CASE(initial_topics_respect_the_time_limit) {
  const std::vector<Tokens> documents = documents_of_subjects(200);
  MemoryCorpus corpus(subjects * terms_of_subject);
  for (const Tokens &tokens : documents) append(corpus, tokens, 1);
  const LdaPrior prior{std::vector<double>(subjects, 0.1), 0.05, {}};
  Control control;
  control.budget = Budget(0);
  const TopicStart start = starting_topics(corpus, prior, {true, false, true}, 1, 0, control);
  BOOST_TEST(control.is_cut_short);
  double all = 0;
  for (const double count : start.counts.values()) {
    BOOST_TEST(count == std::floor(count));  // no average
    all += count;
  }
  BOOST_TEST(all == corpus.totals().tokens);
  BOOST_TEST((start.alpha == prior.alpha));
}

BOOST_AUTO_TEST_SUITE_END()
