// Helpers for the tests of topic models: documents, fits, and slow computations in long double.
#pragma once

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "compare.hpp"
#include "topics/lda.hpp"

namespace topics {

using bayes::Control;
using bayes::Document;
using bayes::DocumentTerms;
using bayes::Error;
using bayes::LdaProportions;
using bayes::MemoryCorpus;
using bayes::Tensor;
using bayes::TopicModel;
using support::distance;
using Options = Document::Object;
using Fitted = std::unique_ptr<TopicModel>;
using Real = long double;

/// Terms and counts, in any order.
using Counts = std::map<std::int32_t, double>;
using Corpus = std::vector<Counts>;

inline std::size_t at(std::int64_t i) { return std::size_t(i); }

/// A document as kernels see it.
struct Packed {
  explicit Packed(const Counts &counts) {
    for (const auto &[term, count] : counts) terms.push_back(term), numbers.push_back(count);
  }
  operator DocumentTerms() const { return {terms, numbers}; }
  std::vector<std::int32_t> terms;
  std::vector<double> numbers;
};

inline MemoryCorpus corpus_of(const Corpus &documents, int vocabulary) {
  MemoryCorpus out(vocabulary);
  for (const Counts &each : documents) out.append(Packed(each));
  return out;
}

inline std::vector<std::string> names(int vocabulary) {
  std::vector<std::string> out;
  char name[16];
  for (int w = 0; w < vocabulary; ++w) {
    std::snprintf(name, sizeof name, "t%05d", w);
    out.push_back(name);
  }
  return out;
}

inline Fitted fitted(bayes::Corpus &corpus, int k, Options options, int threads = 1,
                     const TopicModel *start = nullptr, bool update = false) {
  Control control;
  control.threads = threads;
  // One run, which is quick, unless a test asks for more.
  const auto given = [&options](const char *key, const char *value) {
    return std::any_of(options.begin(), options.end(), [&](const auto &option) {
      return option.first == key && (!value || *option.second.template as<std::string>() == value);
    });
  };
  if (!given("restarts", nullptr) && !given("method", "gibbs") && !given("method", "collapsed") &&
      !update)
    options.emplace_back("restarts", 1);
  return bayes::lda_fit(corpus, names(corpus.totals().vocabulary), k, Document(std::move(options)),
                        start, update, control);
}
inline Fitted fitted(const Corpus &documents, int vocabulary, int k, Options options,
                     int threads = 1, const TopicModel *start = nullptr, bool update = false) {
  MemoryCorpus corpus = corpus_of(documents, vocabulary);
  return fitted(corpus, k, std::move(options), threads, start, update);
}
inline Document prior(Options members) { return Document(std::move(members)); }

/// A model's bytes without the duration, which must be bit-identical.
inline std::string bits(TopicModel &model) {
  model.info.seconds = 0;
  return model.to_bytes();
}

inline std::string message_of(const std::function<void()> &work) {
  try {
    work();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

/// Documents from topics over neighbouring terms, of about this many tokens.
inline Corpus synthetic(int documents, int vocabulary, int topics, int tokens, std::uint64_t seed) {
  bayes::Random random(seed);
  Corpus out;
  std::vector<double> theta(at(topics)), alpha(at(topics), 0.3);
  for (int d = 0; d < documents; ++d) {
    random.dirichlet(alpha, theta);
    Counts counts;
    for (int i = 0; i < tokens; ++i) {
      const int topic = random.categorical(theta);
      const double spread = vocabulary / double(topics);
      const int term = int(spread * (topic + 1.3 * random.uniform())) % vocabulary;
      counts[term] += 1;
    }
    out.push_back(counts);
  }
  return out;
}

/// Documents of 30 tokens, half of them of one and half of another, or the same, of four topics
/// over ten terms of their own.
inline Corpus documents_of_separate_topics(int documents) {
  bayes::Random random(9);
  Corpus out(at(documents));
  for (int d = 0; d < documents; ++d)
    for (int i = 0; i < 30; ++i) {
      const int topic = i % 2 ? d % 4 : d / 4 % 4;
      ++out[at(d)][10 * topic + std::int32_t(random.below(10))];
    }
  return out;
}

/// The ten bars of Griffiths and Steyvers (2004): rows and columns of 5 x 5 terms.
inline std::vector<std::vector<double>> bars() {
  std::vector<std::vector<double>> out(10, std::vector<double>(25, 0.0));
  for (int bar = 0; bar < 5; ++bar)
    for (int i = 0; i < 5; ++i) {
      out[at(bar)][at(bar * 5 + i)] = 0.2;
      out[at(5 + bar)][at(i * 5 + bar)] = 0.2;
    }
  return out;
}
inline Corpus documents_of_bars(int documents, int tokens, std::uint64_t seed) {
  bayes::Random random(seed);
  const auto topics = bars();
  std::vector<double> theta(10), alpha(10, 1.0);
  Corpus out;
  for (int d = 0; d < documents; ++d) {
    random.dirichlet(alpha, theta);
    Counts counts;
    for (int i = 0; i < tokens; ++i)
      counts[random.categorical(topics[at(random.categorical(theta))])] += 1;
    out.push_back(counts);
  }
  return out;
}

// ---- slow computations from the definitions ----

inline Real lgam(Real x) { return boost::math::lgamma(x); }
inline Real psi(Real x) { return boost::math::digamma(x); }
using Reals = std::vector<Real>;
using Table = std::vector<Reals>;

inline Real total(const Reals &x) {
  Real sum = 0;
  for (const Real each : x) sum += each;
  return sum;
}
/// log of the Dirichlet's normaliser
inline Real log_normaliser(const Reals &a) {
  Real out = -lgam(total(a));
  for (const Real each : a) out += lgam(each);
  return out;
}
inline Reals expected_logs(const Reals &a) {
  Reals out;
  const Real of_sum = psi(total(a));
  for (const Real each : a) out.push_back(psi(each) - of_sum);
  return out;
}
/// E log p - E log q of a distribution with these parameters
inline Real minus_divergence(const Reals &q, const Reals &prior) {
  const Reals logs = expected_logs(q);
  Real out = log_normaliser(q) - log_normaliser(prior);
  for (std::size_t i = 0; i < q.size(); ++i) out += (prior[i] - q[i]) * logs[i];
  return out;
}

/// The bound of a document's log-likelihood with q(theta) = Dirichlet(gamma) and the best q(z),
/// from log weights [k][w] of the terms; adds expected tokens to `tokens` [k][w], and to
/// `of_topics`.
inline Real document_bound(const Counts &document, const Reals &alpha, const Reals &gamma,
                           const Table &log_weights, Table *tokens = nullptr,
                           Reals *of_topics = nullptr) {
  const Reals logs = expected_logs(gamma);
  Real out = minus_divergence(gamma, alpha);
  for (const auto &[w, count] : document) {
    Reals joint(alpha.size());
    for (std::size_t k = 0; k < alpha.size(); ++k)
      joint[k] = std::exp(logs[k] + log_weights[k][at(w)]);
    const Real sum = total(joint);
    out += count * std::log(sum);
    for (std::size_t k = 0; k < alpha.size(); ++k) {
      if (tokens) (*tokens)[k][at(w)] += count * joint[k] / sum;
      if (of_topics) (*of_topics)[k] += count * joint[k] / sum;
    }
  }
  return out;
}

inline Reals reals(const std::vector<double> &x) { return {x.begin(), x.end()}; }

/// q(theta) of a document after many updates from equal shares.
inline Reals slow_gamma(const Counts &document, const Reals &alpha, const Table &log_weights,
                        int updates = 800) {
  Real tokens = 0;
  for (const auto &[w, count] : document) tokens += count;
  Reals gamma = alpha;
  for (Real &g : gamma) g += tokens / Real(alpha.size());
  for (int i = 0; i < updates; ++i) {
    Reals next(alpha.size(), 0);
    document_bound(document, alpha, gamma, log_weights, nullptr, &next);
    for (std::size_t k = 0; k < alpha.size(); ++k) gamma[k] = alpha[k] + next[k];
  }
  return gamma;
}

/// log p(documents) by the sum over all assignments of topics to tokens; counts are whole.
inline Real log_evidence(const Corpus &documents, int vocabulary, const Reals &alpha, Real eta) {
  struct Token {
    std::size_t document, term;
  };
  std::vector<Token> all;
  for (std::size_t d = 0; d < documents.size(); ++d)
    for (const auto &[w, count] : documents[d])
      for (int i = 0; i < count; ++i) all.push_back({d, at(w)});
  const std::size_t k = alpha.size();
  Real sum = 0;
  std::vector<std::size_t> z(all.size(), 0);
  for (;;) {
    Table of_documents(documents.size(), alpha), of_topics(k, Reals(at(vocabulary), eta));
    for (std::size_t i = 0; i < all.size(); ++i) {
      of_documents[all[i].document][z[i]] += 1;
      of_topics[z[i]][all[i].term] += 1;
    }
    Real log_joint = 0;
    for (const Reals &each : of_documents)
      log_joint += log_normaliser(each) - log_normaliser(alpha);
    for (const Reals &each : of_topics)
      log_joint += log_normaliser(each) - log_normaliser(Reals(at(vocabulary), eta));
    sum += std::exp(log_joint);
    std::size_t i = 0;
    while (i < z.size() && ++z[i] == k) z[i++] = 0;
    if (i == z.size()) return std::log(sum);
  }
}

/// Sixty documents over thirty terms from four topics.
inline const Corpus sixty = synthetic(60, 30, 4, 25, 5);

/// For every topic of the first, the distance (half the sum of differences) of the nearest.
inline double worst_match(const std::vector<std::vector<double>> &truth, const TopicModel &model) {
  double worst = 0;
  for (const auto &topic : truth) {
    double best = 1;
    for (int k = 0; k < model.size(); ++k) {
      const std::vector<double> found = model.topic(k);
      double sum = 0;
      for (std::size_t w = 0; w < topic.size(); ++w) sum += std::abs(topic[w] - found[w]) / 2;
      best = std::min(best, sum);
    }
    worst = support::larger(worst, best);
  }
  return worst;
}

}  // namespace topics
