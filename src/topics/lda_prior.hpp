// The prior of a topic model: given parameters, or current values of learned ones.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "counts/padded_table.hpp"

namespace bayes {

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

}  // namespace bayes
