// Evaluation of topic models: log probabilities of documents that were not fitted.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/api.hpp"
#include "counts/document_parts.hpp"
#include "counts/remote_corpus.hpp"
#include "data/corpus.hpp"
#include "data/scores.hpp"
#include "topics/lda.hpp"

namespace bayes {

/// Sums of log probabilities of documents.
struct HeldOut {
  std::int64_t documents = 0;
  /// the tokens that are scored, and the sum of their log probabilities
  double tokens = 0, log_probability = 0;

  void add(const HeldOut &other) {
    documents += other.documents;
    tokens += other.tokens;
    log_probability += other.log_probability;
  }
  /// exp(- log probability / tokens); for uniform probabilities it is the number of terms. Empty
  /// without tokens.
  BAYES_API std::optional<double> perplexity() const;
};

/// Whether a term has a probability above 0 in some topic. Maximum likelihood gives 0 to terms that
/// no document of the fit had. They are treated like unknown terms: nothing was learned about them,
/// and a document with one of them would have the probability 0.
BAYES_API bool is_possible(std::int32_t term, const PaddedMatrix &topics);

/// Number of draws over which held-out probabilities are averaged: more change little.
inline constexpr std::int64_t max_scoring_draws = 20;

/// Document completion: the log probability of the scored half, sum over its terms of count x log
/// p(term), where p(term) is the average over the draws of sum_k theta_k beta_kw. `proportions`: K
/// expected proportions theta given the observed half, under a draw. HeldOut::tokens counts the
/// scored half. `hashes`: of the documents' terms. `codes`: the index in the model of each of these
/// terms, ascending, -1 for unknown ones; empty if they are the model's terms. Terms that are
/// unknown or have the probability 0 do not influence the proportions, and have the probability
/// TopicDraw::unseen; without that they belong to neither half. Polls.
BAYES_API HeldOut score_completion(
    const DocumentTerms &document, std::span<const std::uint64_t> hashes,
    std::span<const TopicDraw> draws,
    const std::function<std::vector<double>(const DocumentTerms &observed, const TopicDraw &draw)>
        &proportions,
    std::span<const std::int32_t> codes = {});

/// The left-to-right estimator of the log probability of a whole document given topics and prior of
/// proportions (Wallach, Murray, Salakhutdinov and Mimno 2009; Buntine 2009), as a particle filter:
/// one token after another, each with its probability given the topics of the tokens before it,
/// averaged over the particles. When their weights have become unequal, the particles are
/// resampled, and topics of earlier tokens are redrawn. The estimated probability is unbiased, so
/// its logarithm is too small on average; more particles reduce this. For several draws of the
/// topics the result is the logarithm of the average probability. Draws of samplers are draws of
/// labels: given them, the topics have Dirichlet distributions, so the tokens of a document are
/// evidence about the topics too, and a topic that has produced a term is more likely to produce it
/// again. Terms that are unknown or have the probability 0 are treated as in document completion.
///
/// `seed`: with the contents of a document it determines the random numbers. Throws
/// Error(invalid_argument) if a count is not a whole number, and Error(too_large) if the particles,
/// each with the topic of every token, would take more than the allowed memory. Polls.
struct LeftToRight {
  int particles = 20;
  std::uint64_t seed = 1;
  /// maximal memory for a document, in bytes
  double memory = std::numeric_limits<double>::infinity();
};
BAYES_API HeldOut score_left_to_right(const DocumentTerms &document,
                                      std::span<const std::uint64_t> hashes,
                                      std::span<const TopicDraw> draws, const LeftToRight &options,
                                      std::span<const std::int32_t> codes = {});

/// How documents are evaluated.
struct Evaluation {
  /// document completion, or the left-to-right estimator
  std::string method = "completion";
  LeftToRight plan = {};
};

/// The log probability of held-out documents, computed on all threads, or, by document completion,
/// where they are. `terms`: the vocabulary of the documents, in the order of their bytes; of
/// documents elsewhere it is that of the model. `known`: for each of these terms, whether it
/// occurred in the documents of the fit; if empty, all terms of the model count as known. `scores`:
/// receives the scores of the documents, in their order; the units are the scored tokens.
BAYES_API HeldOut evaluate_topics(const TopicModel &model, Corpus &corpus,
                                  std::span<const std::string> terms, const Evaluation &how,
                                  std::span<const char> known, Control &control,
                                  std::vector<Score> *scores = nullptr);
/// The pass of evaluate_topics().
extern const PassOver<PartOfDocuments> held_out_documents_pass;

}  // namespace bayes
