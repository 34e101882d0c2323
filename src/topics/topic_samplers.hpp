// Two samplers of topics, and moves of whole topics. Both samplers leave the posterior of the
// topics of all tokens, given the terms, invariant.
#pragma once

#include <memory>

#include "topics/topic_chain.hpp"

namespace bayes {

/// Interface of the samplers.
class TopicSampler {
 public:
  virtual ~TopicSampler() = default;
  /// Draws a new topic for every token. `index` selects the random stream. The parameters of the
  /// prior may have changed since the last sweep.
  virtual void sweep(int index, Control &control) = 0;
};

/// Whether sums over topics use sparse lists; `automatic` chooses the cheaper way, the others are
/// for tests.
enum class Sparsity : char { automatic, never, always };

/// Collapsed Gibbs sampling token by token, with proportions and topics integrated out (Griffiths
/// and Steyvers 2004), on one thread.
///
/// Terms with few topics have lists of them, and the contribution of eta is summed for all terms
/// together (Yao, Mimno and McCallum 2009), so the cost of a token is proportional to the number of
/// its term's topics.
std::unique_ptr<TopicSampler> collapsed_topics(TopicChain &chain,
                                               Sparsity sparsity = Sparsity::automatic);

/// Partially collapsed: draws the topics' distributions over terms given the topics of all tokens,
/// then the topics of tokens document by document, with proportions integrated out (Magnusson,
/// Jonsson, Villani and Broman 2018); on all threads, with the same result for any number of them.
///
/// With many topics, sums for a token go over the topics of its document; the contribution of alpha
/// is summed once for every term and sweep.
std::unique_ptr<TopicSampler> gibbs_topics(TopicChain &chain,
                                           Sparsity sparsity = Sparsity::automatic);

/// Makes as many split-merge moves (topic_moves.cpp) as improve log p(w, z), and returns their
/// number. `index` selects the random stream. With `own_alphas`, a merged topic gets the sum of the
/// two alphas, and a split divides alpha in halves.
///
/// Not a valid MCMC step (detailed balance does not hold): used for initialisation only. Assumes a
/// prior without pseudo-counts. Polls; on all threads, with the same result for any number of them.
int move_topics(TopicChain &chain, bool own_alphas, int index, Control &control);

}  // namespace bayes
