// The samplers of topic models: tokens a second by the number of topics and of threads, and
// held-out perplexity against CPU seconds.
//
// bench_lda_samplers speed              a synthetic corpus: K = 50, 200, 1000
// bench_lda_samplers perplexity DIR     the arrays of a data set with known topics (V, train_ptr,
//                                       train_words, test_ptr, test_words) as .npy files:
//                                       perplexity of the odd tokens of test documents given the
//                                       even ones
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/special.hpp"
#include "topics/topic_chain.hpp"

using namespace bayes;

namespace {

double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](timeval t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return of(usage.ru_utime) + of(usage.ru_stime);
}
double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using Tokens = std::vector<std::int32_t>;

void append(MemoryCorpus &corpus, const Tokens &tokens) {
  std::map<std::int32_t, double> counts;
  for (const std::int32_t w : tokens) ++counts[w];
  std::vector<std::int32_t> terms;
  std::vector<double> numbers;
  for (const auto &[w, n] : counts) {
    terms.push_back(w);
    numbers.push_back(n);
  }
  corpus.append({terms, numbers});
}

/// 10,000 documents of about 100 tokens, of 5,000 terms in 50 topics.
MemoryCorpus synthetic() {
  constexpr int terms = 5000, topics = 50;
  Random random(1);
  std::vector<std::vector<double>> running(topics, std::vector<double>(terms));
  const std::vector<double> eta(terms, 0.02), alpha(topics, 0.1);
  for (auto &topic : running) {
    random.dirichlet(eta, topic);
    for (int w = 1; w < terms; ++w) topic[std::size_t(w)] += topic[std::size_t(w - 1)];
  }
  MemoryCorpus out(terms);
  std::vector<double> theta(topics);
  for (int d = 0; d < 10000; ++d) {
    random.dirichlet(alpha, theta);
    Tokens tokens;
    for (int i = 0; i < 80 + int(random.below(41)); ++i) {
      const auto &topic = running[std::size_t(random.categorical(theta))];
      tokens.push_back(std::int32_t(std::min<std::ptrdiff_t>(
          terms - 1, std::lower_bound(topic.begin(), topic.end(), random.uniform() * topic.back()) -
                         topic.begin())));
    }
    append(out, tokens);
  }
  return out;
}

template <class T> std::vector<T> read_npy(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  const std::string bytes = all.str();
  const std::size_t header =
      10 + std::size_t(std::uint8_t(bytes.at(8))) + 256 * std::size_t(std::uint8_t(bytes.at(9)));
  std::vector<T> out((bytes.size() - header) / sizeof(T));
  std::memcpy(out.data(), bytes.data() + header, out.size() * sizeof(T));
  return out;
}
std::vector<Tokens> read_documents(const std::string &directory, const std::string &part) {
  const auto begin = read_npy<std::int64_t>(directory + "/" + part + "_ptr.npy");
  const auto words = read_npy<std::int32_t>(directory + "/" + part + "_words.npy");
  std::vector<Tokens> out;
  for (std::size_t d = 0; d + 1 < begin.size(); ++d)
    out.emplace_back(words.begin() + begin[d], words.begin() + begin[d + 1]);
  return out;
}

/// Proportions of the even tokens by variational inference with fixed topics.
double perplexity(const std::vector<Tokens> &documents, const PaddedMatrix &topics,
                  const std::vector<double> &alpha) {
  const std::size_t k = alpha.size();
  double log_p = 0, tokens = 0;
  for (const Tokens &document : documents) {
    std::vector<double> gamma(k, 1.0), weight(k), next(k);
    for (int iteration = 0; iteration < 50; ++iteration) {
      for (std::size_t j = 0; j < k; ++j) weight[j] = std::exp(digamma(gamma[j]));
      next = alpha;
      for (std::size_t i = 0; i < document.size(); i += 2) {
        const double *const beta = topics.row(document[i]);
        double sum = 1e-300;
        for (std::size_t j = 0; j < k; ++j) sum += weight[j] * beta[j];
        for (std::size_t j = 0; j < k; ++j) next[j] += weight[j] * beta[j] / sum;
      }
      gamma = next;
    }
    double total = 0;
    for (const double g : gamma) total += g;
    for (std::size_t i = 1; i < document.size(); i += 2) {
      const double *const beta = topics.row(document[i]);
      double p = 0;
      for (std::size_t j = 0; j < k; ++j) p += gamma[j] / total * beta[j];
      log_p += std::log(p);
      ++tokens;
    }
  }
  return std::exp(-log_p / tokens);
}

std::unique_ptr<TopicSampler> make(const std::string &method, TopicChain &chain) {
  return method == "gibbs" ? gibbs_topics(chain) : collapsed_topics(chain);
}

void measure_speed(const std::vector<int> &topics) {
  MemoryCorpus corpus = synthetic();
  Control control;
  const TokenIndex index(corpus, control);
  for (const int k : topics)
    for (const auto &[method, threads] :
         {std::pair{"collapsed", 1}, std::pair{"gibbs", 1}, std::pair{"gibbs", 2}}) {
      control.threads = threads;
      // What other programs take does not count, where one thread shows it.
      const auto time = threads == 1 ? cpu_seconds : seconds;
      const LdaPrior prior{std::vector<double>(std::size_t(k), 5.0 / k), 0.02, {}};
      TopicChain chain(corpus, index, prior, 1, 0);
      const double begin = cpu_seconds();
      begin_topics(chain, nullptr, control);
      const double first = cpu_seconds() - begin;
      const auto sampler = make(method, chain);
      double best = 1e9, early = 0;
      for (int t = 0; t < 30; ++t) {
        const double from = time();
        sampler->sweep(t, control);
        const double took = time() - from;
        if (t == 0) early = took;
        if (t >= 20) best = std::min(best, took);
      }
      const double from = cpu_seconds();
      chain.score();
      const double scored = cpu_seconds() - from;
      std::printf(
          "%-9s K %4d threads %d: %5.1f million tokens a second, first sweep %.1f, "
          "beginning %.1f; score %.4f s\n",
          method, k, threads, double(index.tokens()) / best / 1e6,
          double(index.tokens()) / early / 1e6, double(index.tokens()) / first / 1e6, scored);
    }
}

void measure_perplexity(const std::string &directory, int k, int sweeps, int warmup, bool learn) {
  const auto train = read_documents(directory, "train"), test = read_documents(directory, "test");
  MemoryCorpus corpus(5000);
  for (const Tokens &tokens : train) append(corpus, tokens);
  Control control;
  const TokenIndex index(corpus, control);
  const DrawnPrior drawn{learn, false, learn};
  for (const char *const method : {"collapsed", "gibbs"}) {
    const LdaPrior prior{std::vector<double>(std::size_t(k), 0.1), 0.05, {}};
    double cpu = 0;
    double mark = cpu_seconds();
    TopicChain chain(corpus, index, prior, 1, 0);
    begin_topics(chain, nullptr, control);
    const auto sampler = make(method, chain);
    PaddedMatrix sums(corpus.totals().vocabulary, k);
    int added = 0;
    for (int t = 0; t < sweeps; ++t) {
      sampler->sweep(t, control);
      Random random(1, std::uint64_t(t));
      draw_prior(chain, drawn, random);
      if (t >= warmup) {
        ++added;
        for (std::int32_t w = 0; w < sums.rows(); ++w)
          for (int j = 0; j < k; ++j) sums.row(w)[j] += chain.counts.row(w)[j];
      }
      if ((t + 1) % 25 != 0) continue;
      cpu += cpu_seconds() - mark;
      const auto scored = [&](auto count, double times) {
        PaddedMatrix topics(sums.rows(), k);
        std::vector<double> totals(std::size_t(k), chain.prior.eta * sums.rows());
        for (std::int32_t w = 0; w < sums.rows(); ++w)
          for (int j = 0; j < k; ++j) totals[std::size_t(j)] += count(w, j) / times;
        for (std::int32_t w = 0; w < sums.rows(); ++w)
          for (int j = 0; j < k; ++j)
            topics.row(w)[j] = (count(w, j) / times + chain.prior.eta) / totals[std::size_t(j)];
        return perplexity(test, topics, chain.prior.alpha);
      };
      chain.score();
      double whole = 0;
      for (const double a : chain.prior.alpha) whole += a;
      std::printf("%-9s sweep %4d, %6.1f CPU seconds: perplexity %.1f", method, t + 1, cpu,
                  scored([&](auto w, int j) { return double(chain.counts.row(w)[j]); }, 1));
      if (added > 0)
        std::printf(", of means %.1f",
                    scored([&](auto w, int j) { return sums.row(w)[j]; }, added));
      std::printf("; log joint %.0f, alpha %.3f, eta %.4f\n", chain.log_joint(), whole,
                  chain.prior.eta);
      mark = cpu_seconds();
    }
  }
}

}  // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "speed" && argc > 2)
    measure_speed({std::atoi(argv[2])});
  else if (what == "perplexity" && argc > 2)
    measure_perplexity(argv[2], argc > 3 ? std::atoi(argv[3]) : 50,
                       argc > 4 ? std::atoi(argv[4]) : 300, argc > 5 ? std::atoi(argv[5]) : 100,
                       argc <= 6);
  else
    measure_speed({50, 200, 1000});
}
