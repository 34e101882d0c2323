// The variational posterior of the topics: their factors for the local step, and their divergence
// from the prior.
#pragma once

#include <span>
#include <vector>

#include "base/control.hpp"
#include "counts/padded_table.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {

/// The Dirichlet posteriors of the topics, or their point estimates (em).
class TopicPosterior {
 public:
  TopicPosterior(const TopicTask &task, std::int32_t terms, int topics);

  TermParameters parameters(const TopicState &state) const {
    return {state.counts, state.scale, state.eta, added_};
  }
  /// Digamma of the sum of each topic's parameters, given the sums of the counts.
  Buffer digammas(const TopicState &state, const Buffer &count_totals) const;

  /// Computes the factors of all terms, and the sums that divergence() and learn_eta() need.
  void update_factors(const TopicState &state, const Buffer &count_totals, Control &control);
  /// KL(q || p) of all topics, for the last factors of all terms.
  double divergence(const TopicState &state, const Buffer &count_totals) const;
  /// The eta that maximises the bound, for the last factors of all terms.
  double learn_eta() const;

  TermFactors factors;

 private:
  std::vector<double> totals(const TopicState &state, const Buffer &count_totals) const;

  const PaddedMatrix *added_;
  const bool point_estimates_;
  Buffer added_totals_;
  std::vector<double> positive_added_;
  ExpectationSums sums_;
};

// Learning the parameters of Dirichlet priors by maximising a bound (Minka 2000; Blei, Ng and
// Jordan 2003, appendix A.4.2).

/// Limits of learned parameters; below, priors hardly differ.
inline constexpr double min_concentration = 1e-4, max_concentration = 1e4;

/// The a that maximises the expected log density of `groups` Dirichlet distributions over `size`
/// entries with all parameters a. `logs`: the sum of all expected logs.
double learn_symmetric(double groups, double size, double logs);

/// The same for Dirichlet distributions of the columns with parameters a + added.
double learn_symmetric(const PaddedMatrix &added, double logs);

/// Moves alpha, one parameter for each entry, to the maximum, or in many dimensions towards it; the
/// objective never falls. `logs`: for each entry the sum of expected logs over `groups`
/// distributions.
void learn_asymmetric(std::vector<double> &alpha, double groups, std::span<const double> logs);

}  // namespace bayes
