// Internal state of a fitted topic model, for the files of this model only.
#pragma once

#include <string>
#include <vector>

#include "topics/lda.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

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

}  // namespace bayes
