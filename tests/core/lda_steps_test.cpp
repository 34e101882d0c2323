// The parts of variational inference for topic models: the step of a document, minibatches, the
// learning of priors, and passes that are interrupted.
#include <atomic>

#include <utility>

#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "lda_support.hpp"
#include "support.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_variational.hpp"
#include "topics/topic_posterior.hpp"

using namespace topics;
using bayes::PaddedMatrix;

namespace {

/// Parameters of topics, and their expected logs [k][w].
struct Topics {
  Topics(int terms, int k, std::uint64_t seed) : parameters(terms, k), factors(terms, k) {
    bayes::Random random(seed);
    Table all(at(k), Reals(at(terms)));
    for (int w = 0; w < terms; ++w)
      for (int i = 0; i < k; ++i)
        all[at(i)][at(w)] = parameters.row(w)[i] = random.gamma(0.4) + 0.01;
    bayes::Buffer digammas(at(parameters.stride()), 0.0);
    for (int i = 0; i < k; ++i) {
      logs.push_back(expected_logs(all[at(i)]));
      digammas[at(i)] = double(psi(total(all[at(i)])));
    }
    for (int w = 0; w < terms; ++w) {
      const bayes::ExpectationSums sums = factors.expect(w, {parameters}, digammas.data());
      Real log_gamma = 0, of_logs = 0, counted = 0;
      for (int i = 0; i < k; ++i) {
        log_gamma += lgam(all[at(i)][at(w)]);
        of_logs += logs[at(i)][at(w)];
        counted += all[at(i)][at(w)] * logs[at(i)][at(w)];
      }
      BOOST_TEST(distance(sums.log_gamma, double(log_gamma)) < 1e-13);
      BOOST_TEST(distance(sums.logs, double(of_logs)) < 1e-13);
      BOOST_TEST(distance(sums.counted_logs, double(counted)) < 1e-13);
    }
  }
  PaddedMatrix parameters;
  bayes::TermFactors factors;
  Table logs;
};

Counts random_document(int terms, int tokens, bayes::Random &random) {
  Counts out;
  for (int i = 0; i < tokens; ++i) out[int(random.below(at(terms)))] += 0.5 + random.uniform();
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_steps)

BOOST_AUTO_TEST_CASE(the_local_step_agrees_with_a_slow_reference) {
  bayes::Random random(4);
  for (const int k : {1, 2, 7, 8, 9, 23})
    for (const int tokens : {0, 1, 3, 8, 40}) {
      const Topics topics(20, k, std::uint64_t(k));
      const Counts document = random_document(20, tokens, random);
      std::vector<double> alpha;
      for (int i = 0; i < k; ++i) alpha.push_back(0.05 + random.uniform());
      const bayes::ProportionPrior prior(alpha);
      bayes::DocumentStep step(topics.factors, prior);
      bayes::AllocationSums statistics(20, k);
      bayes::Buffer n(at(topics.parameters.stride()));
      const Packed packed(document);
      const double bound = step.infer(packed, {5, 0}, true, n.data());
      statistics.add(packed, step.allocation(), bound, n.data());

      // From equal weights one update, then five.
      Reals gamma = reals(alpha);
      for (const auto &[w, count] : document) {
        Real sum = 0;
        for (int i = 0; i < k; ++i) sum += std::exp(topics.logs[at(i)][at(w)]);
        for (int i = 0; i < k; ++i)
          gamma[at(i)] += count * std::exp(topics.logs[at(i)][at(w)]) / sum;
      }
      Real slow = 0;
      Reals of_topics;
      Table of_terms;
      for (int update = 0; update <= 5; ++update) {
        if (update > 0)
          for (int i = 0; i < k; ++i) gamma[at(i)] = alpha[at(i)] + of_topics[at(i)];
        of_topics.assign(at(k), 0);
        of_terms.assign(at(k), Reals(20, 0));
        slow = document_bound(document, reals(alpha), gamma, topics.logs, &of_terms, &of_topics);
      }
      BOOST_TEST(distance(bound, double(slow)) < 1e-12);
      const Reals logs = expected_logs(gamma);
      for (int i = 0; i < k; ++i) {
        BOOST_TEST(distance(n[at(i)], double(of_topics[at(i)])) < 1e-11);
        BOOST_TEST(distance(statistics.counts()[at(i)], double(of_topics[at(i)])) < 1e-11);
        BOOST_TEST(distance(statistics.logs()[at(i)], double(logs[at(i)])) < 1e-12);
      }
      BOOST_TEST(statistics.terms().size() == document.size());
      for (std::size_t t = 0; t < statistics.terms().size(); ++t)
        for (int i = 0; i < k; ++i) {
          const std::int32_t w = statistics.terms()[t];
          const double found = statistics.row(t)[i] * topics.factors.row(w)[i];
          BOOST_TEST(distance(found, double(of_terms[at(i)][at(w)])) < 1e-11);
        }
    }
}

BOOST_AUTO_TEST_CASE(sums_can_be_merged_and_cleared) {
  const Topics topics(20, 3, 1);
  const bayes::ProportionPrior prior(std::vector<double>(3, 0.2));
  bayes::DocumentStep step(topics.factors, prior);
  bayes::AllocationSums all(20, 3), a(20, 3), b(20, 3);
  bayes::AllocationSums every(20, 3, true), more(20, 3, true);
  bayes::Random random(2);
  bayes::Buffer n(8);
  for (int d = 0; d < 10; ++d) {
    const Packed document(random_document(20, 6, random));
    const double bound = step.infer(document, {3, 0}, true, n.data());
    for (bayes::AllocationSums *each : {&all, d < 5 ? &a : &b, d < 5 ? &every : &more})
      each->add(document, step.allocation(), bound, n.data());
  }
  a.add(b);
  BOOST_TEST(a.documents() == 10);
  BOOST_TEST(distance(a.bound(), all.bound()) < 1e-14);
  BOOST_TEST((a.terms() == all.terms()));
  for (std::size_t t = 0; t < a.terms().size(); ++t)
    for (int i = 0; i < 3; ++i) BOOST_TEST(distance(a.row(t)[i], all.row(t)[i]) < 1e-13);
  // With rows for all terms it is the same, to the last bit.
  every.add(more);
  BOOST_TEST(every.terms().size() == 20u);
  std::vector<bool> seen(20, false);
  for (std::size_t t = 0; t < a.terms().size(); ++t) {
    const std::size_t w = std::size_t(a.terms()[t]);
    seen[w] = true;
    for (int i = 0; i < 3; ++i) BOOST_TEST(every.row(w)[i] == a.row(t)[i]);
  }
  for (std::size_t w = 0; w < 20; ++w) BOOST_TEST((seen[w] || every.row(w)[0] == 0));
  BOOST_TEST(every.bound() == a.bound());
  every.clear();
  BOOST_TEST(every.row(std::size_t(a.terms()[0]))[0] == 0);
  every.add(more);
  BOOST_TEST(every.documents() == 5);
  a.clear();
  BOOST_TEST(a.terms().empty());
  BOOST_TEST(a.documents() == 0);
  a.add(all);
  BOOST_TEST(a.documents() == 10);
  BOOST_TEST(!a.terms().empty());
}

namespace {

/// Of every other term one or two tokens.
Packed large_document(int vocabulary) {
  Counts counts;
  for (int w = 0; w < vocabulary; w += 2) counts[w] = 1 + w % 3;
  return Packed(counts);
}

}  // namespace

// It may take longer than a cancel may.
BOOST_AUTO_TEST_CASE(local_steps_poll_inside_a_large_document) {
  const int v = 40000, k = 64;
  const Packed document(large_document(v));
  using support::polls_of;
  BOOST_TEST(polls_of([&] { bayes::PaddedMatrix(v, k); }) > 1);
  bayes::PaddedMatrix probabilities(v, k);
  std::fill(probabilities.values().begin(), probabilities.values().end(), 1.0 / v);
  bayes::TermFactors factors(v, k);
  for (int w = 0; w < v; ++w) factors.set_points(w, probabilities);
  const std::vector<double> alpha(at(k), 0.1);
  const bayes::ProportionPrior prior(alpha);
  bayes::DocumentStep step(factors, prior);
  bayes::Buffer tokens(at(k));
  double bound = 0;
  BOOST_TEST(polls_of([&] { bound = step.infer(document, {9, 0}, true, tokens.data()); }) >= 10);
  bayes::AllocationSums statistics(v, k);
  BOOST_TEST(polls_of([&] {
               for (int i = 0; i < 5; ++i)
                 statistics.add(document, step.allocation(), bound, tokens.data());
             }) >= 2);
  BOOST_TEST(polls_of([&] { bayes::infer_proportions(document, factors, alpha); }) >= 5);
}

BOOST_AUTO_TEST_CASE(minibatches_visit_every_document_once_in_a_pass) {
  Corpus documents;
  for (int d = 0; d < 1000; ++d) {
    Counts counts;
    for (int i = 0; i <= d % 60; ++i) counts[i] = d + 1;
    documents.push_back(counts);
  }
  MemoryCorpus corpus = corpus_of(documents, 60);
  bayes::Minibatches batches(corpus, 100, bayes::Random(1));
  std::vector<int> begins;
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<int> visits(1000, 0);
    for (int batch = 0; batch < 10; ++batch) {
      const bayes::Minibatch &next = batches.next();
      std::vector<bool> has(60, false);
      std::int64_t entries = 0, count = 0;
      for (const bayes::CorpusPiece &piece : next.pieces)
        bayes::each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
          const int d = int(document.counts[0]) - 1;
          if (batch == 0 && count == 0) begins.push_back(d);
          ++visits[at(d)];
          ++count;
          entries += std::int64_t(document.size());
          BOOST_TEST(document.size() == at(d % 60 + 1));
          for (const std::int32_t w : document.terms) has[at(w)] = true;
          return true;
        });
      BOOST_TEST(count == 100);
      BOOST_TEST(entries == next.entries);
      BOOST_TEST(next.terms.size() == at(std::count(has.begin(), has.end(), true)));
    }
    BOOST_TEST((visits == std::vector<int>(1000, 1)));
  }
  BOOST_TEST((begins[0] != begins[1] || begins[1] != begins[2]));
}

// A pass that is abandoned for a poll and done again leaves nothing behind.
BOOST_AUTO_TEST_CASE(the_log_likelihood_after_minibatches_is_estimated_from_some_documents) {
  bayes::Random random(3);
  topics::Corpus documents(3000);
  for (topics::Counts &each : documents)
    for (int i = 0; i < 30; ++i) ++each[std::int32_t(random.below(random.below(2) ? 10 : 40))];
  MemoryCorpus corpus = topics::corpus_of(documents, 40);
  PaddedMatrix given(40, 2);
  for (int w = 0; w < 40; ++w) {
    given.row(w)[0] = w < 10 ? 0.09 : 0.1 / 30;
    given.row(w)[1] = 1.0 / 40;
  }
  Control control;
  const std::vector<double> alpha{1, 1};
  const auto found = [&](std::int64_t most) {
    return bayes::topics_log_likelihood(corpus, given, alpha, {}, control, most);
  };
  const std::int64_t all = corpus.totals().entries;
  const double whole = found(all), part = found(all / 5);
  BOOST_TEST(part != whole);
  BOOST_TEST(distance(part, whole) < 0.01);
  // the first documents, as if they were all
  MemoryCorpus first(40);
  for (std::size_t i = 0; first.totals().entries < all / 5; ++i)
    first.append(topics::Packed(documents[i]));
  BOOST_TEST(distance(part, bayes::topics_log_likelihood(first, given, alpha, {}, control) *
                                corpus.totals().tokens / first.totals().tokens) < 1e-12);
}

// What svi reports is no estimate by a minibatch, but the bound of all documents: the one that vi
// begins with from there.
BOOST_AUTO_TEST_CASE(the_objective_of_svi_is_that_of_all_documents) {
  const Corpus documents = synthetic(700, 50, 4, 30, 3);
  const Document priors = prior({{"alpha", 0.3}, {"eta", 0.1}});
  for (const int batch : {20, 700}) {
    const Fitted steps = fitted(documents, 50, 5,
                                {{"method", "svi"},
                                 {"batch_size", batch},
                                 {"max_iter", 30},
                                 {"restarts", 1},
                                 {"prior", priors}});
    const Fitted from = fitted(
        documents, 50, 5, {{"method", "vi"}, {"max_iter", 1}, {"prior", priors}}, 1, steps.get());
    BOOST_TEST(distance(steps->info.objective, from->trace[0][0]) < 1e-4, batch);
    BOOST_TEST(steps->info.objective == steps->trace[0].back());
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_interrupts) {
  struct Busy final : Control {
    mutable std::atomic<int> asked{0};
    bool pending() const noexcept override { return ++asked % 1009 == 0; }
  };
  const Corpus documents = synthetic(400, 50, 4, 30, 3);
  MemoryCorpus corpus = corpus_of(documents, 50);
  // All methods find their starting point in the same way, which takes most of the time.
  Fitted start;
  for (const char *const method : {"vi", "em", "svi", "cvb0"}) {
    Options options = {{"method", method}, {"max_iter", start ? 60 : 20}, {"restarts", 1}};
    if (method[0] == 's') options.emplace_back("batch_size", 100);
    Fitted quiet = fitted(corpus, 5, options, 1, start.get());
    Busy control;
    control.threads = 2;
    const Fitted busy =
        bayes::lda_fit(corpus, names(50), 5, Document(options), start.get(), false, control);
    BOOST_TEST(control.asked > 1100, method << " asked " << control.asked << " times");
    BOOST_TEST((bits(*quiet) == bits(*busy)), method);
    if (!start) start = std::move(quiet);
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_interrupts_in_a_large_document) {
  struct Rare final : Control {
    mutable std::atomic<int> asked{0};
    int polls = 0;
    bool pending() const noexcept override {
      const int n = ++asked;
      return n == 40 || n == 400 || n == 403 || n == 500 || n == 1000;
    }
    void poll() override { ++polls; }
  };
  const int v = 20000;
  MemoryCorpus corpus(v);
  corpus.append(Packed({{1, 2}, {5, 1}}));
  corpus.append(large_document(v));
  // Without it the short chains of starting points would take most of the time.
  const Fitted start = fitted(synthetic(100, v, 60, 20, 5), v, 60, {{"max_iter", 1}});
  for (const char *const method : {"vi", "em", "svi", "gibbs", "collapsed"}) {
    Options options = {{"method", method}};
    if (method[0] == 'g' || method[0] == 'c')
      options.insert(options.end(), {{"draws", 6}, {"warmup", 3}});
    else
      options.emplace_back("max_iter", 6);
    if (method[0] == 's') options.emplace_back("batch_size", 1);
    const Fitted quiet = fitted(corpus, 60, options, 1, start.get());
    for (const int threads : {1, 2}) {
      Rare control;
      control.threads = threads;
      const Fitted busy =
          bayes::lda_fit(corpus, names(v), 60, Document(options), start.get(), false, control);
      BOOST_TEST(control.polls > 0);
      BOOST_TEST((bits(*quiet) == bits(*busy)), method << ", " << threads);
    }
  }
}

BOOST_AUTO_TEST_CASE(learned_parameters_maximise_the_objective) {
  bayes::Random random(8);
  const std::vector<double> truth = {0.2, 3, 0.05, 1};
  std::vector<double> logs(4, 0.0), draw(4);
  double sum = 0;
  for (int d = 0; d < 500; ++d) {
    random.dirichlet(truth, draw);
    for (std::size_t k = 0; k < 4; ++k) {
      const double x = std::log(std::max(draw[k], 1e-200));
      logs[k] += x;
      sum += x;
    }
  }
  const auto value = [&](const std::vector<double> &a) {
    Real out = -500 * log_normaliser(reals(a));
    for (std::size_t k = 0; k < 4; ++k) out += a[k] * logs[k];
    return out;
  };
  std::vector<double> found(4, 1.0);
  bayes::learn_asymmetric(found, 500, logs);
  const double same = bayes::learn_symmetric(500, 4, sum);
  for (const double factor : {0.999, 1.001}) {
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> other = found;
      other[k] *= factor;
      BOOST_TEST(double(value(other)) < double(value(found)));
    }
    BOOST_TEST(double(value(std::vector<double>(4, same * factor))) <
               double(value(std::vector<double>(4, same))));
  }
  // What is added to none is nothing.
  BOOST_TEST(distance(bayes::learn_symmetric(PaddedMatrix(4, 500), sum), same) < 1e-9);
}

BOOST_AUTO_TEST_SUITE_END()
