// Learners of topic models: variational inference (002 L7; Blei, Ng and Jordan 2003; Hoffman, Blei
// and Bach 2010), its stochastic form (002 L8; Hoffman and others 2013), its collapsed form
// (lda_collapsed.hpp), and EM with topics that are point estimates (004).
#pragma once

#include <vector>

#include "data/corpus.hpp"
#include "fit/schedule.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_options.hpp"
#include "topics/lda_prior.hpp"

namespace bayes {

/// Where a run is.
struct TopicState {
  /// V x K. The posterior of the topics has the parameters scale * counts + eta + added; with em
  /// these are the probabilities themselves.
  TermTopics counts;
  double scale = 1;
  std::vector<double> alpha;
  double eta = 0;
  /// tokens of every document expected of every topic, padded; empty before the first pass, and
  /// with minibatches
  Buffer documents;
  /// of cvb0: the responsibilities of every term of every document, padded; empty before the first
  /// pass
  std::vector<float, CacheAligned<float>> shares;
  /// tokens of each topic
  std::vector<double> tokens;
};

struct TopicRun : RunTrace {
  TopicState state;
};

/// What a run needs beside its state. All must live as long.
struct TopicTask {
  Corpus &corpus;
  const LdaOptions &options;
  /// what a prior adds to eta; may be empty
  const TermTopics &added;
  /// the topics that runs begin with are those of a model
  bool from_model = false;
};

/// Doubles that a run has in memory, with its state, documents and what threads need.
double topic_run_doubles(const Corpus &corpus, const LdaOptions &options, const Control &control);

/// Method vi, svi, em or cvb0, from this state.
TopicRun run_topics(const TopicTask &task, TopicState state, const Schedule &schedule,
                    Control &control);

/// What all documents, each begun afresh, add to the bound of a state.
double documents_bound(Corpus &corpus, const TopicFactors &factors,
                       const std::vector<double> &alpha, Control &control);

/// The bound of the log-likelihood of all documents, for topics that are probabilities. `start`:
/// documents of a state, or empty, that is after minibatches: then it is estimated from the first
/// documents, which are as good as random ones, that have together `most_entries` distinct terms.
double topics_log_likelihood(Corpus &corpus, const TermTopics &probabilities,
                             const std::vector<double> &alpha, const Buffer &start,
                             Control &control, std::int64_t most_entries = 1'000'000);

/// The posterior of one document's proportions: K parameters, with converged local inference.
std::vector<double> infer_proportions(const DocumentTerms &document, const TopicFactors &factors,
                                      const std::vector<double> &alpha);

}  // namespace bayes
