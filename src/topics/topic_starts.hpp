// Starting points of topics.
//
// From random numbers alone variational inference ends in poor optima: topics that are two in one,
// and several that are one. So topics begin as what documents with an anchor word are about: a word
// that hardly occurs outside of one topic (Arora and others 2013). Anchors are words whose company
// differs the most from that of all the others, the corners of the hull of their co-occurrences,
// which are projected to random directions to be small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "data/corpus.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

/// Expected tokens of every term and topic to begin with, in all as many as the corpus has. Random
/// numbers are named by seed, restart and the text of a term. Looks at the first documents only if
/// there are many. Polls.
TermTopics starting_topics(Corpus &corpus, const std::vector<std::string> &terms, int topics,
                           std::uint64_t seed, int restart, Control &control);

}  // namespace bayes
