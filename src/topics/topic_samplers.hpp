// The two samplers of topics. Both leave the posterior of the topics of all tokens unchanged,
// proportions and topics' terms integrated out.
#pragma once

#include <memory>

#include "topics/topic_chain.hpp"

namespace bayes {

/// Which terms a sampler treats as sparse, for tests: `automatic` is what costs least.
enum class Sparsity : char { automatic, never, always };

/// Token by token, proportions and topics' terms integrated out (Griffiths and Steyvers 2004), on
/// one thread.
///
/// The terms of few topics have a list of them, and what the prior adds to all topics is summed for
/// all terms together (Yao, Mimno and McCallum 2009): a token costs as much as its term has topics.
std::unique_ptr<TopicSampler> collapsed_topics(TopicChain &chain,
                                               Sparsity sparsity = Sparsity::automatic);

/// Terms of topics are drawn given the topics of all tokens, then topics of tokens document by
/// document, proportions integrated out (Magnusson, Jonsson, Villani and Broman 2018): on all
/// threads, with the same result for any number of them.
///
/// With many topics, those that the document has are summed up token by token, and what the prior
/// of the proportions adds to all topics once for every term and sweep.
std::unique_ptr<TopicSampler> gibbs_topics(TopicChain &chain,
                                           Sparsity sparsity = Sparsity::automatic);

}  // namespace bayes
