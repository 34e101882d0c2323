// The totals that every fitted mixture with a fixed number of components has besides its
// parameters, and their members in its document.
#pragma once

#include "base/linalg.hpp"
#include "document/members.hpp"
#include "document/model.hpp"

namespace bayes {

struct FiniteTotals {
  /// K expected numbers of rows
  Vector counts;
  /// total weight of the rows with an observed element
  double weight = 0;
  /// of the responsibilities at the point estimate, summed over these rows; in nats
  double entropy = 0;

  /// Removes rows without observed elements, of total weight `unobserved`, from the totals, with
  /// their entropy: their responsibilities are the mixture weights, `weights`.
  void leave_out(double unobserved, const Vector &weights);
  /// As Model::relative_entropy(); NaN for one component.
  double relative_entropy() const;
};

/// For a sampled mixture, the sum of the parameters of the weights' Dirichlet posterior given the
/// partition, rows + K alpha; NaN if the options in force do not contain alpha.
double dirichlet_sum(const ModelInfo &info);
/// The same; infinite if it is not known, as if there were so many rows that the next one told
/// nothing of the parameters.
double rows_of_draw(const ModelInfo &info);

// Both throw Error(invalid_text) naming the invalid member.

/// Members weight, entropy and counts.
void read_totals(const MemberReader &in, int components, FiniteTotals &totals);
/// Member weights: numbers that are not negative and sum to 1.
Vector read_weights(const MemberReader &in, int components);

}  // namespace bayes
