// The options of topic models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fit/fit_options.hpp"
#include "topics/lda.hpp"
#include "topics/lda_state.hpp"

namespace bayes {

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
