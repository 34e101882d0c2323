// How good topics are: log probabilities of documents that a fit has not seen, coherence of topics,
// and how similar two documents are.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/api.hpp"
#include "data/corpus.hpp"
#include "topics/lda.hpp"

namespace bayes {

/// Log probabilities of documents, summed up.
struct HeldOut {
  std::int64_t documents = 0;
  /// how many tokens these are the probabilities of
  double tokens = 0, log_probability = 0;

  /// over the documents, of which one has them by the two numbers above
  double probabilities_squared = 0, products = 0, tokens_squared = 0;

  void add(const HeldOut &other) {
    const bool one = other.documents == 1;
    const double p = other.log_probability, t = other.tokens;
    probabilities_squared += one ? p * p : other.probabilities_squared;
    products += one ? p * t : other.products;
    tokens_squared += one ? t * t : other.tokens_squared;
    documents += other.documents;
    tokens += other.tokens;
    log_probability += other.log_probability;
  }
  /// exp(- log probability / tokens): of uniform probabilities, the number of terms. Nothing
  /// without tokens.
  BAYES_API std::optional<double> perplexity() const;
  /// The standard error of the perplexity: that of a ratio of sums over documents (delta method).
  /// NaN for fewer than two of them, or without tokens.
  BAYES_API double perplexity_error() const;
};

/// Whether a term has a probability above 0 in some topic. Maximum likelihood gives 0 to terms that
/// no document of the fit had. They are like terms that a model does not know: nothing was learned
/// of them, and every document with one of them would be impossible.
BAYES_API bool is_possible(std::int32_t term, const TermTopics &topics);

/// A document without the terms that do not count.
class BAYES_API PartOfDocument {
 public:
  /// the document must live as long
  PartOfDocument(const DocumentTerms &document,
                 const std::function<bool(std::int32_t term)> &counts);
  PartOfDocument(const PartOfDocument &) = delete;
  DocumentTerms terms() const { return part_; }

 private:
  DocumentTerms part_;
  std::vector<std::int32_t> terms_;
  std::vector<double> counts_;
};

/// Numbers that order terms as if at random, the same in every vocabulary: hashes of their bytes.
BAYES_API std::vector<std::uint64_t> term_hashes(std::span<const std::string> terms);

/// A document in two halves. Its tokens in the order of their terms' hashes belong to the observed
/// and the scored half in turn, the first to the observed one; with fractional counts the same
/// holds for parts of tokens. It depends on nothing but the terms and how often each occurs.
struct DocumentHalves {
  std::vector<std::int32_t> observed_terms, scored_terms;
  std::vector<double> observed_counts, scored_counts;
  DocumentTerms observed() const { return {observed_terms, observed_counts}; }
  DocumentTerms scored() const { return {scored_terms, scored_counts}; }
};
/// `hashes`: of the V terms.
BAYES_API DocumentHalves split_document(const DocumentTerms &document,
                                        std::span<const std::uint64_t> hashes);

/// Of how many draws held-out probabilities are averages: more of them change little.
inline constexpr std::int64_t most_scoring_draws = 20;

/// Document completion: the log probability of the scored half, sum over its terms of count x log
/// p(term), where p(term) is the average over the draws of sum_k theta_k beta_kw. `proportions`: K
/// expected proportions theta given the observed half, under a draw. Tokens are those of the scored
/// half. `hashes`: of the documents' terms. `codes`: their numbers in the model, rising, -1 for
/// those that it does not know; empty if they are the model's. What is not known, or not possible,
/// says nothing of the proportions, and has the probability TopicDraw::unseen; without that it
/// belongs to neither half. Polls.
BAYES_API HeldOut score_completion(
    const DocumentTerms &document, std::span<const std::uint64_t> hashes,
    std::span<const TopicDraw> draws,
    const std::function<std::vector<double>(const DocumentTerms &observed, const TopicDraw &draw)>
        &proportions,
    std::span<const std::int32_t> codes = {});

/// The left-to-right estimator of the log probability of a whole document given topics and prior
/// of proportions (Wallach, Murray, Salakhutdinov and Mimno 2009; Buntine 2009), as a particle
/// filter: one token after the other, each with the probability that the topics of those before it
/// give it, averaged over the particles; where their weights have become unequal the particles are
/// resampled, and topics of earlier tokens are drawn anew. The probability is estimated without
/// bias, so its logarithm is below on average; more particles bring it closer. Of several draws of
/// the topics it is the logarithm of the average probability. Draws of samplers are draws of
/// labels: given them topics are not known but Dirichlet, so that the tokens of a document are
/// evidence of them too, and a topic that has produced a term is likelier to do so again. Terms
/// that are not known or possible are as for document completion.
///
/// `seed` names the random numbers; a document's are the same whenever they are asked for.
/// Counts are whole numbers: Error(invalid_argument) otherwise. Every particle holds the topic of
/// every token: Error(too_large) if that would be more than the memory allowed. Polls.
struct LeftToRight {
  int particles = 20;
  std::uint64_t seed = 1;
  /// bytes that a document may take
  double memory = std::numeric_limits<double>::infinity();
};
BAYES_API HeldOut score_left_to_right(const DocumentTerms &document,
                                      std::span<const std::uint64_t> hashes,
                                      std::span<const TopicDraw> draws, const LeftToRight &options,
                                      std::span<const std::int32_t> codes = {});

/// Coherence of topics: how often their top terms are in the same documents.
class BAYES_API TopicCoherence {
 public:
  /// `top`: of every topic its most probable terms, the most probable first.
  explicit TopicCoherence(std::vector<std::vector<std::int32_t>> top);

  void add(const DocumentTerms &document);
  /// what was counted elsewhere, of the same terms
  void add(const TopicCoherence &other);
  std::int64_t documents() const { return documents_; }

  /// Mimno, Wallach, Talley, Leenders and McCallum 2011: the sum over pairs of terms, l above m, of
  /// log((D(l, m) + 1) / D(l)), with D(l) documents that have term l. Pairs whose upper term is in
  /// no document do not count. At most about 0; nothing if no pair counts.
  std::optional<double> umass(int topic) const;
  /// The mean over pairs of terms of log(p(l, m) / (p(l) p(m))) / -log p(l, m) (Bouma 2009; Aletras
  /// and Stevenson 2013), with p the share of documents: from -1, never together, over 0,
  /// independent, to 1, always together. Nothing if there is no pair or no document.
  std::optional<double> npmi(int topic) const;

 private:
  std::int64_t &together(int topic, std::size_t a, std::size_t b);
  std::int64_t together(int topic, std::size_t a, std::size_t b) const {
    return const_cast<TopicCoherence *>(this)->together(topic, a, b);
  }
  std::vector<std::vector<std::int32_t>> top_;
  /// of every term that is a top term: of which topics, and where
  std::unordered_map<std::int32_t, std::vector<std::pair<std::int32_t, std::int32_t>>> places_;
  /// documents that have both terms of a pair, or one if they are the same
  std::vector<std::vector<std::int64_t>> counts_;
  std::int64_t documents_ = 0;
  /// of the document that is added
  std::vector<std::vector<std::int32_t>> present_;
  std::vector<std::int32_t> touched_;
};

/// Hellinger distance of two distributions, sqrt(sum_k (sqrt p_k - sqrt q_k)^2 / 2): from 0 to 1.
/// Error(array_shape) if they differ in length.
BAYES_API double hellinger_distance(std::span<const double> p, std::span<const double> q);

}  // namespace bayes
