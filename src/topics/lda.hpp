// Topic models: latent Dirichlet allocation (002 L7, L8; 004; Blei, Ng and Jordan 2003). Fitting,
// and the accessors of a fitted model.
//
// A document's proportions are theta_d ~ Dirichlet(alpha), a topic's terms beta_k ~ Dirichlet(eta),
// and every token of a document has a topic drawn from theta_d and a term drawn from that topic.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "data/corpus.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

inline constexpr int lda_max_topics = 10000;
/// A model holds the name of every term.
inline constexpr std::int32_t lda_max_terms = 500000;

/// How a fit wants its documents read, known before the first one is.
struct LdaRowOptions {
  /// terms in fewer documents than this are left out
  std::int64_t min_documents = 1;
  /// terms in a larger share of the documents are left out
  double max_share = 1;
  /// the vocabulary has at most so many terms: those in the most documents; 0: no limit
  std::int64_t max_terms = 0;
  /// the only terms that count; empty: all
  std::vector<std::string> vocabulary;
  /// every count must be a whole number (gibbs, collapsed)
  bool whole_counts = false;
  /// on_error = null
  bool null_on_error = false;
};

/// The proportions of a document.
struct LdaProportions {
  /// K expected values; sum to 1
  std::vector<double> mean;
  /// K posterior standard deviations; in vi those of the mean-field approximation
  std::vector<double> deviation;
};

/// Topics that documents are scored under: their estimate, or a draw of them. A view of a model.
struct TopicDraw {
  /// V x K numbers, divided by `totals` the probabilities of terms given topics
  const TermTopics &numbers;
  const std::vector<double> &totals;
  /// of the prior of proportions
  const std::vector<double> &alpha;
  /// `numbers` are parameters of the topics' Dirichlet distributions given a sampler's labels
  bool sampled = false;
  /// K probabilities of a term that the model does not know; empty: such terms do not count
  std::vector<double> unseen = {};
};

class BAYES_API TopicModel final : public Model {
 public:
  TopicModel();
  ~TopicModel() override;

  /// K
  int size() const { return info.components; }
  /// V terms, in the order of their bytes
  const std::vector<std::string> &terms() const;
  /// its index among terms(), -1 if the model does not know it: it is none of them, or no document
  /// of a fit by em had it, so that its probability is 0 in all topics
  std::int32_t code(std::string_view term) const;
  /// V probabilities of a topic's terms, topic from 0: posterior means; for em the estimates
  std::vector<double> topic(int index) const;
  /// one of them; term from 0
  double probability(int topic, std::int32_t term) const;
  /// V parameters of the posterior Dirichlet (vi, svi); empty for other methods
  std::vector<double> topic_posterior(int index) const;
  /// K shares of all tokens of the fit, descending unless somebody named the topics
  const std::vector<double> &weights() const;
  /// K parameters of the prior of proportions, given or learned
  const std::vector<double> &alpha() const;
  /// of the prior of topics, given or learned
  double eta() const;
  /// draws of the topics; 0 unless fitted by gibbs or collapsed
  std::int64_t stored_draws() const override;

  /// Of a document, from 0 and ascending terms. Those of probability 0 in all topics are left out;
  /// without others the proportions are those of the prior.
  LdaProportions proportions(const DocumentTerms &document) const;

  /// What held-out documents are scored under: after gibbs and collapsed the stored draws, of more
  /// than `most` so many, evenly spaced; after other methods the estimate.
  ///
  /// A term that the model does not know has in a topic the probability of one more, a / (a + sum
  /// of the topic's Dirichlet parameters), a = eta. After em, which has no prior, it is 1 / (n + V
  /// + 1) for a topic of n tokens; models of em that do not say how many they were fitted to have
  /// none.
  std::vector<TopicDraw> scoring_draws(std::int64_t most) const;
  /// Expected proportions of a document given one of them.
  std::vector<double> proportions(const DocumentTerms &document, const TopicDraw &draw) const;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// Throws Error(invalid_argument) for options that cannot be.
BAYES_API LdaRowOptions lda_check_options(int k, const Document &options, const TopicModel *start,
                                          bool update);

/// Fits k topics. `terms`: the V terms of the corpus, in the order of their bytes; with a start
/// model its terms are among them.
BAYES_API std::unique_ptr<TopicModel> lda_fit(Corpus &corpus, std::vector<std::string> terms, int k,
                                              const Document &options, const TopicModel *start,
                                              bool update, Control &control);

std::unique_ptr<Model> read_topic_model(const Document &document);

}  // namespace bayes
