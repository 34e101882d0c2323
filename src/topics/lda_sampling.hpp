// Sampling of topic models.
#pragma once

#include "data/corpus.hpp"
#include "fit/fit_run.hpp"
#include "topics/lda_options.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

/// Chains of a sampler; what they find goes into `run`.
SampledTopics sample_topics(Corpus &corpus, const LdaOptions &options, LdaPrior prior, FitRun &run,
                            Control &control);

}  // namespace bayes
