// Stochastic variational inference of topic models (002 L8; Hoffman and others 2013).
#pragma once

#include "topics/lda_variational.hpp"

namespace bayes {

/// Steps on minibatches that are smaller than the corpus. The trace has noisy estimates of the
/// bound.
TopicRun run_minibatches(const TopicTask &task, TopicState state, const Schedule &schedule,
                         Control &control);

}  // namespace bayes
