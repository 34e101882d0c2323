// Collapsed variational inference of topic models, to order zero: CVB0 (Asuncion, Welling, Smyth
// and Teh 2009; after Teh, Newman and Welling 2006).
//
// Proportions and the topics' terms are integrated out. Under q the topics of tokens are
// independent, and logarithms of counts are replaced by logarithms of expected counts. So a token i
// of term w in document d has topic k with probability
//
//   q_ik ~ (alpha_k + n_dk - q_ik) (eta_wk + n_kw - q_ik) / (sum_w eta_wk + n_k - q_ik),
//
// where n are expected counts of tokens, of which its own is taken away.
#pragma once

#include "topics/lda_variational.hpp"

namespace bayes {

/// Passes over all documents. The trace has the sum over all tokens of log p(token | the topics of
/// all others), which are those that q expects: the normaliser of q_i. That is no bound of
/// anything, and it may fall.
TopicRun run_collapsed(const TopicTask &task, TopicState state, const Schedule &schedule,
                       Control &control);

/// Doubles that are held of the documents, with so many states.
double collapsed_doubles(const CorpusTotals &totals, int topics, int states);

}  // namespace bayes
