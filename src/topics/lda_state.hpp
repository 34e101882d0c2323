// The options of topic models, and the internal state of a fitted one, for the files of this model
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "counts/padded_table.hpp"
#include "fit/fit_options.hpp"
#include "topics/lda.hpp"

namespace bayes {

// The prior of a topic model: given parameters, or current values of learned ones.

struct LdaPrior {
  /// K parameters of the prior of a document's proportions
  std::vector<double> alpha;
  /// parameter of the prior of a topic's terms
  double eta = 0;
  /// added to eta by seeded topics, or by the posterior of the model that is updated; may be empty
  PaddedMatrix added;
};

/// Gamma hyperpriors of the learned parameters: alpha_k (or the common alpha) and eta.
inline constexpr double lda_hyper_shape = 1, lda_hyper_rate = 1;

/// The parameters of the prior that a chain draws.
struct DrawnPrior {
  bool alpha = false, symmetric = false, eta = false;
  /// log density of their hyperprior
  double log_density(const LdaPrior &prior) const;
};

/// Topics that documents are scored under.
struct FittedTopics {
  /// em: probabilities. Other methods: parameters of the topics' Dirichlet distributions, given the
  /// labels (gibbs, collapsed) or the expected counts (cvb0)
  PaddedMatrix numbers;
  /// sum of each topic's numbers
  std::vector<double> totals;
  std::vector<double> alpha;
  double eta = 0;  // not with em

  void sum_up();
};

struct TopicModel::State {
  std::vector<std::string> terms;
  FittedTopics fitted;
  /// stored draws of gibbs and collapsed
  std::vector<FittedTopics> draws;
  std::vector<double> weights;
  /// with em the number of tokens that were fitted; 0 in models that do not store it
  double tokens = 0;
};

// The options of topic models.

/// Which parameters of a Dirichlet prior are learned.
enum class Learned : char { no, symmetric, asymmetric };

struct LdaOptions : FitOptions {
  int k = 0;
  LdaRowOptions documents;
  /// prior.alpha, the prior of a document's proportions: a number or k numbers; learned if absent
  std::optional<Tensor> alpha;
  /// prior.eta, the prior of a topic's terms: a number; learned if absent
  std::optional<double> eta;
  /// how alpha, and whether eta, are learned if absent
  Learned learn_alpha = Learned::asymmetric;
  bool learn_eta = true;
  /// prior.terms, for seeded topics: null, or k objects {"term": pseudo-count} or nulls; the
  /// pseudo-counts are added to eta
  Document terms;

  Document document() const;
  /// The parameters of the prior that samplers draw.
  DrawnPrior drawn() const;
};

LdaOptions read_lda_options(int k, const Document &options, const TopicModel *start, bool update);

}  // namespace bayes
