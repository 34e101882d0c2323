// Topic models by CVB0, against slow computations from its definition and against enumeration.
#include <algorithm>
#include <functional>
#include <numeric>

#include "lda_support.hpp"

using namespace topics;

namespace {

/// The parameters that a model stores of its topics, [k][w].
Table numbers_of(const TopicModel &model) {
  const Document document = model.to_document();
  const auto &values = document.find("topics")->as<Tensor>()->values;
  Table out;
  const std::size_t v = model.terms().size();
  for (std::size_t k = 0; k < at(model.size()); ++k)
    out.emplace_back(values.begin() + std::ptrdiff_t(k * v),
                     values.begin() + std::ptrdiff_t((k + 1) * v));
  return out;
}

/// What CVB0 makes of documents with these expected counts of topics.
struct SlowPass {
  Table tokens;  // [k][w]
  Real objective = 0;
};

/// Token by token; of a count that is a fraction all at once. `prior`: [k][w].
SlowPass slow_pass(const Corpus &corpus, const Reals &alpha, const Table &prior,
                   const Table &counts) {
  struct Token {
    std::size_t term;
    Real weight, one;
    Reals share;
  };
  const std::size_t k = alpha.size(), v = prior[0].size();
  Reals totals(k, 0);
  for (std::size_t i = 0; i < k; ++i) totals[i] = total(prior[i]) + total(counts[i]);
  SlowPass out{Table(k, Reals(v, 0)), 0};
  for (const Counts &document : corpus) {
    std::vector<Token> tokens;
    Real all = total(alpha);
    for (const auto &[w, n] : document) {
      const bool whole = n == std::floor(n);
      for (int i = 0; i < (whole ? int(n) : 1); ++i)
        tokens.push_back(
            {at(w), whole ? 1 : n, whole ? 1 : std::min(1.0, n), Reals(k, 1 / Real(k))});
      all += n;
    }
    Reals of_topics;
    Real objective = 0;
    for (int round = 0; round < 2000; ++round) {
      of_topics.assign(k, 0);
      objective = 0;
      for (const Token &token : tokens)
        for (std::size_t i = 0; i < k; ++i) of_topics[i] += token.weight * token.share[i];
      for (Token &token : tokens) {
        Reals next(k);
        for (std::size_t i = 0; i < k; ++i) {
          const Real own = token.one * token.share[i];
          next[i] = (alpha[i] + of_topics[i] - own) *
                    (prior[i][token.term] + counts[i][token.term] - own) / (totals[i] - own);
        }
        const Real norm = total(next);
        objective += token.weight * std::log(norm / (all - token.one));
        for (std::size_t i = 0; i < k; ++i) {
          of_topics[i] += token.weight * (next[i] / norm - token.share[i]);
          token.share[i] = next[i] / norm;
        }
      }
    }
    for (const Token &token : tokens)
      for (std::size_t i = 0; i < k; ++i)
        out.tokens[i][token.term] += token.weight * token.share[i];
    out.objective += objective;
  }
  return out;
}

/// The counts of a model: its numbers without their prior.
Table counts_of(const TopicModel &model, const Table &prior) {
  Table out = numbers_of(model);
  for (std::size_t k = 0; k < out.size(); ++k)
    for (std::size_t w = 0; w < out[k].size(); ++w) out[k][w] -= prior[k][w];
  return out;
}
Table flat(const TopicModel &model) {
  return Table(at(model.size()), Reals(model.terms().size(), model.eta()));
}

double largest_difference(const Table &a, const Table &b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j)
      out = support::larger(out, std::abs(double(a[i][j] - b[i][j])));
  return out;
}

Options options(Options more = {}) {
  more.emplace_back("method", "cvb0");
  return more;
}

/// Expected counts [k][w] by the sum over all assignments of topics to tokens.
Table exact_counts(const Corpus &documents, const Reals &alpha, const Table &prior) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t d = 0; d < documents.size(); ++d)
    for (const auto &[w, count] : documents[d])
      for (int i = 0; i < count; ++i) all.emplace_back(d, at(w));
  const std::size_t k = alpha.size();
  Table sums(k, Reals(prior[0].size(), 0));
  Real evidence = 0;
  std::vector<std::size_t> z(all.size(), 0);
  for (;;) {
    Table of_documents(documents.size(), alpha), of_topics = prior;
    for (std::size_t i = 0; i < all.size(); ++i) {
      of_documents[all[i].first][z[i]] += 1;
      of_topics[z[i]][all[i].second] += 1;
    }
    Real log_joint = 0;
    for (const Reals &each : of_documents) log_joint += log_normaliser(each);
    for (const Reals &each : of_topics) log_joint += log_normaliser(each);
    const Real p = std::exp(log_joint);
    evidence += p;
    for (std::size_t i = 0; i < all.size(); ++i) sums[z[i]][all[i].second] += p;
    std::size_t i = 0;
    while (i < z.size() && ++z[i] == k) z[i++] = 0;
    if (i == z.size()) break;
  }
  for (Reals &each : sums)
    for (Real &x : each) x /= evidence;
  return sums;
}

/// Every piece of a corpus in a stretch of its own, as from a file.
class Stretched final : public bayes::Corpus {
 public:
  explicit Stretched(MemoryCorpus &corpus) : corpus_(corpus) { totals_ = corpus.totals(); }
  std::int64_t stretches() const override { return std::int64_t(corpus_.stretch(0).size()); }
  std::span<const bayes::CorpusPiece> stretch(std::int64_t index) override {
    return corpus_.stretch(0).subspan(std::size_t(index), 1);
  }

 private:
  MemoryCorpus &corpus_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lda_collapsed)

BOOST_AUTO_TEST_CASE(converges_to_the_fixed_point) {
  // Counts that are large, and fractions below and above 1.
  Corpus documents = sixty;
  for (std::size_t d = 0; d < documents.size(); d += 3)
    for (auto &[w, n] : documents[d]) n *= d % 2 ? 3 : w % 2 ? 0.3 : 1.25;
  const Options fixed =
      options({{"prior", prior({{"alpha", Tensor{{4}, {0.3, 0.2, 0.5, 0.1}}}, {"eta", 0.1}})},
               {"tol", 0},
               {"max_iter", 1500}});
  const Fitted model = fitted(documents, 30, 4, fixed);
  const Table prior = flat(*model), counts = counts_of(*model, prior);
  const SlowPass slow = slow_pass(documents, reals(model->alpha()), prior, counts);
  BOOST_TEST(largest_difference(slow.tokens, counts) < 2e-5);
  BOOST_TEST(distance(model->info.objective, double(slow.objective)) < 1e-6);
  Reals weights;
  for (const Reals &each : slow.tokens) weights.push_back(total(each));
  for (std::size_t k = 0; k < 4; ++k)
    BOOST_TEST(distance(model->weights()[k], double(weights[k] / total(weights))) < 1e-6);
}

// Expected counts would make priors too large.
BOOST_AUTO_TEST_CASE(priors_are_those_drawn_by_the_initial_chain) {
  for (const char *const kind : {"asymmetric", "symmetric"}) {
    const auto fit = [&](int iterations) {
      return fitted(sixty, 30, 3,
                    options({{"prior", prior({{"alpha", kind}})}, {"max_iter", iterations}}));
    };
    const Fitted first = fit(1), last = fit(40), again = fitted(sixty, 30, 0, {}, 1, last.get());
    std::vector<double> begun = first->alpha(), ended = last->alpha();
    std::sort(begun.begin(), begun.end());
    std::sort(ended.begin(), ended.end());
    BOOST_TEST(begun == ended);
    BOOST_TEST((begun[0] == begun[2]) == (kind[0] == 's'));
    BOOST_TEST(begun[0] != 0.5);  // where learning begins
    BOOST_TEST(first->eta() == last->eta());
    BOOST_TEST(first->eta() != 0.02);
    BOOST_TEST(again->alpha() == last->alpha());
    BOOST_TEST(again->eta() == last->eta());
  }
}

// It is an approximation. Of these 12 tokens expected counts are within 0.2 of the exact ones, and
// those of vi twice as far off.
BOOST_AUTO_TEST_CASE(is_closer_to_the_posterior_than_vi) {
  const Corpus documents = {
      {{0, 2}, {1, 1}, {2, 1}}, {{1, 1}, {3, 2}}, {{0, 1}, {3, 1}, {2, 1}}, {{1, 1}, {2, 1}}};
  const Reals alpha = {0.8, 0.5};
  Table with_seeds(2, Reals(4, 0.4));
  with_seeds[0][0] += 3;
  with_seeds[1][3] += 2;
  const Table exact = exact_counts(documents, alpha, with_seeds);
  const Document seeds =
      Document::List{Document(Options{{"t00000", 3}}), Document(Options{{"t00003", 2}})};
  const auto error = [&](const char *method) {
    const Fitted model = fitted(
        documents, 4, 2,
        {{"method", method},
         {"tol", 0},
         {"max_iter", 2000},
         {"prior", prior({{"alpha", Tensor{{2}, {0.8, 0.5}}}, {"eta", 0.4}, {"terms", seeds}})}});
    return largest_difference(counts_of(*model, with_seeds), exact);
  };
  const double cvb0 = error("cvb0"), vi = error("vi");
  BOOST_TEST(cvb0 < 0.2);
  BOOST_TEST(2 * cvb0 < vi, cvb0 << " and of vi " << vi);
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads_or_files) {
  const Corpus documents = synthetic(3000, 400, 8, 50, 9);
  MemoryCorpus corpus = corpus_of(documents, 400);
  Stretched file(corpus);
  BOOST_TEST(file.stretches() > 10);
  const Options some = options({{"max_iter", 12}});
  const std::string one = bits(*fitted(corpus, 20, some, 1));
  for (const int threads : {2, 3}) BOOST_TEST((bits(*fitted(corpus, 20, some, threads)) == one));
  BOOST_TEST((bits(*fitted(file, 20, some, 2)) == one));
}

BOOST_AUTO_TEST_CASE(the_order_of_documents_hardly_matters) {
  Corpus documents = sixty;
  std::reverse(documents.begin(), documents.end());
  const Fitted start = fitted(sixty, 30, 4, options());
  const Options more = {{"tol", 0}, {"max_iter", 500}};
  const Fitted a = fitted(sixty, 30, 0, more, 1, start.get()),
               b = fitted(documents, 30, 0, more, 1, start.get());
  BOOST_TEST(distance(a->info.objective, b->info.objective) < 1e-6);
  for (int k = 0; k < 4; ++k) BOOST_TEST(distance(a->topic(k), b->topic(k)) < 1e-4);
}

BOOST_AUTO_TEST_CASE(one_topic_has_all_tokens) {
  const Fitted model =
      fitted(sixty, 30, 1, options({{"prior", prior({{"alpha", 0.7}, {"eta", 0.2}})}}));
  std::vector<Real> n(30, 0);
  Real all = 0, objective = 0;
  for (const Counts &each : sixty)
    for (const auto &[w, c] : each) n[at(w)] += c, all += c;
  for (const Counts &each : sixty)
    for (const auto &[w, c] : each)
      objective += c * std::log((n[at(w)] - 1 + 0.2L) / (all - 1 + 30 * 0.2L));
  const std::vector<double> topic = model->topic(0);
  for (std::size_t w = 0; w < 30; ++w)
    BOOST_TEST(distance(topic[w], double((n[w] + 0.2L) / (all + 6))) < 1e-12);
  BOOST_TEST(distance(model->info.objective, double(objective)) < 1e-12);
  BOOST_TEST(model->weights() == std::vector<double>{1});
}

// A run that pauses goes on from what it knows of the documents.
BOOST_AUTO_TEST_CASE(the_best_of_several_runs_continues) {
  const Fitted several = fitted(sixty, 30, 6, options({{"restarts", 4}}));
  BOOST_TEST(several->trace.size() == 4);
  BOOST_TEST(several->info.converged);
  for (const auto &run : several->trace) BOOST_TEST(several->info.objective >= run.back() - 0.2);
}

BOOST_AUTO_TEST_CASE(errors_name_what_needs_memory) {
  MemoryCorpus corpus = corpus_of(sixty, 30);
  Control control;
  control.memory = 100000;
  const auto fit = [&](const char *method, int k) {
    try {
      bayes::lda_fit(corpus, names(30), k, Document(Options{{"method", method}}), nullptr, false,
                     control);
    } catch (const Error &error) {
      return error.detail() + " | " + error.hint();
    }
    return std::string("no error");
  };
  const std::string entries = std::to_string(corpus.totals().entries);
  BOOST_TEST(fit("cvb0", 200) ==
             "The limit is maintenance_work_mem, or 1 GB if that is more. The memory needed "
             "includes 4 bytes for each topic and each of " +
                 entries +
                 " pairs of a document and a term of it. | Raise "
                 "maintenance_work_mem, or use method vi, svi or collapsed, a smaller k, or fewer "
                 "terms: options min_documents, max_terms.");
  BOOST_TEST(fit("cvb0", 4) == "no error");
}

BOOST_AUTO_TEST_CASE(has_no_posterior_of_topics) {
  const Fitted model = fitted(sixty, 30, 3, options());
  BOOST_TEST(model->topic_posterior(0).empty());
  BOOST_TEST(message_of([&] { fitted(sixty, 30, 0, {}, 1, model.get(), true); }) ==
             "this model cannot be updated: it was fitted by method cvb0");
}

BOOST_AUTO_TEST_SUITE_END()
