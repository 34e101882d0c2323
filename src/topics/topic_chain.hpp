// What a chain of a sampler of topics holds: the topic of every token, and what it counts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/control.hpp"
#include "base/random.hpp"
#include "data/corpus.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

/// Where documents begin among the tokens of a corpus, which are in the order of documents and
/// terms, a term's side by side.
struct TokenIndex {
  TokenIndex() = default;
  TokenIndex(Corpus &corpus, Control &control);

  std::int64_t tokens() const { return begin.back(); }
  std::int64_t documents() const { return std::int64_t(begin.size()) - 1; }
  std::int64_t longest() const { return std::int64_t(longer.size()); }

  /// the first token of every document, and the number of all tokens
  std::vector<std::int64_t> begin;
  /// [j]: documents of more than j tokens
  std::vector<std::int64_t> longer;
};

/// n_kw: V x K whole numbers, those of a term side by side, padded as TermTopics are.
class TopicCounts {
 public:
  TopicCounts(std::int32_t terms, int topics)
      : terms_(terms),
        topics_(topics),
        stride_(padded_topics(topics)),
        values_(std::size_t(terms) * std::size_t(stride_), 0) {}
  std::int32_t terms() const { return terms_; }
  int topics() const { return topics_; }
  int stride() const { return stride_; }
  std::int32_t *of(std::int32_t term) {
    return values_.data() + std::size_t(term) * std::size_t(stride_);
  }
  const std::int32_t *of(std::int32_t term) const {
    return values_.data() + std::size_t(term) * std::size_t(stride_);
  }

 private:
  std::int32_t terms_;
  int topics_, stride_;
  std::vector<std::int32_t, CacheAligned<std::int32_t>> values_;
};

/// In how many documents a topic has how many tokens: all that a density of the proportions' prior
/// needs to know.
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
  /// Calls f(topic, tokens, documents) for all that are not 0, in order.
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
  std::int32_t terms() const { return counts.terms(); }
  /// eta_kw that `added` adds to eta, K numbers; null if all are 0
  const double *added(std::int32_t term) const {
    return seeded.empty() || !seeded[std::size_t(term)] ? nullptr : prior.added.of(term);
  }
  /// V eta and all that is added
  double prior_total(int topic) const {
    return double(terms()) * prior.eta +
           (added_totals.empty() ? 0 : added_totals[std::size_t(topic)]);
  }
  /// log p(w | z), and log p(w, z)
  double log_likelihood() const { return log_terms; }
  double log_joint() const { return log_terms + log_documents; }
  /// Computes them.
  void score();
  /// Shannon entropy of the topics' shares of all tokens, in nats
  double entropy() const;

  Corpus &corpus;
  const TokenIndex &tokens;
  LdaPrior prior;
  const std::uint64_t seed;
  const int number;
  /// of every token
  std::vector<std::uint16_t> assigned;
  /// n_kw, n_k
  TopicCounts counts;
  std::vector<std::int64_t> totals;
  DocumentHistogram histogram;
  /// terms to which the prior adds something; empty: none
  std::vector<char> seeded;
  std::vector<double> added_totals;
  double log_terms = 0, log_documents = 0;
};

/// Draws the parameters of the prior given the counts, from their exact conditional distribution:
/// with auxiliary variables (Teh, Jordan, Beal and Blei 2006; Newman, Asuncion, Smyth and Welling
/// 2009) for the ratios of gamma functions it is a gamma distribution.
void draw_prior(TopicChain &chain, const DrawnPrior &drawn, Random &random);

/// Uniform numbers of tokens, named by their numbers.
class TokenUniforms {
 public:
  explicit TokenUniforms(const RowRandom &random) : random_(random) {}
  /// The next number is that of this token.
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

/// What random numbers are for.
enum class TopicStream : std::uint64_t { beginning = 30, tokens, topics, prior, moves };
inline RowRandom topic_stream(const TopicChain &chain, int sweep, TopicStream stream) {
  return RowRandom(chain.seed, std::uint64_t(chain.number), std::uint64_t(sweep),
                   std::uint64_t(stream));
}

/// One of the two samplers.
class TopicSampler {
 public:
  virtual ~TopicSampler() = default;
  /// Draws a new topic for every token. `index` names the random numbers. The prior may have
  /// changed since the last sweep.
  virtual void sweep(int index, Control &control) = 0;
};

/// Gives every token its first topic, in proportion to eta_kw and what `start` counts of the term,
/// if it is not null.
void begin_topics(TopicChain &chain, const TermTopics *start, Control &control);

}  // namespace bayes
