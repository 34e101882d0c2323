// The local step of variational inference for documents (002 L7; Blei, Ng and Jordan 2003): given
// the topics, the posterior of a document's proportions, its bound, and what it adds to the
// statistics of the topics.
//
// With q(theta) = Dirichlet(gamma), t_k = exp(E log theta_k) and b_wk = exp(E log beta_kw) (of
// point estimates beta_kw itself), token i of term w has topic k with probability t_k b_wk / n_w,
// where n_w = sum_k t_k b_wk, and a document of c_w tokens of term w has
//
//   gamma_k = alpha_k + t_k sum_w c_w b_wk / n_w
//   bound   = sum_w c_w log n_w - KL(q(theta) || p(theta)).
//
// Topics lie in the lanes. Everything has 8 partial sums at every level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "data/corpus.hpp"
#include "topics/term_topics.hpp"
#include "topics/token_division.hpp"

namespace bayes {

/// The parameters of Dirichlet distributions of topics: scale * counts + eta + added.
struct TopicParameters {
  const TermTopics &counts;
  double scale = 1;
  double eta = 0;
  /// null: nothing
  const TermTopics *added = nullptr;
};

/// Sums over terms and topics of what the divergence of the topics from their prior consists of.
struct TopicSums {
  /// log Gamma of the parameters
  double log_gamma = 0;
  /// E log beta
  double logs = 0;
  /// counts * E log beta
  double counted_logs = 0;

  void add(const TopicSums &other) {
    log_gamma += other.log_gamma;
    logs += other.logs;
    counted_logs += other.counted_logs;
  }
};

/// For terms, b_wk up to a factor: the largest of a term's is 1, and those below 1e-148 of it count
/// as that, as its products with t_k must not underflow.
class TopicFactors {
 public:
  TopicFactors() = default;
  TopicFactors(std::int32_t terms, int topics);

  /// Of one term, with digamma of each topic's total (padded_topics numbers, of the padding 0).
  TopicSums expect(std::int32_t term, const TopicParameters &parameters, const double *digammas);
  /// Of one term, from its probability in each topic.
  void take(std::int32_t term, const TermTopics &probabilities);

  const TermTopics &values() const { return factors_; }
  const double *of(std::int32_t term) const { return factors_.of(term); }
  /// the logarithm of what a term's factors have to be multiplied by
  double log_scale(std::int32_t term) const { return logs_[std::size_t(term)]; }

 private:
  TermTopics factors_;
  std::vector<double> logs_;
  Buffer live_;  // 1, and for the padding 0
};

/// The prior of proportions.
struct ProportionPrior {
  explicit ProportionPrior(const std::vector<double> &alpha);
  /// padded_topics numbers, of the padding 1: log Gamma(1) = 0
  Buffer alpha;
  double sum = 0;
  /// sum_k log Gamma(alpha_k) - log Gamma(sum)
  double log_normaliser = 0;
};

/// When q(theta) is good enough: after so many updates, or when an update moves no more than this
/// share of the tokens from topic to topic.
struct LocalLimits {
  int updates = 100;
  double moved = 1e-3;
};

/// How the tokens of a document are divided among topics.
struct DividedTokens {
  /// c_w / n_w of its terms
  const double *ratios;
  /// t_k, padded_topics numbers
  const double *weights;
  /// E log t_k, padded_topics numbers
  const double *logs;
};

/// The inference for one document after another: memory of a thread. Polls, as documents may be
/// large.
class DocumentStep {
 public:
  /// both must live as long
  DocumentStep(const TopicFactors &factors, const ProportionPrior &prior);

  /// Improves the tokens expected of each topic (padded_topics numbers), with which q(theta) has
  /// gamma = alpha + tokens; if `fresh` begins anew. Returns the bound at q(theta), before the
  /// last improvement.
  double infer(const DocumentTerms &document, LocalLimits limits, bool fresh, double *tokens);

  /// Of the last document, at the q(theta) of its bound.
  DividedTokens divided() const { return {division_.ratios(), weights_.data(), logs_.data()}; }

 private:
  TokenDivision division_;
  const ProportionPrior &prior_;
  const int stride_;
  Buffer weights_, logs_;
};

/// Sums over documents. Terms that none of them has take no memory but an index, unless there are
/// rows for all terms from the beginning: these need not be looked for.
class TopicStatistics {
 public:
  TopicStatistics(std::int32_t terms, int topics, bool all_terms = false);

  /// What a local step found of a document whose improved tokens are these. Polls; if it is left
  /// there, all is to be cleared.
  void add(const DocumentTerms &document, const DividedTokens &divided, double bound,
           const double *tokens);
  /// A document whose tokens are divided among topics, padded_topics shares for each of its terms:
  /// in all these tokens. It has no logs.
  void add(const DocumentTerms &document, const float *shares, double bound, const double *tokens);
  /// Adds what was found elsewhere, and may take its memory: what is left there is to be cleared.
  void merge(TopicStatistics &other);
  void clear();

  /// sum_d c_w / n_w t_k of the terms that there are, in the order of `terms`; expected tokens are
  /// this times the topic factors. Of shares the expected tokens themselves.
  const double *of(std::size_t index) const { return rows_.data() + index * std::size_t(stride_); }
  const std::vector<std::int32_t> &terms() const { return terms_; }
  /// padded_topics numbers each: tokens, and sums of E log theta
  const Buffer &tokens() const { return tokens_; }
  const Buffer &logs() const { return logs_; }
  double bound() const { return bound_; }
  std::int64_t documents() const { return documents_; }

 private:
  template <int Eights>
  void add_rows(std::size_t begin, std::size_t end, const DividedTokens &divided);
  std::int32_t new_row(std::int32_t term);
  /// where the rows of terms begin, into `places_`
  void find_rows(std::span<const std::int32_t> terms);
  void merge_rows(const TopicStatistics &other);
  void count(double bound, const double *tokens);

  int stride_;
  bool all_terms_;
  std::vector<std::int32_t> index_, terms_;
  std::vector<std::size_t> places_;
  Buffer rows_, tokens_, logs_;
  double bound_ = 0;
  std::int64_t documents_ = 0;
  WorkPoll poll_;
};

}  // namespace bayes
