// The state of a chain of a topic sampler: the topic of every token, and counts.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/control.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "data/corpus.hpp"
#include "topics/lda_state.hpp"

namespace bayes {

/// log Gamma(a + n) / Gamma(a), the logarithm of the rising factorial a (a + 1) ... (a + n - 1):
/// the contribution of n tokens to a Dirichlet-multinomial density.
inline double log_rising(double a, double n) { return log_gamma(a + n) - log_gamma(a); }

/// For ascending n.
class LogRising {
 public:
  explicit LogRising(double a) : a_(a) {}
  double operator()(std::int64_t n) {
    if (n - n_ > 16) {
      sum_ = log_rising(a_, double(n));
      n_ = n;
    }
    while (n_ < n) sum_ += std::log(a_ + double(n_++));
    return sum_;
  }

 private:
  double a_, sum_ = 0;
  std::int64_t n_ = 0;
};

/// A table for n up to a limit.
class LogRisingTable {
 public:
  LogRisingTable(double a, std::int64_t max) : values_(std::size_t(max) + 1, 0.0) {
    LogRising next(a);
    for (std::int64_t n = 1; n <= max; ++n) values_[std::size_t(n)] = next(n);
  }
  double operator()(std::int64_t n) const { return values_[std::size_t(n)]; }

 private:
  std::vector<double> values_;
};

/// Numbers the tokens of a corpus, in the order of documents and, in a document, of terms.
struct TokenIndex {
  TokenIndex() = default;
  TokenIndex(Corpus &corpus, Control &control);

  std::int64_t tokens() const { return begin.back(); }
  std::int64_t documents() const { return std::int64_t(begin.size()) - 1; }
  std::int64_t longest() const { return std::int64_t(longer.size()); }

  /// the first token of every document; at the end the number of all tokens
  std::vector<std::int64_t> begin;
  /// [j]: number of documents with more than j tokens
  std::vector<std::int64_t> longer;
};

/// For every topic the number of documents with n = 1, 2, ... tokens of it: the sufficient
/// statistic for the prior of proportions.
class DocumentHistogram {
 public:
  DocumentHistogram(int topics, std::int64_t longest);
  void add(int topic, std::int32_t tokens) {
    if (tokens < limit_)
      ++small_[std::size_t(topic) * std::size_t(limit_) + std::size_t(tokens)];
    else
      large_.emplace_back(topic, tokens);
  }
  void add(const DocumentHistogram &other);
  void clear();
  /// Calls f(topic, tokens, documents) for all positive counts, in ascending order.
  template <class F> void each(F f) {
    std::sort(large_.begin(), large_.end());
    auto next = large_.begin();
    for (int k = 0; k < topics_; ++k) {
      for (std::int32_t n = 1; n < limit_; ++n)
        if (const auto count = small_[std::size_t(k) * std::size_t(limit_) + std::size_t(n)])
          f(k, n, std::int64_t(count));
      for (; next != large_.end() && next->first == k; ++next) f(k, next->second, std::int64_t(1));
    }
  }

 private:
  int topics_;
  std::int32_t limit_;
  std::vector<std::uint32_t> small_;
  std::vector<std::pair<std::int32_t, std::int32_t>> large_;
};

/// The state of a chain.
struct TopicChain {
  TopicChain(Corpus &corpus, const TokenIndex &tokens, LdaPrior prior, std::uint64_t seed,
             int number);
  TopicChain(const TopicChain &) = delete;

  int topics() const { return int(prior.alpha.size()); }
  std::int32_t terms() const { return counts.rows(); }
  /// K pseudo-counts that are added to eta; null if all are 0
  const double *added(std::int32_t term) const {
    return seeded.empty() || !seeded[std::size_t(term)] ? nullptr : prior.added.row(term);
  }
  /// V eta plus the sum of the pseudo-counts
  double prior_total(int topic) const {
    return double(terms()) * prior.eta +
           (added_totals.empty() ? 0 : added_totals[std::size_t(topic)]);
  }
  /// log p(w | z), and log p(w, z), of the last score()
  double log_likelihood() const { return log_terms; }
  double log_joint() const { return log_terms + log_documents; }
  /// Computes log_likelihood() and log_joint().
  void score();
  /// Shannon entropy of the topics' proportions of all tokens, in nats
  double entropy() const;

  Corpus &corpus;
  const TokenIndex &tokens;
  LdaPrior prior;
  const std::uint64_t seed;
  const int number;
  /// the topic of every token
  std::vector<std::uint16_t> assigned;
  /// n_kw, n_k
  CountMatrix counts;
  std::vector<std::int64_t> totals;
  DocumentHistogram histogram;
  /// for every term whether it has pseudo-counts; empty: none has
  std::vector<char> seeded;
  std::vector<double> added_totals;
  double log_terms = 0, log_documents = 0;
};

/// Draws the parameters of the prior given the counts, from their exact conditional distribution:
/// with auxiliary variables (Teh, Jordan, Beal and Blei 2006; Newman, Asuncion, Smyth and Welling
/// 2009) for the ratios of gamma functions it is a gamma distribution.
void draw_prior(TopicChain &chain, const DrawnPrior &drawn, Random &random);

/// A uniform random number for every token.
class TokenUniforms {
 public:
  explicit TokenUniforms(const RowRandom &random) : random_(random) {}
  /// next() returns the number of this token.
  void seek(std::int64_t token) {
    if (token < first_ || token >= first_ + size) {
      first_ = token / size * size;
      random_.fill(first_ / 2, size / 2, values_);
    }
    at_ = int(token - first_);
  }
  double next() {
    if (at_ == size) seek(first_ + size);
    return values_[at_++];
  }

 private:
  static constexpr int size = 256;
  RowRandom random_;
  std::int64_t first_ = -size;
  int at_ = 0;
  double values_[size];
};

/// Random streams of a chain.
enum class TopicStream : std::uint64_t { beginning = 30, tokens, topics, prior, moves, seeds };
inline RowRandom topic_stream(const TopicChain &chain, int sweep, TopicStream stream) {
  return RowRandom(chain.seed, std::uint64_t(chain.number), std::uint64_t(sweep),
                   std::uint64_t(stream));
}

/// Draws the initial topic of every token, in proportion to eta_kw plus, unless null, the counts of
/// `start` for the term.
void begin_topics(TopicChain &chain, const PaddedMatrix *start, Control &control);
/// Sets the counts to those of the assigned topics.
void count_topics(TopicChain &chain);

// Two samplers of topics, and moves of whole topics. Both samplers leave the posterior of the
// topics of all tokens, given the terms, invariant.

/// Interface of the samplers.
class TopicSampler {
 public:
  virtual ~TopicSampler() = default;
  /// Draws a new topic for every token. `index` selects the random stream. The parameters of the
  /// prior may have changed since the last sweep.
  virtual void sweep(int index, Control &control) = 0;
};

/// Whether sums over topics use sparse lists; `automatic` chooses the cheaper way, the others are
/// for tests.
enum class Sparsity : char { automatic, never, always };

/// Collapsed Gibbs sampling token by token, with proportions and topics integrated out (Griffiths
/// and Steyvers 2004), on one thread.
///
/// Terms with few topics have lists of them, and the contribution of eta is summed for all terms
/// together (Yao, Mimno and McCallum 2009), so the cost of a token is proportional to the number of
/// its term's topics.
std::unique_ptr<TopicSampler> collapsed_topics(TopicChain &chain,
                                               Sparsity sparsity = Sparsity::automatic);

/// Partially collapsed: draws the topics' distributions over terms given the topics of all tokens,
/// then the topics of tokens document by document, with proportions integrated out (Magnusson,
/// Jonsson, Villani and Broman 2018); on all threads, with the same result for any number of them.
///
/// With many topics, sums for a token go over the topics of its document; the contribution of alpha
/// is summed once for every term and sweep.
std::unique_ptr<TopicSampler> gibbs_topics(TopicChain &chain,
                                           Sparsity sparsity = Sparsity::automatic);

/// Makes as many split-merge moves (topic_moves.cpp) as improve log p(w, z), and returns their
/// number. `index` selects the random stream. With `own_alphas`, a merged topic gets the sum of the
/// two alphas, and a split divides alpha in halves.
///
/// Not a valid MCMC step (detailed balance does not hold): used for initialisation only. Assumes a
/// prior without pseudo-counts. Polls; on all threads, with the same result for any number of them.
int move_topics(TopicChain &chain, bool own_alphas, int index, Control &control);

}  // namespace bayes
