// Starting points of topics.
//
// From random numbers alone learners and samplers end in poor optima: topics that are two in one,
// and several that are one. So they all begin where a short chain of a sampler ends which moves
// whole topics as well (topic_moves.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "data/corpus.hpp"
#include "fit/schedule.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

struct TopicStart {
  /// expected tokens of every term and topic, in all as many as the corpus has
  TermTopics counts;
  std::vector<double> alpha;
  double eta;
};

/// `prior` is what learning begins with and adds nothing; what `drawn` says is learned. Random
/// numbers are named by seed and number, that of a restart or a chain. Looks at the first million
/// tokens only if there are more, and at counts that are no whole numbers as the nearest whole
/// ones, in a document together as many. What time the schedule does not leave, it does without.
/// Polls.
TopicStart starting_topics(Corpus &corpus, const LdaPrior &prior, const DrawnPrior &drawn,
                           std::uint64_t seed, int number, const Schedule &schedule,
                           Control &control);

/// The work of starting_topics() for RunEffort (fit/effort.hpp).
double effort_of_start(const CorpusTotals &totals, int topics);

}  // namespace bayes
