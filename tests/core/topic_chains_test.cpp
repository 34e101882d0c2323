// Chains of topic models as a fit runs them: topics found and matched, threads and files, prior,
// errors.
#include <atomic>
#include <numeric>

#include "base/assignment.hpp"
#include "topic_sampler_support.hpp"

using namespace topics;

BOOST_AUTO_TEST_SUITE(topic_chains)

namespace {

LdaOptions options_of(const std::string &method, int k) {
  LdaOptions out;
  out.method = *bayes::method_of(method);
  out.k = k;
  out.seed = 3;
  out.chains.chains = 2;
  out.chains.draws = 60;
  out.chains.warmup = 40;
  return out;
}

struct Fit {
  NoModel model;
  SampledTopics topics;
};
Fit fit(Corpus &corpus, const LdaOptions &options, const LdaPrior &prior, Control &control) {
  Fit out;
  FitRun run(out.model, FitPlan(options), control);
  const auto start = [&](int) {
    return TopicStart{PaddedMatrix(corpus.totals().vocabulary, options.k), prior.alpha, prior.eta};
  };
  out.topics = sample_topics(corpus, options, prior, start, run, control);
  return out;
}
Fit fit(Corpus &corpus, const LdaOptions &options, const LdaPrior &prior) {
  Control control;
  return fit(corpus, options, prior, control);
}
LdaPrior prior_of(int k, double alpha = 1, double eta = 0.1) {
  return {std::vector<double>(std::size_t(k), alpha), eta, {}};
}

/// Griffiths and Steyvers 2004: terms are the pixels of a square of 5 x 5, topics its rows and
/// columns.
std::vector<Tokens> bars(int documents, int length, std::uint64_t seed) {
  Random random(seed);
  std::vector<Tokens> out;
  std::vector<double> theta(10);
  const std::vector<double> alpha(10, 1.0);
  for (int d = 0; d < documents; ++d) {
    random.dirichlet(alpha, theta);
    Tokens tokens;
    for (int i = 0; i < length; ++i) {
      const int z = random.categorical(theta), pixel = int(random.below(5));
      tokens.push_back(z < 5 ? 5 * z + pixel : 5 * pixel + z - 5);
    }
    out.push_back(tokens);
  }
  return out;
}
double share_of_bar(const PaddedMatrix &counts, int topic, int bar) {
  double inside = 0, all = 0;
  for (int w = 0; w < 25; ++w) {
    all += counts.row(w)[topic];
    if ((bar < 5 ? w / 5 : w % 5) == bar % 5) inside += counts.row(w)[topic];
  }
  return all > 0 ? inside / all : 0;
}
/// The smallest share of a topic's tokens that are in its bar, topics and bars matched.
double worst_share(const PaddedMatrix &counts) {
  std::vector<double> shares(100);
  for (int k = 0; k < 10; ++k)
    for (int bar = 0; bar < 10; ++bar)
      shares[std::size_t(10 * k + bar)] = share_of_bar(counts, k, bar);
  const auto bar = best_assignment(shares, 10);
  double worst = 1;
  for (int k = 0; k < 10; ++k)
    worst = std::min(worst, shares[std::size_t(10 * k + bar[std::size_t(k)])]);
  return worst;
}

/// Terms of documents like those of a small fit, in several pieces.
std::vector<Tokens> many_documents() {
  Random random(5);
  std::vector<Tokens> out;
  for (int d = 0; d < 900; ++d) {
    Tokens tokens;
    const auto about = random.below(20);
    for (int i = 0; i < 30; ++i)
      tokens.push_back(
          std::int32_t(random.below(3) > 0 ? 20 * about + random.below(20) : random.below(400)));
    out.push_back(tokens);
  }
  return out;
}

bool same(const SampledTopics &a, const SampledTopics &b) {
  bool equal = a.counts.values() == b.counts.values() && a.prior.alpha == b.prior.alpha &&
               a.prior.eta == b.prior.eta && a.draws.size() == b.draws.size();
  for (std::size_t s = 0; equal && s < a.draws.size(); ++s)
    equal = a.draws[s].values() == b.draws[s].values() &&
            a.draw_priors[s].alpha == b.draw_priors[s].alpha;
  return equal;
}

/// A corpus handed out as from a file: pieces one by one, in two buffers in turn.
class CorpusInFile final : public Corpus {
 public:
  explicit CorpusInFile(MemoryCorpus &all) : all_(all) { totals_ = all.totals(); }
  std::int64_t stretches() const override { return std::int64_t(all_.stretch(0).size()); }
  std::span<const CorpusPiece> stretch(std::int64_t index) override {
    const auto pieces = all_.stretch(0);
    const CorpusPiece piece = pieces[std::size_t(index)];
    turn_ ^= 1;
    std::size_t doubles = 0;
    each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
      doubles += packed_doubles(document.size());
      return true;
    });
    buffer_[turn_].assign(piece.data, piece.data + doubles);
    piece_[turn_] = {buffer_[turn_].data(), piece.documents, piece.first};
    return {&piece_[turn_], 1};
  }

 private:
  MemoryCorpus &all_;
  Buffer buffer_[2];
  CorpusPiece piece_[2];
  int turn_ = 0;
};

/// Interrupts that turn out to be nothing.
class Interrupted final : public Control {
 public:
  bool pending() const noexcept override { return ++asked_ % 1009 == 0; }
  void poll() override { ++polled; }
  int polled = 0;

 private:
  mutable std::atomic<int> asked_{0};
};

class Rare final : public Control {
 public:
  bool pending() const noexcept override {
    ++asked;
    return ++since_ == 20;
  }
  void poll() override { since_ = 0; }
  mutable std::atomic<int> asked{0};

 private:
  mutable std::atomic<int> since_{0};
};

class Cancelled final : public Control {
 public:
  bool pending() const noexcept override { return cancelled; }
  void poll() override {
    if (cancelled) throw Error(Errc::internal, "cancelled");
  }
  void progress(const Progress &p) override { cancelled = p.iteration == 3; }
  bool cancelled = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(ten_bars_are_recovered_and_matched) {
  MemoryCorpus corpus = corpus_of(bars(500, 60, 1), 25);
  for (const char *const method : {"collapsed", "gibbs"}) {
    LdaOptions options = options_of(method, 10);
    options.alpha = Tensor{{}, {1.0}};
    options.chains.draws = 350;
    options.chains.warmup = 300;
    const Fit found = fit(corpus, options, prior_of(10));
    BOOST_TEST(worst_share(found.topics.counts) > 0.9,
               method << ": " << worst_share(found.topics.counts));
    // Each stored draw has them at the same places.
    double moved = 0;
    for (const PaddedMatrix &draw : found.topics.draws)
      for (int k = 0; k < 10; ++k)
        for (int bar = 0; bar < 10; ++bar)
          moved = std::max(moved, std::abs(share_of_bar(draw, k, bar) -
                                           share_of_bar(found.topics.counts, k, bar)));
    BOOST_TEST(moved < 0.15, method << ": " << moved);
    double tokens = 0;
    for (const double n : found.topics.counts.values()) tokens += n;
    BOOST_TEST(support::distance(tokens, 30000) < 1e-9);
    BOOST_TEST(found.topics.prior.alpha == std::vector<double>(10, 1.0));
    // eta is learned; what pixels of a bar are: many of few
    BOOST_TEST(found.topics.prior.eta < 0.3);
    BOOST_TEST(found.topics.draws.size() == 100);
    BOOST_TEST(found.topics.draw_priors.size() == found.topics.draws.size());
    const Draws &draws = found.model.draws;
    BOOST_TEST((draws.quantities == std::vector<std::string>{"log_joint", "log_likelihood",
                                                             "entropy", "alpha", "eta"}));
    BOOST_TEST(draws.chains == 2);
    BOOST_TEST(draws.draws == 50);
    BOOST_TEST(std::abs(draws.values[2] - std::log(10)) < 0.05);
  }
}

BOOST_AUTO_TEST_CASE(labels_of_few_tokens_are_matched) {
  // Topics of so few tokens change places all the time.
  MemoryCorpus corpus = corpus_of({{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0}, {1, 1, 1}}, 2);
  for (const char *const method : {"collapsed", "gibbs"}) {
    LdaOptions options = options_of(method, 2);
    options.alpha = Tensor{{}, {0.1}};
    options.eta = 0.2;
    options.chains.draws = 1000;
    options.chains.warmup = 20;
    const Fit found = fit(corpus, options, prior_of(2, 0.1, 0.2));
    const double first = found.topics.counts.row(0)[0] - found.topics.counts.row(0)[1],
                 second = found.topics.counts.row(1)[0] - found.topics.counts.row(1)[1];
    BOOST_TEST(std::abs(first) > 5);
    BOOST_TEST(std::abs(second) > 5);
    BOOST_TEST(first * second < 0);
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads_files_or_interrupts) {
  MemoryCorpus corpus = corpus_of(many_documents(), 400);
  BOOST_REQUIRE(corpus.stretch(0).size() > 3);
  CorpusInFile file(corpus);
  for (const char *const method : {"collapsed", "gibbs"})
    for (const int k : {20, 150}) {
      LdaOptions options = options_of(method, k);
      options.chains.draws = 12;
      options.chains.warmup = 6;
      const Fit one = fit(corpus, options, prior_of(k, 0.1));
      BOOST_TEST(same(one.topics, fit(file, options, prior_of(k, 0.1)).topics));
      for (const int threads : {2, 3}) {
        Control control;
        control.threads = threads;
        const Fit many = fit(corpus, options, prior_of(k, 0.1), control);
        BOOST_TEST(same(one.topics, many.topics));
        BOOST_TEST(one.model.draws.values == many.model.draws.values);
        Interrupted interrupted;
        interrupted.threads = threads;
        BOOST_TEST(same(one.topics, fit(file, options, prior_of(k, 0.1), interrupted).topics));
        BOOST_TEST(interrupted.polled > 40);
      }
      options.seed = 4;
      BOOST_TEST(!same(one.topics, fit(corpus, options, prior_of(k, 0.1)).topics));
    }
}

BOOST_AUTO_TEST_CASE(histograms_include_large_counts) {
  // Of so many topics counts from 64 on are listed one by one.
  constexpr int topics = 20000;
  using Entry = std::tuple<int, std::int32_t, std::int64_t>;
  const auto entries_of = [](DocumentHistogram &histogram) {
    std::vector<Entry> out;
    histogram.each([&](int k, std::int32_t n, std::int64_t documents) {
      if (!out.empty() && std::get<0>(out.back()) == k && std::get<1>(out.back()) == n)
        std::get<2>(out.back()) += documents;
      else
        out.emplace_back(k, n, documents);
    });
    return out;
  };
  DocumentHistogram histogram(topics, 1000), other = histogram;
  for (const std::int32_t n : {65, 64, 63, 64, 1, 63}) histogram.add(3, n);
  histogram.add(topics - 1, 1000);
  other.add(3, 64);
  other.add(4, 64);
  other.add(0, 1);
  histogram.add(other);
  const std::vector<Entry> expected = {{0, 1, 1},  {3, 1, 1},  {3, 63, 2},           {3, 64, 3},
                                       {3, 65, 1}, {4, 64, 1}, {topics - 1, 1000, 1}};
  BOOST_TEST((entries_of(histogram) == expected));
  histogram.clear();
  BOOST_TEST(entries_of(histogram).empty());
}

// A document that is left in its middle goes on there, with its topics in the order they had.
BOOST_AUTO_TEST_CASE(results_do_not_depend_on_interrupts_inside_a_document) {
  MemoryCorpus corpus(3);
  const std::vector<std::int32_t> terms = {0, 1, 2};
  const std::vector<double> counts = {300000, 1, 500000};
  corpus.append({terms, counts});
  const auto swept = [&corpus](int threads, Control &control) {
    control.threads = threads;
    const TokenIndex index(corpus, control);
    TopicChain chain(corpus, index, prior_of(100, 0.1, 0.5), 1, 0);
    begin_topics(chain, nullptr, control);
    const auto sampler = gibbs_topics(chain, Sparsity::always);
    for (int t = 0; t < 3; ++t) sampler->sweep(t, control);
    return chain.assigned;
  };
  Control quiet;
  const auto expected = swept(1, quiet);
  for (const int threads : {1, 2}) {
    Rare rare;
    BOOST_TEST((swept(threads, rare) == expected));
    BOOST_TEST(rare.asked > 150);  // in each sweep about 60 times
  }
}

BOOST_AUTO_TEST_CASE(chains_begin_at_different_places_and_agree) {
  MemoryCorpus corpus = corpus_of(many_documents(), 400);
  Control control;
  const TokenIndex index(corpus, control);
  TopicChain a(corpus, index, prior_of(20), 1, 0), b(corpus, index, prior_of(20), 1, 1);
  begin_topics(a, nullptr, control);
  begin_topics(b, nullptr, control);
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < a.assigned.size(); ++i) equal += a.assigned[i] == b.assigned[i];
  BOOST_TEST(equal < 2000);  // of 27000
  // Topics drawn from the posterior are more probable than where chains begin.
  collapsed_topics(a)->sweep(1000, control);
  a.score();
  const double before = a.log_joint();
  const auto sampler = collapsed_topics(a);
  for (int t = 0; t < 30; ++t) sampler->sweep(t, control);
  a.score();
  BOOST_TEST(a.log_joint() > before + 1000);
}

BOOST_AUTO_TEST_CASE(alphas_are_matched_with_their_topics) {
  // Most documents are of one topic. Chains do not agree on which number it has.
  std::vector<Tokens> documents(36, Tokens(12, 0));
  documents.resize(42, Tokens(12, 1));
  MemoryCorpus corpus = corpus_of(documents, 2);
  for (const char *const method : {"collapsed", "gibbs"})
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      LdaOptions options = options_of(method, 2);
      options.seed = seed;
      options.learn_alpha = Learned::asymmetric;
      options.learn_eta = false;
      const Fit found = fit(corpus, options, prior_of(2, 1, 0.02));
      const auto large = std::size_t(found.topics.counts.row(0)[1] > found.topics.counts.row(0)[0]);
      const auto log_ratio = [large](const LdaPrior &prior) {
        return std::log(prior.alpha[large] / prior.alpha[1 - large]);
      };
      double mean = 0;
      for (const LdaPrior &prior : found.topics.draw_priors)
        mean += log_ratio(prior) / double(found.topics.draw_priors.size());
      BOOST_TEST(mean > 0.7, method << ", seed " << seed << ": " << mean);
      BOOST_TEST(log_ratio(found.topics.prior) > 0.7);
    }
}

BOOST_AUTO_TEST_CASE(seeded_topics_keep_their_numbers) {
  MemoryCorpus corpus = corpus_of(bars(300, 60, 2), 25);
  LdaPrior prior = prior_of(10);
  // Topic 3 is the first row, topic 7 the last column.
  prior.added = PaddedMatrix(25, 10);
  for (int i = 0; i < 5; ++i) {
    prior.added.row(i)[3] = 50;
    prior.added.row(5 * i + 4)[7] = 50;
  }
  for (const char *const method : {"collapsed", "gibbs"}) {
    const Fit found = fit(corpus, options_of(method, 10), prior);
    BOOST_TEST(share_of_bar(found.topics.counts, 3, 0) > 0.8);
    BOOST_TEST(share_of_bar(found.topics.counts, 7, 9) > 0.8);
    BOOST_TEST(found.topics.prior.added.row(0)[3] == 50);
  }
}

BOOST_AUTO_TEST_CASE(given_parameters_of_the_prior_are_not_drawn) {
  MemoryCorpus corpus = corpus_of(bars(50, 30, 3), 25);
  for (const char *const method : {"collapsed", "gibbs"}) {
    LdaOptions options = options_of(method, 3);
    options.alpha = Tensor{{3}, {0.5, 1, 2}};
    options.eta = 0.3;
    const LdaPrior given{{0.5, 1, 2}, 0.3, {}};
    const Fit fixed = fit(corpus, options, given);
    BOOST_TEST(support::distance(fixed.topics.prior.alpha, given.alpha) < 1e-12);
    BOOST_TEST(support::distance(fixed.topics.prior.eta, 0.3) < 1e-12);
    options.alpha.reset();
    options.eta.reset();
    options.learn_alpha = Learned::symmetric;
    const Fit symmetric = fit(corpus, options, given);
    const auto &alpha = symmetric.topics.prior.alpha;
    BOOST_TEST(support::distance(alpha[0], alpha[2]) < 1e-12);
    BOOST_TEST(alpha[0] != 0.5);
    BOOST_TEST(symmetric.topics.prior.eta != 0.3);
    options.learn_alpha = Learned::asymmetric;
    const Fit asymmetric = fit(corpus, options, given);
    BOOST_TEST(asymmetric.topics.prior.alpha[0] != asymmetric.topics.prior.alpha[2]);
    options.learn_alpha = Learned::no;
    options.learn_eta = false;
    BOOST_TEST(support::distance(fit(corpus, options, given).topics.prior.alpha, given.alpha) <
               1e-12);
  }
}

BOOST_AUTO_TEST_CASE(edge_cases) {
  for (const char *const method : {"collapsed", "gibbs"}) {
    const LdaOptions options = options_of(method, 4);
    // More topics than terms or tokens; empty documents; none at all.
    for (const auto &documents :
         {std::vector<Tokens>{{0}}, std::vector<Tokens>{{}, {1, 1}, {}}, std::vector<Tokens>{{}}}) {
      MemoryCorpus corpus = corpus_of(documents, 2);
      const Fit found = fit(corpus, options, prior_of(4));
      double tokens = 0;
      for (const double n : found.topics.counts.values()) tokens += n;
      BOOST_TEST(support::distance(tokens, corpus.totals().tokens) < 1e-12);
    }
    MemoryCorpus corpus = corpus_of({{0, 1}, {1}}, 3);
    const Fit one = fit(corpus, options_of(method, 1), prior_of(1));
    BOOST_TEST(one.topics.counts.row(1)[0] == 2);
    // Topics whose variates underflow.
    LdaOptions tiny = options;
    tiny.eta = 1e-7;
    BOOST_TEST(std::isfinite(fit(corpus, tiny, prior_of(4, 1, 1e-7)).model.info.objective));
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  MemoryCorpus fractions(2);
  append(fractions, {0, 1}, 1.5);
  const auto refuses = [&](Corpus &corpus, Control &control, Errc code, const std::string &text,
                           const std::string &hint, const std::string &method) {
    BOOST_CHECK_EXCEPTION(
        fit(corpus, options_of(method, 2), prior_of(2), control), Error, [&](const Error &e) {
          return e.code() == code && std::string(e.what()).find(text) != std::string::npos &&
                 std::string(e.hint()).find(hint) != std::string::npos;
        });
  };
  Control control;
  MemoryCorpus large(2);
  append(large, {0, 1}, 4e7);
  for (const std::string method : {"collapsed", "gibbs"}) {
    refuses(fractions, control, Errc::invalid_argument, "method " + method + " takes whole counts",
            "svi", method);
    Control small;
    small.row_memory = 1e8;
    refuses(large, small, Errc::too_large, "80000000 tokens", "svi", method);
    MemoryCorpus wide(1000000);
    append(wide, {5});
    small.memory = 4e7;
    refuses(wide, small, Errc::too_large, "2 topics of 1000000 terms", "smaller k", method);
    Cancelled cancelled;
    MemoryCorpus corpus = corpus_of(many_documents(), 400);
    BOOST_CHECK_EXCEPTION(fit(corpus, options_of(method, 10), prior_of(10), cancelled), Error,
                          [](const Error &e) { return std::string(e.what()) == "cancelled"; });
  }
}

BOOST_AUTO_TEST_SUITE_END()
