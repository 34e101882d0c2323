// Sampling of topic models.
#pragma once

#include <functional>

#include "fit/fit_run.hpp"
#include "topics/lda_options.hpp"
#include "topics/lda_prior.hpp"
#include "topics/topic_starts.hpp"

namespace bayes {

/// Chains of a sampler; what they find goes into `run`.
///
/// Methods gibbs and collapsed draw from the same posterior, that of the topics of all tokens given
/// the terms. What is learned of the prior is drawn too: alpha_k (or one alpha for all topics) and
/// eta, each with the hyperprior Gamma(1, rate 1). The quantities of a draw are log_joint, the log
/// density of tokens, topics and what is drawn of the prior; log_likelihood, log p(w | z); the
/// entropy of the topics' shares of the tokens; alpha, the sum of alpha_k; and eta.
///
/// `start` says where a chain begins, with its parameters of the prior where they are drawn.
///
/// Topics are matched with those of the first draw that counts, unless the prior names them: by
/// what it adds, or by an alpha of its own for each.
///
/// Throws Error: invalid_argument if a count is not a whole number, too_large if the topics of the
/// tokens do not fit into control.row_memory or the counts of terms and topics into control.memory.
SampledTopics sample_topics(Corpus &corpus, const LdaOptions &options, const LdaPrior &prior,
                            const std::function<TopicStart(int chain)> &start, FitRun &run,
                            Control &control);

}  // namespace bayes
