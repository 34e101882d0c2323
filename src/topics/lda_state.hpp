// The inside of a fitted topic model, for the files of this model only.
#pragma once

#include <string>
#include <vector>

#include "topics/lda.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

/// Topics that documents are scored under.
struct FittedTopics {
  /// vi, svi, cvb0, gibbs, collapsed: parameters of the Dirichlet distributions of topics, for the
  /// samplers given the labels, for cvb0 given their expected counts; em: probabilities
  TermTopics numbers;
  /// sum of each topic's
  std::vector<double> totals;
  std::vector<double> alpha;
  double eta = 0;  // not of em

  void sum_up();
};

struct TopicModel::State {
  std::vector<std::string> terms;
  FittedTopics fitted;
  /// of gibbs and collapsed
  std::vector<FittedTopics> draws;
  std::vector<double> weights;
  /// of em: of the fit; 0 in models that do not say
  double tokens = 0;
};

}  // namespace bayes
