// The local step of variational inference for documents (002 L7; Blei, Ng and Jordan 2003): given
// the topics, the posterior of a document's proportions, its bound, and what it adds to the
// statistics of the topics.
//
// With q(theta) = Dirichlet(gamma), t_k = exp(E log theta_k) and b_wk = exp(E log beta_kw) (of
// point estimates beta_kw itself), token i of term w has topic k with probability t_k b_wk / n_w,
// where n_w = sum_k t_k b_wk, and a document of c_w tokens of term w has
//
//   gamma_k = alpha_k + t_k sum_w c_w b_wk / n_w
//   bound   = sum_w c_w log n_w - KL(q(theta) || p(theta)).
//
// Topics lie in the vector lanes. Sums have 8 partial sums at every instruction set level.
#pragma once

#include <vector>

#include "base/aligned.hpp"
#include "counts/allocation.hpp"
#include "data/corpus.hpp"

namespace bayes {

/// The Dirichlet prior of a document's proportions.
struct ProportionPrior {
  explicit ProportionPrior(const std::vector<double> &alpha);
  /// padded_size numbers; 1 in the padding, where log Gamma(1) = 0
  Buffer alpha;
  double sum = 0;
  /// sum_k log Gamma(alpha_k) - log Gamma(sum)
  double log_normaliser = 0;
};

/// Limits of the iteration for q(theta): it ends after max_updates updates, or when an update moves
/// at most the share max_moved of the tokens from topic to topic.
struct LocalLimits {
  int max_updates = 100;
  double max_moved = 1e-3;
};

/// Inference for one document after another; each thread has its own. Polls, as documents may be
/// large.
class DocumentStep {
 public:
  /// both must outlive this
  DocumentStep(const TermFactors &factors, const ProportionPrior &prior);

  /// Improves the expected tokens of each topic (padded_size numbers); q(theta) has the parameters
  /// gamma = alpha + tokens. If `fresh`, starts from equal weights. Returns the bound at q(theta),
  /// before the last improvement.
  double infer(const DocumentTerms &document, LocalLimits limits, bool fresh, double *tokens);

  /// The allocation of the last document, at the q(theta) of its bound.
  Allocation allocation() const { return {allocation_.ratios(), weights_.data(), logs_.data()}; }

 private:
  CountAllocation allocation_;
  const ProportionPrior &prior_;
  const int stride_;
  Buffer weights_, logs_;
};

}  // namespace bayes
