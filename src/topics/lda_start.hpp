// Where a fit of a topic model begins: the parameters of the prior, and the initial topics of each
// restart or chain.
//
// From random initial topics, learners and samplers end in poor local optima, in which some topics
// combine two subjects and others divide one. So all methods begin at the result of a short chain
// that also moves whole topics (move_topics()).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "counts/remote_corpus.hpp"
#include "data/corpus.hpp"
#include "topics/lda_state.hpp"

namespace bayes {

struct TopicStart {
  /// expected tokens of every term and topic; the sum is that of the corpus
  PaddedMatrix counts;
  std::vector<double> alpha;
  double eta;
};

/// `prior`: initial parameters, without pseudo-counts; those named by `drawn` are learned. `seed`
/// and `number` (of the restart or chain) select the random stream. Uses at most the first million
/// tokens. Fractional counts are rounded so that the sum of a document is kept. Takes at most half
/// of the time that is left. Polls.
TopicStart starting_topics(Corpus &corpus, const LdaPrior &prior, const DrawnPrior &drawn,
                           std::uint64_t seed, int number, Control &control);

/// The pass of starting_topics() that finds the first documents of each part.
extern const PassOver<PartOfDocuments> first_documents_pass;

/// The cost of starting_topics() for RunEffort (fit/fit_options.hpp).
double effort_of_start(const CorpusTotals &totals, int topics);

/// Initial topics are found by starting_topics(), or are those of a start model. All
/// arguments of the constructor must outlive this.
class LdaStart {
 public:
  LdaStart(Corpus &corpus, const std::vector<std::string> &terms, const LdaOptions &options,
           const TopicModel *model, Control &control);

  /// The prior, with initial values of the parameters that are learned.
  const LdaPrior &prior() const { return prior_; }
  /// Whether a restart or chain begins at the start model: the first restart, and every chain.
  bool is_from_model(int number) const { return model_ && (number == 1 || options_.sampled()); }
  TopicStart initial_topics(int number) const;
  /// V x K numbers that the start model stores of the terms; 0 for terms that it does not know.
  PaddedMatrix model_numbers() const;

 private:
  void set_given_parameters(LdaPrior &prior) const;
  void add_model_posterior();
  void add_seeds(const Document::List &seeds);
  TopicStart topics_of_model() const;
  double share_of_seeds(int number) const;
  void initialise_seeded_topics(TopicStart &start, double share_of_tokens) const;
  void smooth(TopicStart &start) const;

  Corpus &corpus_;
  const std::vector<std::string> &terms_;
  const LdaOptions &options_;
  const TopicModel *const model_;
  Control &control_;
  const int k_;
  const std::int32_t v_;
  LdaPrior prior_;
  /// initial parameters of runs that do not begin at the start model
  LdaPrior default_prior_;
};

}  // namespace bayes
