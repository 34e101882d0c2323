// Held-out probabilities of documents and coherence of topics, against enumeration, slow
// implementations and numbers computed by hand.
#include "topics/lda_evaluation.hpp"

#include <numeric>

#include "topic_sampler_support.hpp"
#include "topics/topic_summaries.hpp"

using namespace topics;
using support::distance;

BOOST_AUTO_TEST_SUITE(topic_evaluation)

namespace {

const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};

struct Document {
  std::vector<std::int32_t> terms;
  std::vector<double> counts;
  DocumentTerms all() const { return {terms, counts}; }
};

PaddedMatrix random_topics(std::int32_t v, int k, std::uint64_t seed) {
  Random random(seed);
  PaddedMatrix out(v, k);
  std::vector<double> alpha(std::size_t(v), 0.5), beta(alpha.size());
  for (int j = 0; j < k; ++j) {
    random.dirichlet(alpha, beta);
    for (std::int32_t w = 0; w < v; ++w) out.row(w)[j] = beta[std::size_t(w)];
  }
  return out;
}

/// What documents are scored under: topics as numbers that sum to this, and a prior.
struct Scoring {
  Scoring(const PaddedMatrix &topics, std::vector<double> prior, double total = 1)
      : numbers(topics),
        totals(std::size_t(topics.columns()), total),
        alpha(std::move(prior)) {
    for (double &x : numbers.values()) x *= total;
  }
  operator TopicDraw() const { return {numbers, totals, alpha}; }
  PaddedMatrix numbers;
  std::vector<double> totals, alpha;
};

HeldOut left_to_right(const DocumentTerms &document, const std::vector<TopicDraw> &draws,
                      const LeftToRight &options) {
  return score_left_to_right(document, term_hashes(names), draws, options);
}

}  // namespace

BOOST_AUTO_TEST_CASE(halves_get_tokens_alternately) {
  const auto hashes = term_hashes(names);
  // One token after the other.
  const Document document{{0, 1, 3, 4, 7}, {3, 1, 4, 1, 2}};
  std::vector<std::size_t> order(document.terms.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return hashes[std::size_t(document.terms[a])] < hashes[std::size_t(document.terms[b])];
  });
  std::map<std::int32_t, double> observed, scored;
  int number = 0;
  for (const std::size_t i : order)
    for (int c = 0; c < int(document.counts[i]); ++c)
      ++(number++ % 2 == 0 ? observed : scored)[document.terms[i]];
  const DocumentHalves halves = split_document(document.all(), hashes);
  const auto as_map = [](const DocumentTerms &half) {
    std::map<std::int32_t, double> out;
    for (std::size_t i = 0; i < half.size(); ++i) out[half.terms[i]] = half.counts[i];
    return out;
  };
  BOOST_TEST((as_map(halves.observed()) == observed));
  BOOST_TEST((as_map(halves.scored()) == scored));
  BOOST_TEST(std::is_sorted(halves.observed_terms.begin(), halves.observed_terms.end()));

  // Fractions are parts of tokens; a huge count is halved.
  const DocumentHalves parts = split_document(Document{{2}, {2.75}}.all(), hashes);
  BOOST_TEST(parts.observed_counts.at(0) == 1.75);
  BOOST_TEST(parts.scored_counts.at(0) == 1);
  const DocumentHalves huge = split_document(Document{{2}, {1e9}}.all(), hashes);
  BOOST_TEST(huge.observed_counts.at(0) == 5e8);
  const DocumentHalves one = split_document(Document{{5}, {1}}.all(), hashes);
  BOOST_TEST(one.observed().size() == 1);
  BOOST_TEST(one.scored().size() == 0);
  BOOST_TEST(split_document({}, hashes).observed().size() == 0);
}

BOOST_AUTO_TEST_CASE(hashes_do_not_depend_on_the_vocabulary) {
  const auto all = term_hashes(names), some = term_hashes(std::vector<std::string>{"b", "h"});
  BOOST_TEST(all[1] == some[0]);
  BOOST_TEST(all[7] == some[1]);
  BOOST_TEST(all[0] != all[1]);
}

BOOST_AUTO_TEST_CASE(completion_agrees_with_its_definition) {
  const auto hashes = term_hashes(names);
  const PaddedMatrix topics = random_topics(8, 3, 1);
  const Document document{{0, 2, 3, 6}, {2, 1, 3.5, 1}};
  const DocumentHalves halves = split_document(document.all(), hashes);
  const std::vector<double> theta = {0.5, 0.3, 0.2};
  const Scoring scoring(topics, {1, 1, 1});
  const std::vector<TopicDraw> draws = {scoring};
  const HeldOut score = score_completion(
      document.all(), hashes, draws, [&](const DocumentTerms &observed, const TopicDraw &draw) {
        BOOST_TEST(&draw.numbers == &scoring.numbers);
        BOOST_TEST(std::equal(observed.counts.begin(), observed.counts.end(),
                              halves.observed_counts.begin(), halves.observed_counts.end()));
        return theta;
      });
  double log_p = 0, tokens = 0;
  for (std::size_t i = 0; i < halves.scored_terms.size(); ++i) {
    double p = 0;
    for (int k = 0; k < 3; ++k) p += theta[std::size_t(k)] * topics.row(halves.scored_terms[i])[k];
    log_p += halves.scored_counts[i] * std::log(p);
    tokens += halves.scored_counts[i];
  }
  BOOST_TEST(distance(score.log_probability, log_p) < 1e-14);
  BOOST_TEST(distance(score.tokens, tokens) < 1e-14);
  BOOST_TEST(distance(*score.perplexity(), std::exp(-log_p / tokens)) < 1e-14);
  BOOST_TEST(score.documents == 1);

  HeldOut sum = score;
  sum.add({2, 10, -20});
  BOOST_TEST(sum.documents == 3);
  BOOST_TEST(distance(*sum.perplexity(), std::exp((20 - log_p) / (tokens + 10))) < 1e-14);
  BOOST_TEST(!HeldOut().perplexity());
}

BOOST_AUTO_TEST_CASE(unknown_terms_lower_the_score_without_changing_proportions) {
  const auto hashes = term_hashes(names);
  const PaddedMatrix topics = random_topics(3, 2, 7);
  const Scoring scoring(topics, {1, 1});
  TopicDraw draw = scoring;
  draw.unseen = {0.01, 0.03};
  const std::vector<TopicDraw> draws = {draw};
  // b, d and f are the model's three terms.
  const std::vector<std::int32_t> codes = {-1, 0, -1, 1, -1, 2, -1, -1};
  const std::vector<double> theta = {0.25, 0.75};
  const Document document{{1, 2, 3, 7}, {3, 4, 2, 1}};
  const DocumentHalves halves = split_document(document.all(), hashes);
  const HeldOut score = score_completion(
      document.all(), hashes, draws,
      [&](const DocumentTerms &observed, const TopicDraw &) {
        for (const std::int32_t w : observed.terms) BOOST_TEST((w == 0 || w == 1));
        return theta;
      },
      codes);
  double log_p = 0;
  for (std::size_t i = 0; i < halves.scored_terms.size(); ++i) {
    const std::int32_t w = codes[std::size_t(halves.scored_terms[i])];
    double p = 0;
    for (std::size_t k = 0; k < 2; ++k) p += theta[k] * (w < 0 ? draw.unseen[k] : topics.row(w)[k]);
    log_p += halves.scored_counts[i] * std::log(p);
  }
  BOOST_TEST(distance(score.log_probability, log_p) < 1e-14);
  BOOST_TEST(score.tokens == halves.scored().tokens());
  // Alone, from left to right: the topics' shares are those of the prior.
  const Document alone{{2}, {3}};
  const HeldOut from_left = score_left_to_right(alone.all(), hashes, draws, {5, 1, 1e9}, codes);
  BOOST_TEST(distance(from_left.log_probability, 3 * std::log(0.02)) < 1e-14);
}

BOOST_AUTO_TEST_CASE(terms_of_probability_0_in_all_topics_are_ignored) {
  const auto hashes = term_hashes(names);
  PaddedMatrix topics = random_topics(8, 3, 4);
  std::fill_n(topics.row(1), 3, 0.0);
  std::fill_n(topics.row(4), 2, 0.0);  // the third topic has it
  std::fill_n(topics.row(6), 3, 0.0);
  BOOST_TEST(!is_possible(1, topics));
  BOOST_TEST(is_possible(4, topics));
  const Document document{{0, 1, 2, 4, 6}, {3, 5, 2, 1, 1}}, rest{{0, 2, 4}, {3, 2, 1}},
      nothing{{1, 6}, {2, 3}};
  const auto proportions = [&](const DocumentTerms &observed, const TopicDraw &) {
    for (const std::int32_t w : observed.terms) BOOST_TEST((w != 1 && w != 6));
    return std::vector<double>{0.2, 0.5, 0.3};
  };
  const Scoring scoring(topics, {0.3, 0.8, 0.1});
  const std::vector<TopicDraw> draws = {scoring};
  const auto scores = [&](const Document &d) {
    return std::pair(score_completion(d.all(), hashes, draws, proportions),
                     left_to_right(d.all(), draws, {3, 1}));
  };
  const auto [completion, from_left] = scores(document);
  const auto [of_rest, rest_left_to_right] = scores(rest);
  BOOST_TEST(std::isfinite(completion.log_probability));
  BOOST_TEST(completion.log_probability == of_rest.log_probability);
  BOOST_TEST(completion.tokens == of_rest.tokens);
  BOOST_TEST(std::isfinite(from_left.log_probability));
  BOOST_TEST(from_left.log_probability == rest_left_to_right.log_probability);
  BOOST_TEST(from_left.tokens == 6);
  const auto [none, none_left_to_right] = scores(nothing);
  BOOST_TEST(none.documents == 1);
  BOOST_TEST(!none.perplexity());
  BOOST_TEST(!none_left_to_right.perplexity());
}

// Every token is predicted by the average of its probabilities under the draws.
BOOST_AUTO_TEST_CASE(completion_averages_over_draws) {
  const auto hashes = term_hashes(names);
  const Scoring first(random_topics(8, 3, 1), {1, 1, 1}, 7),
      second(random_topics(8, 3, 2), {2, 2, 2}, 300);
  const std::vector<TopicDraw> draws = {first, second};
  const std::vector<double> theta[] = {{0.5, 0.3, 0.2}, {0.1, 0.1, 0.8}};
  const Document document{{0, 2, 3, 6}, {2, 1, 3.5, 1}};
  const HeldOut score = score_completion(
      document.all(), hashes, draws,
      [&](const DocumentTerms &, const TopicDraw &draw) { return theta[draw.alpha[0] == 2]; });
  const DocumentHalves halves = split_document(document.all(), hashes);
  double log_p = 0;
  for (std::size_t i = 0; i < halves.scored_terms.size(); ++i) {
    double p = 0;
    for (std::size_t k = 0; k < 3; ++k)
      p += theta[0][k] * first.numbers.row(halves.scored_terms[i])[k] / 7 / 2 +
           theta[1][k] * second.numbers.row(halves.scored_terms[i])[k] / 300 / 2;
    log_p += halves.scored_counts[i] * std::log(p);
  }
  BOOST_TEST(distance(score.log_probability, log_p) < 1e-14);
}

BOOST_AUTO_TEST_CASE(left_to_right_averages_over_draws) {
  // Of one topic a document's probability is the product of its tokens'.
  const Scoring first(random_topics(8, 1, 3), {0.7}, 5), second(random_topics(8, 1, 4), {0.2});
  const Document document{{0, 5}, {4, 2}};
  const double of_first = left_to_right(document.all(), {first}, {}).log_probability,
               of_second = left_to_right(document.all(), {second}, {}).log_probability;
  BOOST_TEST(std::abs(of_first - of_second) > 0.1);
  BOOST_TEST(distance(left_to_right(document.all(), {first, second}, {}).log_probability,
                      std::log((std::exp(of_first) + std::exp(of_second)) / 2)) < 1e-13);
  // Draws have random numbers of their own.
  const Scoring topics(random_topics(8, 3, 5), {0.3, 0.8, 0.1});
  const double one = left_to_right(document.all(), {topics}, {}).log_probability;
  BOOST_TEST(one != left_to_right(document.all(), {topics, topics}, {}).log_probability);
}

BOOST_AUTO_TEST_CASE(left_to_right_is_unbiased) {
  // p(document | topics, alpha) by all assignments of its tokens.
  const std::vector<double> alpha = {0.3, 0.8, 0.1};
  const PaddedMatrix topics = random_topics(8, 3, 2);
  const Document document{{0, 1, 4, 6}, {3, 1, 2, 1}};
  double exact = 0;
  each_assignment(7, 3, [&](const std::vector<int> &z) {
    double p = std::exp(slow_log_assignment({Tokens(7, 0)}, alpha, z));
    std::size_t at = 0;
    for (std::size_t i = 0; i < document.terms.size(); ++i)
      for (int c = 0; c < int(document.counts[i]); ++c) p *= topics.row(document.terms[i])[z[at++]];
    exact += p;
  });
  const Scoring scoring(topics, alpha);
  for (const int particles : {1, 2, 5}) {
    const int runs = effort(40000);
    BatchMeans means(runs);
    double logs = 0;
    for (int run = 0; run < runs; ++run) {
      const HeldOut score =
          left_to_right(document.all(), {scoring}, {particles, std::uint64_t(run)});
      means.add({std::exp(score.log_probability) / exact});
      logs += score.log_probability / runs;
    }
    BOOST_TEST(means.z_score(0, 1) < largest_z,
               particles << " particles: " << means.z_score(0, 1) << " standard errors off");
    // Below on average, and little for several particles.
    BOOST_TEST(logs < std::log(exact));
    if (particles == 5) BOOST_TEST(logs > std::log(exact) - 0.1);
  }
  // Many particles come close.
  const HeldOut close = left_to_right(document.all(), {scoring}, {20000, 1});
  BOOST_TEST(close.tokens == 7);
  BOOST_TEST(std::abs(close.log_probability - std::log(exact)) < 0.03);
  // The same document, the same numbers.
  BOOST_TEST(close.log_probability ==
             left_to_right(document.all(), {scoring}, {20000, 1}).log_probability);
  BOOST_TEST(left_to_right({}, {scoring}, {}).log_probability == 0);
}

// Given the labels that a sampler has drawn topics are Dirichlet: their means would make a document
// that repeats its terms too improbable.
BOOST_AUTO_TEST_CASE(left_to_right_integrates_out_sampled_topics) {
  const std::vector<double> alpha = {0.3, 0.8, 0.1};
  PaddedMatrix numbers = random_topics(8, 3, 6);
  for (double &x : numbers.values()) x = 4 * x + (x > 0 ? 0.05 : 0);
  Scoring scoring(numbers, alpha);
  for (std::size_t k = 0; k < 3; ++k) {
    scoring.totals[k] = 0;
    for (std::int32_t w = 0; w < 8; ++w) scoring.totals[k] += numbers.row(w)[k];
  }
  const TopicDraw draw{scoring.numbers, scoring.totals, scoring.alpha, true};
  // one term has more tokens than there are topics
  const Document document{{0, 1, 4, 6}, {4, 1, 2, 1}};
  const Tokens tokens = {0, 0, 0, 0, 1, 4, 4, 6};
  double exact = 0;
  each_assignment(8, 3, [&](const std::vector<int> &z) {
    exact += std::exp(slow_log_assignment({tokens}, alpha, z) +
                      slow_log_likelihood({tokens}, 8, {alpha, 0, numbers}, z));
  });
  for (const int particles : {1, 5}) {
    const int runs = effort(20000);
    BatchMeans means(runs);
    for (int run = 0; run < runs; ++run)
      means.add({std::exp(left_to_right(document.all(), {draw}, {particles, std::uint64_t(run)})
                              .log_probability) /
                 exact});
    BOOST_TEST(means.z_score(0, 1) < largest_z,
               particles << " particles: " << means.z_score(0, 1) << " standard errors off");
  }
  const double sampled = left_to_right(document.all(), {draw}, {20000, 1}).log_probability,
               of_means = left_to_right(document.all(), {scoring}, {20000, 1}).log_probability;
  BOOST_TEST(std::abs(sampled - std::log(exact)) < 0.03);
  BOOST_TEST(of_means < sampled - 0.2);
}

BOOST_AUTO_TEST_CASE(left_to_right_with_one_topic_is_exact) {
  const PaddedMatrix topics = random_topics(8, 1, 3);
  const Document document{{0, 5}, {40, 2}};
  const Scoring scoring(topics, {0.7});
  const HeldOut score = left_to_right(document.all(), {scoring}, {3, 1});
  BOOST_TEST(distance(score.log_probability,
                      40 * std::log(topics.row(0)[0]) + 2 * std::log(topics.row(5)[0])) < 1e-12);
}

BOOST_AUTO_TEST_CASE(left_to_right_requires_whole_counts) {
  const Scoring scoring(random_topics(8, 2, 1), {1, 1});
  BOOST_CHECK_EXCEPTION(
      left_to_right(Document{{0}, {1.5}}.all(), {scoring}, {}), Error, [](const Error &e) {
        return e.code() == Errc::invalid_argument &&
               std::string(e.what()).find("1.5") != std::string::npos && !e.hint().empty();
      });
}

BOOST_AUTO_TEST_CASE(left_to_right_respects_the_memory_limit) {
  const Scoring scoring(random_topics(8, 2, 1), {1, 1});
  const Document document{{0, 3}, {1e9, 3e9}};
  BOOST_CHECK_EXCEPTION(left_to_right(document.all(), {scoring}, {.memory = 1e9}), Error,
                        [](const Error &e) {
                          return e.code() == Errc::too_large &&
                                 std::string(e.what()) ==
                                     "a document has 4000000000 tokens, too many for the "
                                     "left-to-right estimator" &&
                                 e.detail().find("about 915527 MB") != std::string::npos;
                        });
  const Document small{{0, 3}, {10, 30}};
  BOOST_TEST(left_to_right(small.all(), {scoring}, {.memory = 1.1e4}).tokens == 40);
  BOOST_CHECK_THROW(left_to_right(small.all(), {scoring}, {.memory = 1e4}), Error);
}

BOOST_AUTO_TEST_CASE(coherence_agrees_with_hand_calculation) {
  // Four documents; terms 0 and 1 together in two, 0 and 2 in one, 1 and 2 in none.
  const std::vector<Document> documents = {
      {{0, 1}, {2, 1}}, {{0, 1, 5}, {1, 1, 1}}, {{0, 2}, {1, 3}}, {{3}, {1}}};
  TopicCoherence coherence({{0, 1, 2}, {2, 6}, {3}, {1, 0}}), part = coherence, whole = coherence;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    whole.add(documents[d].all());
    (d < 2 ? coherence : part).add(documents[d].all());
  }
  coherence.add(part);
  for (const TopicCoherence &c : {whole, coherence}) {
    BOOST_TEST(c.documents() == 4);
    // D(0) = 3, D(1) = 2
    BOOST_TEST(distance(*c.umass(0), std::log(3.0 / 3) + std::log(2.0 / 3) + std::log(1.0 / 2)) <
               1e-14);
    // p(0) = 3/4, p(1) = 1/2, p(2) = 1/4; p(0, 1) = 1/2, p(0, 2) = 1/4
    const double first = std::log(0.5 / (0.75 * 0.5)) / -std::log(0.5),
                 second = std::log(0.25 / (0.75 * 0.25)) / -std::log(0.25);
    BOOST_TEST(distance(*c.npmi(0), (first + second - 1) / 3) < 1e-14);
    // 6 is in no document; as the lower term it counts.
    BOOST_TEST(distance(*c.umass(1), std::log(1.0 / 1)) < 1e-14);
    BOOST_TEST(*c.npmi(1) == -1);
    BOOST_TEST(!c.umass(2));
    BOOST_TEST(!c.npmi(2));
    BOOST_TEST(distance(*c.umass(3), std::log(3.0 / 2)) < 1e-14);
  }
  TopicCoherence always({{0, 1}}), none({{0, 1}}), unknown({{6, 7}});
  always.add(documents[0].all());
  unknown.add(documents[0].all());
  BOOST_TEST(*always.npmi(0) == 1);
  BOOST_TEST(!none.npmi(0));
  BOOST_TEST(!none.umass(0));
  BOOST_TEST(!unknown.umass(0));
}

BOOST_AUTO_TEST_CASE(typical_documents_are_ranked_by_a_lower_bound) {
  // name, proportions and deviations of two topics
  const auto add = [](TypicalDocuments &to, TypicalDocuments::Name name, double p, double sd) {
    to.add(name, {{p, 1 - p}, {sd, sd}});
  };
  const auto ranked = [](const TypicalDocuments &from, int topic) {
    std::string out;
    for (const auto &entry : from.ranked(topic)) out += entry.name->value_or("?") + " ";
    return out;
  };
  TypicalDocuments few(2, 3), all(2, 100), none(2, 5);
  for (TypicalDocuments *const each : {&few, &all}) {
    add(*each, "short", 0.95, 0.2);
    add(*each, std::nullopt, 0.9, 0.01);
    add(*each, "b", 0.9, 0.01);
    add(*each, "other", 0.1, 0.01);
    add(*each, "a", 0.9, 0.01);
    add(*each, "long", 0.85, 0.001);
  }
  BOOST_TEST(ranked(all, 0) == "a b ? long short other ");
  BOOST_TEST(ranked(few, 0) == "a b ? ");
  BOOST_TEST(ranked(all, 1) == "other long a b ? short ");
  BOOST_TEST(ranked(few, 1) == "other long a ");
  BOOST_TEST(few.ranked(1)[1].proportion == 1 - 0.85);
  BOOST_TEST(few.ranked(1)[1].deviation == 0.001);
  BOOST_TEST(none.ranked(0).empty());
  // Where no document is about a topic for certain, those that may be come first.
  add(none, "without", 0.0008, 0.008);
  add(none, "never", 0, 0);
  add(none, "perhaps", 0.18, 0.34);
  BOOST_TEST(ranked(none, 0) == "perhaps without never ");
}

BOOST_AUTO_TEST_CASE(hellinger) {
  const std::vector<double> p = {0.5, 0.5, 0}, q = {0, 0, 1}, r = {0.25, 0.5, 0.25};
  BOOST_TEST(hellinger_distance(p, p) == 0);
  BOOST_TEST(hellinger_distance(p, q) == 1);
  BOOST_TEST(distance(hellinger_distance(p, r), std::sqrt(1 - std::sqrt(0.125) - 0.5)) < 1e-14);
  BOOST_CHECK_THROW(hellinger_distance(p, std::vector<double>{1}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
