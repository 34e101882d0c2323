// Moves of whole topics.
//
// Samplers that move one token at a time end where some topics are two in one and others share one
// between them, as variational inference does: no token alone is better off elsewhere. So a topic
// is split in two, and at the same time two others are merged, where tokens and their topics are
// more probable afterwards (split and merge moves as Jain and Neal 2004 make them for mixtures,
// here a search: what a topic would be split into is found by a model of two topics for its tokens
// alone).
#pragma once

#include "topics/topic_chain.hpp"

namespace bayes {

/// Makes all such moves that can be made at the same time, and returns how many there were. What
/// chance decides in them is named by `index`. If alpha is learned for each topic, merged topics
/// have the sum of theirs and those of a split half each.
///
/// This is no step of a sampler: it is for the way to where topics are probable. Assumes that the
/// prior adds nothing to any topic. Polls; on all threads, with the same result for any number.
int move_topics(TopicChain &chain, bool own_alphas, int index, Control &control);

}  // namespace bayes
