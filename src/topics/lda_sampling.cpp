#include "topics/lda_sampling.hpp"

#include "base/error.hpp"

namespace bayes {

SampledTopics sample_topics(Corpus &, const LdaOptions &, LdaPrior, FitRun &, Control &) {
  throw Error(Errc::internal, "there is no sampler of topic models");
}

}  // namespace bayes
