// The options of topic models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fit/fit_options.hpp"
#include "topics/lda.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

/// How much is learned of a prior's parameters.
enum class Learned : char { no, symmetric, asymmetric };

struct LdaOptions : FitOptions {
  int k = 0;
  LdaRowOptions documents;
  /// prior.alpha, of a document's proportions: given, a number or k numbers; else learned
  std::optional<Tensor> alpha;
  /// prior.eta, of a topic's terms: given, a number; else learned
  std::optional<double> eta;
  /// what is learned, when it is not given
  Learned learn_alpha = Learned::asymmetric;
  bool learn_eta = true;
  /// prior.terms: null, or k objects (or null) {"term": pseudo-count}, added to eta: seeded topics
  Document terms;

  Document document() const;
  /// What is learned, as samplers draw it.
  DrawnPrior drawn() const;
};

LdaOptions read_lda_options(int k, const Document &options, const TopicModel *start, bool update);

}  // namespace bayes
