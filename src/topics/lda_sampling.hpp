// Sampling from the posterior of topic models.
#pragma once

#include <functional>

#include "fit/fit_run.hpp"
#include "topics/lda_start.hpp"
#include "topics/lda_state.hpp"

namespace bayes {

/// Results of the samplers.
struct SampledTopics {
  LdaPrior prior;
  /// Posterior mean of n_kw, the number of tokens of every term and topic. Topics with the same
  /// prior are matched between draws and chains.
  PaddedMatrix counts;
  /// Posterior mean of p(term | topic).
  PaddedMatrix probabilities;
  /// Stored draws of n_kw, with the topics of `counts`; chain after chain.
  std::vector<PaddedMatrix> draws;
  /// priors of the stored draws; `added` is empty, since it is the same as in `prior`
  std::vector<LdaPrior> draw_priors;
};

/// Runs chains of a sampler; traces and diagnostics go into `run`.
///
/// Methods gibbs and collapsed draw from the same posterior, that of the topics of all tokens given
/// the terms. Learned parameters of the prior are drawn too: alpha_k (or one alpha for all topics)
/// and eta, each with the hyperprior Gamma(1, rate 1). The quantities of a draw are log_joint, the
/// log density of tokens, topics and drawn parameters; log_likelihood, log p(w | z); the entropy of
/// the topics' proportions of all tokens; alpha, the sum of alpha_k; and eta.
///
/// `start` returns the initial topics of a chain, and the initial parameters of the prior, which
/// are used if they are drawn.
///
/// Topics are matched with those of the first draw after warmup, unless the prior distinguishes
/// them by pseudo-counts, or by different given alpha.
///
/// Throws Error: invalid_argument if a count is not a whole number, too_large if the topics of the
/// tokens do not fit into control.row_memory or the counts of terms and topics into control.memory.
SampledTopics sample_topics(Corpus &corpus, const LdaOptions &options, const LdaPrior &prior,
                            const std::function<TopicStart(int chain)> &start, FitRun &run,
                            Control &control);

}  // namespace bayes
