// The work of a fit of a hidden Markov model before its first iteration: checks of the sequences,
// wherever they are; survey, prior and floors of its observation family; and starting points of
// restarts: with emissions found in the data, on a path of states, and on a subset of the sequences
// if there are many.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/control.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"
#include "families/normal/normal_completion.hpp"
#include "families/normal/normal_prior.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/product_scorer.hpp"
#include "families/product/product_starts.hpp"
#include "fit/seeding.hpp"
#include "markov/emission_scorer.hpp"
#include "markov/hmm_observations.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

// Facts that a fit of a hidden Markov model needs about its sequences before the first iteration,
// wherever they are.

/// Whether elements of observations are observed at all, and whether some are missing.
struct ObservedElements {
  /// some element of some step is observed
  bool any = false;
  /// some step is observed in part
  bool incomplete = false;
};
ObservedElements observed_elements(const Sequences &sequences, Control &control);

/// Throws Error(invalid_argument), naming sequence and step, if an element has a value that its
/// emission does not allow. `emissions`: one for each element; `started`: they are those of a start
/// model.
void check_emissions(const Sequences &sequences, const std::vector<ColumnSpec> &emissions,
                     bool started, Control &control);

/// Has some step a symbol whose number is below `known`?
bool has_symbol_below(const Sequences &sequences, std::int64_t known, Control &control);

/// The passes of these functions that other servers make.
extern const PassOver<PartOfSequences> observed_elements_pass, check_emissions_pass,
    symbol_below_pass;

// The parts of a fit of a hidden Markov model that depend on its observation family: survey, prior,
// floors of maximum likelihood, and initialization.

/// A multivariate normal in every state.
class NormalEmissions {
 public:
  using Fitted = NormalHmm;
  using Point = NormalPoint;
  using Posterior = NormalWishart;
  using Statistics = NormalStatistics;
  static constexpr bool whole_steps = true;

  NormalEmissions(const Sequences &sequences, const HmmOptions &options, const Fitted *,
                  const std::vector<std::string> &, Control &control);

  int dimension() const { return int(survey_.mean.size()); }
  const CovarianceFloor &floor() const { return floor_; }
  const Posterior &prior() const { return prior_; }
  void write_prior(Document &out) const { write_normal_prior(out, prior_); }
  double numbers(int d, int k) const;
  /// Numbers in a worker's sums; with few elements each SIMD lane has sums of its own.
  double sums(int d, int k) const {
    return numbers(d, k) * NormalScorer::sums_per_number(survey_.shape, d);
  }

  /// Allocates the sample to K groups. `grouped`: groups around distinct rows, even if there are
  /// fewer of these than states, some of which then have none.
  Statistics starting_statistics(int restart, bool grouped);

  /// The first covariances are regularised by the default prior, so that a small group does not
  /// begin with a nearly singular one.
  Point first_point(const Statistics &statistics) const;

  MemoryRows &sample() { return sample_; }

 private:
  static Survey look(const CovarianceShape &shape, const Sequences &sequences, Control &control);
  Statistics allocated_to_nearest(const KMeans &kmeans, const Matrix &centres);

  const HmmOptions &options_;
  int k_;
  Control &control_;
  Survey survey_;
  MemoryRows sample_;
  CovarianceFloor floor_;
  Posterior prior_, neutral_;
  /// the sample with missing elements imputed, if it has any
  std::optional<RowCompletion> completion_;
};

/// Independent columns, or the one column of symbols.
class ProductEmissions {
 public:
  using Fitted = ProductHmm;
  using Point = ProductPoint;
  using Posterior = ProductPosterior;
  using Statistics = ProductStatistics;
  static constexpr bool whole_steps = false;

  ProductEmissions(const Sequences &sequences, const HmmOptions &options, const Fitted *start,
                   const std::vector<std::string> &symbols, Control &control);

  const Columns &columns() const { return *survey_.columns; }
  const SharedColumns &shared_columns() const { return survey_.columns; }
  int dimension() const { return columns().count(); }
  const ProductFloor &floor() const { return floor_; }
  const Posterior &prior() const { return prior_; }
  void write_prior(Document &out) const;
  double numbers(int, int k) const { return double(k) * columns().size().posterior; }
  double sums(int, int k) const { return double(k) * ProductScorer::sums_per_component(columns()); }

  /// As in NormalEmissions.
  Statistics starting_statistics(int restart, bool grouped);

  /// The probabilities of option init. Throws Error(invalid_argument) if they name other symbols,
  /// or all symbols with a sum below 1.
  Point given_probabilities(const std::vector<std::string> &symbols) const;

  /// Posterior means, not modes: no probability begins at 0 or 1, where it would stay.
  Point first_point(const Statistics &statistics) const;

  MemoryRows &sample() { return sample_; }

 private:
  static ProductSurvey look(const Sequences &sequences, const HmmOptions &options,
                            const Fitted *start, const std::vector<std::string> &symbols,
                            Control &control);

  /// Symbols are numbered in the order of appearance, on which starting points must not depend.
  void sort_sample(const std::vector<std::string> &symbols);

  void check_means() const;

  /// Sets the means to those of option init.means.
  void set_given_means(Point &point) const;

  /// Checks values before the survey does, so that errors name sequence and step, not a row of the
  /// store.
  static void check_values(const Sequences &sequences, const HmmOptions &options, bool started,
                           Control &control);

  const HmmOptions &options_;
  int k_;
  Control &control_;
  ProductSurvey survey_;
  MemoryRows sample_;
  ProductFloor floor_;
  Posterior prior_, neutral_;
  std::optional<ProductStarts> starts_;
};

// Starting points of hidden Markov models that are found on a path of their states.

/// A chain, and the emissions that its states begin with.
struct PathStart {
  /// of the path; a pseudo-count is added to every transition, so that none is impossible
  MarkovCounts counts;
  /// K: the given state whose emissions a state begins with
  std::vector<int> emissions;
};

/// Draws a path at given parameters of K >= 2 states, and divides its states anew. First states
/// that are hard to tell apart, or have few steps, are merged until at most `keep` have steps.
/// Then, one by one, each state without steps takes those steps of another state that follow a
/// certain state. Mergers are drawn by how often two states are confused, divisions by how much
/// better they predict the states that follow. So a chain that visits a symbol several times in a
/// cycle gets a state for each visit, which iterations from any emissions seldom find (state
/// splitting: Siddiqi, Gordon and Moore 2007).
///
/// `seed` and `number` select the random streams. The sequences must be those of this server.
/// Polls.
PathStart start_on_path(const Sequences &sequences, Control &control, const MarkovChain &chain,
                        const EmissionScorer &scorer, int keep, std::uint64_t seed, int number);

// The subset on which restarts run if there are many sequences.

/// Beyond this number of steps restarts run on a subset of the sequences.
inline constexpr std::int64_t max_trial_steps = 100000;

/// The first sequence and a random sample of the others, each truncated to max_trial_steps / 2
/// steps.
class Trial {
 public:
  Trial(const Sequences &from, std::uint64_t seed, Control &control);
  const Sequences &sequences() const { return sequences_; }

 private:
  MemoryRows rows_;
  Sequences sequences_;
};

}  // namespace bayes
