// Topic models fitted by vi, em and svi (and cvb0, see lda_collapsed_test.cpp), from outside; those
// that start from a model or a prior with numbered topics: lda_start_test.cpp.
#include "topics/lda.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "document/members.hpp"
#include "lda_support.hpp"

using namespace topics;

namespace {

Table log_weights_of(const TopicModel &model) {
  Table out;
  for (int k = 0; k < model.size(); ++k) {
    if (model.info.method == bayes::Method::em) {
      Reals logs;
      for (const double p : model.topic(k)) logs.push_back(std::log(std::max<Real>(p, 1e-4000L)));
      out.push_back(logs);
    } else {
      out.push_back(expected_logs(reals(model.topic_posterior(k))));
    }
  }
  return out;
}

/// The bound at the returned parameters, with the best proportions of every document.
Real slow_bound(const TopicModel &model, const Corpus &documents) {
  const Table log_weights = log_weights_of(model);
  const Reals alpha = reals(model.alpha());
  Real out = 0;
  for (const Counts &each : documents)
    out += document_bound(each, alpha, slow_gamma(each, alpha, log_weights), log_weights);
  if (model.info.method != bayes::Method::em)
    for (int k = 0; k < model.size(); ++k)
      out += minus_divergence(reals(model.topic_posterior(k)),
                              Reals(model.terms().size(), model.eta()));
  return out;
}

double largest_drop(const std::vector<double> &trace) {
  double most = 0;
  for (std::size_t i = 1; i < trace.size(); ++i)
    most = support::larger(most, (trace[i - 1] - trace[i]) / std::abs(trace[i]));
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lda)
BOOST_AUTO_TEST_CASE(the_objective_is_the_bound_of_the_returned_parameters) {
  for (const Options &options :
       {Options{{"method", "vi"}},
        Options{{"method", "vi"}, {"prior", prior({{"alpha", 0.3}, {"eta", 0.2}})}},
        Options{{"method", "vi"}, {"prior", prior({{"alpha", "symmetric"}})}},
        Options{{"method", "em"}}}) {
    // A document may have two optima, of which the slow reference finds the other for some seeds.
    double least = HUGE_VAL;
    for (int seed = 1; seed <= 3 && least >= 1e-9; ++seed) {
      Options all = options;
      all.insert(all.end(), {{"tol", 0}, {"max_iter", 3000}, {"seed", seed}});
      const Fitted model = fitted(sixty, 30, 4, all);
      least = std::min(least, distance(model->info.objective, double(slow_bound(*model, sixty))));
    }
    BOOST_TEST(least < 1e-9, Document(options).to_json() << " " << least);
  }
}

BOOST_AUTO_TEST_CASE(every_iteration_raises_the_objective) {
  for (const char *const method : {"vi", "em"})
    for (const char *const alpha : {"symmetric", "asymmetric"})
      for (int k : {1, 2, 7, 40}) {
        const Fitted model = fitted(sixty, 30, k,
                                    {{"method", method},
                                     {"tol", 0},
                                     {"max_iter", 150},
                                     {"prior", prior({{"alpha", alpha}})}});
        BOOST_TEST(largest_drop(model->trace[0]) < 1e-12,
                   method << " " << alpha << " " << k << ": " << largest_drop(model->trace[0]));
      }
  const Fitted given =
      fitted(sixty, 30, 5,
             {{"tol", 0}, {"max_iter", 150}, {"prior", prior({{"alpha", 0.05}, {"eta", 0.01}})}});
  BOOST_TEST(largest_drop(given->trace[0]) < 1e-12);
  BOOST_TEST(given->eta() == 0.01);
  BOOST_TEST(given->alpha() == std::vector<double>(5, 0.05));
}

// Learned priors are at a maximum: from there, the bound is lower with others.
BOOST_AUTO_TEST_CASE(learned_priors_have_the_largest_bound) {
  const Corpus documents = synthetic(300, 30, 3, 60, 6);
  const Options options = {
      {"tol", 0}, {"max_iter", 1000}, {"prior", prior({{"alpha", "symmetric"}})}};
  const Fitted learned = fitted(documents, 30, 3, options);
  const double a = learned->alpha()[0], e = learned->eta();
  BOOST_TEST(learned->alpha() == std::vector<double>(3, a));
  for (const double factor : {0.9, 1.1})
    for (const bool scale : {true, false}) {
      const Fitted other = fitted(
          documents, 30, 0,
          {{"tol", 0},
           {"max_iter", 1000},
           {"prior", prior({{"alpha", scale ? a * factor : a}, {"eta", scale ? e : e * factor}})}},
          1, learned.get());
      BOOST_TEST(other->info.objective < learned->info.objective, factor << scale);
      BOOST_TEST(other->info.objective > learned->info.objective - 5);
    }
  const Options by_default = {{"tol", 0}, {"max_iter", 1000}, {"prior", prior({})}};
  const Fitted each = fitted(documents, 30, 0, by_default, 1, learned.get());
  BOOST_TEST(each->info.objective > learned->info.objective);
}

BOOST_AUTO_TEST_CASE(the_bound_is_below_the_evidence) {
  const Corpus tiny = {{{0, 2}, {1, 1}}, {{1, 1}, {2, 2}}, {{3, 2}}, {}};
  const double evidence = double(log_evidence(tiny, 4, {0.4, 0.7}, 0.5));
  for (int seed = 1; seed <= 5; ++seed) {
    const Fitted model =
        fitted(tiny, 4, 2,
               {{"seed", seed},
                {"tol", 0},
                {"prior", prior({{"alpha", Tensor{{2}, {0.4, 0.7}}}, {"eta", 0.5}})}});
    BOOST_TEST(model->info.objective < evidence);
    BOOST_TEST(model->info.objective > evidence - 6);
  }
  // With one topic nothing is approximated.
  const Fitted one = fitted(tiny, 4, 1, {{"prior", prior({{"alpha", 0.4}, {"eta", 0.5}})}});
  BOOST_TEST(distance(one->info.objective, double(log_evidence(tiny, 4, {0.4}, 0.5))) < 1e-12);
}

BOOST_AUTO_TEST_CASE(svi_with_all_documents_and_whole_steps_is_vi) {
  for (const int iterations : {1, 3, 20}) {
    const Fitted batch = fitted(sixty, 30, 5, {{"tol", 0}, {"max_iter", iterations}});
    // Its last step is not followed by a local one.
    const Fitted steps = fitted(sixty, 30, 5,
                                {{"method", "svi"},
                                 {"tol", 0},
                                 {"max_iter", iterations},
                                 {"kappa", 0},
                                 {"batch_size", 60}});
    BOOST_TEST(batch->size() == steps->size());
    std::vector<double> a, b;
    for (int k = 0; k < 5; ++k) {
      const auto p = batch->topic_posterior(k), q = steps->topic_posterior(k);
      a.insert(a.end(), p.begin(), p.end());
      b.insert(b.end(), q.begin(), q.end());
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    BOOST_TEST(distance(a, b) == 0);
    BOOST_TEST(distance(batch->eta(), steps->eta()) == 0);
    for (int i = 0; i < iterations; ++i)
      BOOST_TEST(batch->trace[0][at(i)] == steps->trace[0][at(i)]);
  }
}

BOOST_AUTO_TEST_CASE(svi_comes_close_to_vi) {
  const Corpus documents = synthetic(2000, 60, 6, 40, 8);
  const Document priors = prior({{"alpha", 0.3}, {"eta", 0.1}});
  const Fitted batch = fitted(documents, 60, 6, {{"prior", priors}});
  const Fitted steps = fitted(
      documents, 60, 6,
      {{"method", "svi"}, {"batch_size", 100}, {"max_iter", 800}, {"tol", 0}, {"prior", priors}});
  BOOST_TEST(steps->info.iterations == 800);
  BOOST_TEST(steps->info.log_likelihood > batch->info.log_likelihood * 1.01);
  std::vector<std::vector<double>> topics;
  for (int k = 0; k < 6; ++k) topics.push_back(batch->topic(k));
  BOOST_TEST(worst_match(topics, *steps) < 0.1);
  // They know as much: from every token, not from those of a minibatch.
  const auto known = [](const TopicModel &model) {
    double sum = 0;
    for (int k = 0; k < model.size(); ++k)
      for (const double lambda : model.topic_posterior(k)) sum += lambda;
    return sum;
  };
  BOOST_TEST(distance(known(*steps), known(*batch)) < 0.05);
  // With a tolerance it stops by itself.
  const Fitted stopped =
      fitted(documents, 60, 6, {{"method", "svi"}, {"batch_size", 100}, {"max_iter", 5000}});
  BOOST_TEST(stopped->info.converged);
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads, *boost::unit_test::label("long")) {
  const Corpus documents = synthetic(1200, 400, 8, 50, 9);
  // All methods find their starting point in the same way, which takes most of the time.
  Fitted start;
  for (const char *const method : {"vi", "em", "svi"}) {
    Options options = {{"method", method}, {"max_iter", 12}};
    if (std::strcmp(method, "svi") == 0) options.emplace_back("batch_size", 600);
    Fitted one = fitted(documents, 400, 8, options, 1, start.get());
    for (const int threads : {2, 3})
      BOOST_TEST((bits(*fitted(documents, 400, 8, options, threads, start.get())) == bits(*one)),
                 method << threads);
    if (!start) start = std::move(one);
  }
}

BOOST_AUTO_TEST_CASE(seeds_and_restarts) {
  const auto objective = [](Options options) {
    options.emplace_back("max_iter", 200);
    return fitted(sixty, 30, 6, options);
  };
  BOOST_TEST((bits(*objective({})) == bits(*objective({{"seed", 1}}))));
  BOOST_TEST((bits(*objective({})) != bits(*objective({{"seed", 2}}))));
  const Fitted several = objective({{"restarts", 4}});
  BOOST_TEST(several->trace.size() == 4);
  for (const auto &run : several->trace) BOOST_TEST(several->info.objective >= run.back());
}

BOOST_AUTO_TEST_CASE(equal_documents_have_equal_proportions) {
  Corpus documents = sixty;
  documents.push_back(sixty[3]);
  const Fitted model = fitted(documents, 30, 4, {});
  const LdaProportions a = model->proportions(Packed(documents[3])),
                       b = model->proportions(Packed(documents.back()));
  BOOST_TEST(a.mean == b.mean);
  BOOST_TEST(distance(std::accumulate(a.mean.begin(), a.mean.end(), 0.0), 1) < 1e-14);
}

// No updates of the slow reference find a better bound, and few a bound as good.
BOOST_AUTO_TEST_CASE(proportions_agree_with_a_slow_reference) {
  for (const char *const method : {"vi", "em"}) {
    const Fitted model = fitted(sixty, 30, 4, {{"method", method}});
    const Table log_weights = log_weights_of(*model);
    const Reals alpha = reals(model->alpha());
    for (const Counts &document :
         {sixty[0], sixty[7], Counts{}, Counts{{3, 0.25}}, Counts{{1, 1e6}, {9, 3}}}) {
      Real sum = total(alpha);
      for (const auto &[w, n] : document) sum += n;
      const LdaProportions found = model->proportions(Packed(document));
      Reals gamma;
      for (std::size_t k = 0; k < alpha.size(); ++k) {
        const Real p = found.mean[k];
        gamma.push_back(p * sum);
        BOOST_TEST(distance(found.deviation[k], double(std::sqrt(p * (1 - p) / (sum + 1)))) <
                   1e-12);
      }
      const Real bound = document_bound(document, alpha, gamma, log_weights),
                 slow = document_bound(document, alpha, slow_gamma(document, alpha, log_weights),
                                       log_weights);
      BOOST_TEST(double(bound) > double(slow) - 1e-9 * std::abs(double(slow)) - 1e-9);
      Reals next = alpha;
      document_bound(document, alpha, gamma, log_weights, nullptr, &next);
      for (std::size_t k = 0; k < alpha.size(); ++k)
        BOOST_TEST(std::abs(double(next[k] - gamma[k])) < 1e-9 * double(sum));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_documents_hardly_matters) {
  const Corpus documents(sixty.rbegin(), sixty.rend());
  const Options options = {{"tol", 0}, {"max_iter", 300}};
  const Fitted start = fitted(sixty, 30, 4, {{"max_iter", 1}}),
               a = fitted(sixty, 30, 0, options, 1, start.get()),
               b = fitted(documents, 30, 0, options, 1, start.get());
  BOOST_TEST(distance(a->info.objective, b->info.objective) < 1e-12);
  for (int k = 0; k < 4; ++k) BOOST_TEST(distance(a->topic(k), b->topic(k)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(terms_without_documents_do_not_change_topics) {
  MemoryCorpus corpus = corpus_of(sixty, 30), wider(31);
  std::vector<std::string> terms = names(30), more = terms;
  more.insert(more.begin(), "a");
  for (const Counts &each : sixty) {
    Counts shifted;
    for (const auto &[w, n] : each) shifted[w + 1] = n;
    wider.append(Packed(shifted));
  }
  Control control;
  const Document options(Options{{"method", "em"}, {"max_iter", 60}, {"tol", 0}});
  const Fitted start = fitted(sixty, 30, 4, {{"max_iter", 1}}),
               a = bayes::lda_fit(corpus, terms, 0, options, start.get(), false, control),
               b = bayes::lda_fit(wider, more, 0, options, start.get(), false, control);
  for (int k = 0; k < 4; ++k) {
    std::vector<double> topic = b->topic(k);
    BOOST_TEST(topic[0] < 1e-100);
    topic.erase(topic.begin());
    BOOST_TEST(distance(a->topic(k), topic) < 1e-3);
  }
}

// A document with counts twice as large is as sure as twice as many tokens make it; em with
// documents listed twice is the same as once.
BOOST_AUTO_TEST_CASE(counting_documents_twice) {
  Corpus twice = sixty, counts = sixty;
  twice.insert(twice.end(), sixty.begin(), sixty.end());
  for (Counts &each : counts)
    for (auto &[w, n] : each) n *= 2;
  const Options options = {
      {"method", "em"}, {"tol", 0}, {"max_iter", 400}, {"prior", prior({{"alpha", 0.4}})}};
  const Fitted start = fitted(sixty, 30, 4, {{"max_iter", 1}}),
               once = fitted(sixty, 30, 0, options, 1, start.get()),
               listed = fitted(twice, 30, 0, options, 1, start.get()),
               doubled = fitted(counts, 30, 0, options, 1, start.get());
  BOOST_TEST(distance(2 * once->info.objective, listed->info.objective) < 1e-6);
  for (int k = 0; k < 4; ++k) BOOST_TEST(distance(once->topic(k), listed->topic(k)) < 1e-3);
  BOOST_TEST(distance(2 * once->info.objective, doubled->info.objective) > 1e-3);
  const Fitted model = fitted(sixty, 30, 4, {});
  for (int d : {0, 5})
    for (std::size_t k = 0; k < 4; ++k)
      if (model->proportions(Packed(sixty[at(d)])).mean[k] > 0.9)
        BOOST_TEST(model->proportions(Packed(counts[at(d)])).deviation[k] <
                   model->proportions(Packed(sixty[at(d)])).deviation[k]);
}

BOOST_AUTO_TEST_CASE(edge_cases) {
  const Corpus empty_ones = {{}, {{0, 1}}, {}, {{1, 2.5}, {2, 0.125}}};
  const Corpus huge = {{{0, 1e9}, {1, 3e9}}, {{1, 1e9}, {2, 1}}, {{2, 5e8}}};
  const Corpus one = {{{0, 3}, {2, 1}}};
  for (const Corpus &documents : {empty_ones, huge, one, Corpus{{}}})
    for (const int k : {1, 3, 20}) {
      // All methods find their starting point in the same way, which takes long for large counts.
      Fitted start;
      for (const char *const method : {"vi", "em", "svi", "cvb0"}) {
        Options options = {{"method", method}, {"max_iter", 50}};
        if (std::strcmp(method, "svi") == 0) options.emplace_back("batch_size", 2);
        Fitted model = fitted(documents, 3, k, options, 1, start.get());
        BOOST_TEST(std::isfinite(model->info.objective), method << k);
        BOOST_TEST(std::isfinite(model->info.log_likelihood));
        BOOST_TEST(model->info.rows == std::int64_t(documents.size()));
        BOOST_TEST((bits(*model) == bits(dynamic_cast<TopicModel &>(
                                        *bayes::Model::from_document(model->to_document())))));
        double weights = 0;
        for (const double w : model->weights()) weights += w;
        BOOST_TEST(distance(weights, 1) < 1e-12);
        const LdaProportions found = model->proportions(Packed(documents.back()));
        for (const double p : found.mean) BOOST_TEST((p > 0 && p <= 1));
        if (!start && documents == huge) start = std::move(model);
      }
    }
  BOOST_TEST(message_of([] { fitted(Corpus{}, 3, 2, {}); }) == "there are no documents to fit");
  BOOST_TEST(message_of([] { fitted(Corpus{{}}, 0, 2, {}); }) == "there are no terms to fit");
}

BOOST_AUTO_TEST_CASE(the_ten_bars_are_found, *boost::unit_test::label("long")) {
  const Corpus documents = documents_of_bars(500, 100, 3);
  for (const char *const method : {"vi", "em"}) {
    const Fitted model = fitted(documents, 25, 10, {{"method", method}, {"restarts", 6}});
    BOOST_TEST(worst_match(bars(), *model) < 0.12, method << worst_match(bars(), *model));
  }
}

BOOST_AUTO_TEST_SUITE_END()
