// Learners of topic models: variational inference (002 L7; Blei, Ng and Jordan 2003; Hoffman, Blei
// and Bach 2010), its stochastic form (002 L8; Hoffman and others 2013), its collapsed form
// (lda_variational.cpp), and EM with topics that are point estimates (004).
#pragma once

#include <vector>

#include "counts/remote_corpus.hpp"
#include "data/corpus.hpp"
#include "fit/schedule.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_state.hpp"

namespace bayes {

/// The current state of a run.
struct TopicState {
  /// V x K. The topics have the posterior parameters scale * counts + eta + added; with em, counts
  /// are the probabilities.
  PaddedMatrix counts;
  double scale = 1;
  std::vector<double> alpha;
  double eta = 0;
  /// expected tokens of every document and topic, padded; empty before the first pass, and with
  /// minibatches
  DocumentNumbers documents;
  /// with cvb0: responsibilities of the topics for every term of every document, padded; empty
  /// before the first pass
  std::vector<float, CacheAligned<float>> shares;
  /// expected tokens of each topic
  std::vector<double> tokens;
};

/// The topics and the parameters of their priors.
void exchange(StateNumbers &numbers, TopicState &state);

struct TopicRun : RunTrace {
  TopicState state;
};

/// Inputs of a run (not owned; must outlive it).
struct TopicTask {
  Corpus &corpus;
  const LdaOptions &options;
  /// added to eta by the prior; may be empty
  const PaddedMatrix &added;
  /// whether the initial topics are those of a start model
  bool from_model = false;
};

/// Memory of a run, in doubles: its state, documents and workspace of the threads.
double topic_run_doubles(const Corpus &corpus, const LdaOptions &options, const Control &control);

/// Runs method vi, svi, em or cvb0, beginning at `state`.
TopicRun run_topics(const TopicTask &task, TopicState state, const Schedule &schedule,
                    Control &control);

/// Method svi with minibatches that are smaller than the corpus (lda_variational.cpp). The trace
/// has noisy estimates of the bound, and at the end the exact one.
TopicRun run_minibatches(const TopicTask &task, TopicState state, const Schedule &schedule,
                         Control &control);

/// Method cvb0 (lda_variational.cpp): passes over all documents. The trace has the sum over all
/// tokens of log p(token | the expected topics of all others), the normaliser of q_i. It is no
/// bound, and may fall.
TopicRun run_collapsed(const TopicTask &task, TopicState state, const Schedule &schedule,
                       Control &control);
/// Memory of method cvb0 that is proportional to the documents, for `states` states, in doubles.
double collapsed_doubles(const CorpusTotals &totals, int topics, int states);

/// The contribution of all documents to the bound, with local steps from equal weights.
double documents_bound(Corpus &corpus, const TermFactors &factors, const std::vector<double> &alpha,
                       Control &control);

/// A lower bound of the log-likelihood of all documents, for topics given as probabilities.
/// `start`: TopicState::documents; if it is empty (after minibatches), the bound is estimated from
/// the first documents with together `max_entries` distinct terms, which are as good as random
/// ones.
double topics_log_likelihood(Corpus &corpus, const PaddedMatrix &probabilities,
                             const std::vector<double> &alpha, const DocumentNumbers &start,
                             Control &control, std::int64_t max_entries = 1'000'000);

/// The pass over all documents.
extern const PassOver<PartOfDocuments> topic_pass;

/// The posterior of one document's proportions: K parameters of a Dirichlet distribution, after a
/// converged local step.
std::vector<double> infer_proportions(const DocumentTerms &document, const TermFactors &factors,
                                      const std::vector<double> &alpha);

}  // namespace bayes
