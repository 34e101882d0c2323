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
#include "counts/padded_table.hpp"
#include "data/corpus.hpp"
#include "document/document.hpp"
#include "document/model.hpp"

namespace bayes {

inline constexpr Method lda_methods[] = {Method::vi,   Method::em,    Method::svi,
                                         Method::cvb0, Method::gibbs, Method::collapsed};
inline constexpr int lda_max_topics = 10000;
/// limited, since a model stores the name of every term
inline constexpr std::int32_t lda_max_terms = 500000;

/// How a fit reads its documents; known before the first one is read.
struct LdaRowOptions {
  /// terms in fewer documents are left out
  std::int64_t min_documents = 1;
  /// terms in a larger proportion of the documents are left out
  double max_share = 1;
  /// maximal size of the vocabulary, which keeps the terms in most documents; 0: no limit
  std::int64_t max_terms = 0;
  /// terms to use; empty: all
  std::vector<std::string> vocabulary;
  /// every count must be a whole number (gibbs, collapsed)
  bool whole_counts = false;
};

/// The topic proportions of a document.
struct LdaProportions {
  /// K expected values; sum to 1
  std::vector<double> mean;
  /// K posterior standard deviations; with method vi those of the mean-field approximation
  std::vector<double> deviation;
};

/// Topics that documents are scored under: the estimate, or a draw. A view of a model.
struct TopicDraw {
  /// V x K numbers; divided by `totals` they are the probabilities of terms given topics
  const PaddedMatrix &numbers;
  const std::vector<double> &totals;
  /// parameters of the prior of proportions
  const std::vector<double> &alpha;
  /// `numbers` are parameters of Dirichlet distributions of the topics, given a draw of the labels
  bool sampled = false;
  /// K probabilities of an unknown term; empty: unknown terms are ignored
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
  /// index among terms(); -1 if the term is unknown, or has the probability 0 in all topics, as
  /// method em gives to terms that no document of the fit had
  std::int32_t code(std::string_view term) const;
  /// V probabilities of a topic's terms, topic from 0: posterior means; for em the estimates
  std::vector<double> topic(int index) const;
  /// the probability of one term, from 0
  double probability(int topic, std::int32_t term) const;
  /// V parameters of the posterior Dirichlet distribution (vi, svi); empty for other methods
  std::vector<double> topic_posterior(int index) const;
  /// K proportions of all tokens of the fit; descending, unless the numbering of the topics is
  /// fixed by a prior or a start model
  const std::vector<double> &weights() const;
  /// K parameters of the prior of proportions, given or learned
  const std::vector<double> &alpha() const;
  /// parameter of the prior of topics, given or learned
  double eta() const;
  /// number of stored draws of the topics; 0 unless fitted by gibbs or collapsed
  std::int64_t stored_draws() const override;

  /// Proportions of a document, whose terms are numbered from 0 and ascend. Terms of probability 0
  /// in all topics are ignored; if no others remain, the proportions are those of the prior.
  LdaProportions proportions(const DocumentTerms &document) const;

  /// Topics under which held-out documents are scored. Methods gibbs and collapsed: at most
  /// max_draws of the stored draws, evenly spaced. Other methods: the estimate.
  ///
  /// In a topic, an unknown term has the probability of an additional term, eta / (eta + sum of the
  /// topic's Dirichlet parameters). After em, which has no prior, it is 1 / (n + V + 1) for a topic
  /// of n tokens; models of em without a number of tokens have no such probability.
  std::vector<TopicDraw> scoring_draws(std::int64_t max_draws) const;
  /// Expected proportions of a document given one of these draws.
  std::vector<double> proportions(const DocumentTerms &document, const TopicDraw &draw) const;

  const ModelWords &words() const override;
  /// The weight of every topic and the probabilities of its terms; after vi and svi with their
  /// mean-field posterior.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  /// for every topic the probabilities of terms
  std::optional<LabelProfiles> label_profiles() const override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// Throws Error(invalid_argument) for invalid options.
BAYES_API LdaRowOptions lda_check_options(int k, const Document &options, const TopicModel *start,
                                          bool update);

/// Fits k topics. `terms`: the V terms of the corpus, in the order of their bytes; they include the
/// terms of a start model.
BAYES_API std::unique_ptr<TopicModel> lda_fit(Corpus &corpus, std::vector<std::string> terms, int k,
                                              const Document &options, const TopicModel *start,
                                              bool update, Control &control);

std::unique_ptr<Model> read_topic_model(const Document &document);

}  // namespace bayes
