// What every fitted mixture with a fixed number of components has beside its parameters, and its
// parts of the document form.
#pragma once

#include "base/linalg.hpp"
#include "document/members.hpp"
#include "document/model.hpp"

namespace bayes {

struct FiniteTotals {
  /// K expected numbers of rows
  Vector counts;
  /// of all rows that have a value
  double weight = 0;
  /// of the responsibilities at the point estimate, summed over these rows; in nats
  double entropy = 0;

  /// Takes rows of so much weight, and their entropy, out of the totals: rows without any value,
  /// whose responsibilities are the weights.
  void leave_out(double unobserved, const Vector &weights);
  /// As Model::relative_entropy(); NaN for one component.
  double relative_entropy() const;
};

/// Of a sampled mixture: the sum of all parameters of the Dirichlet that the weights have given the
/// partition, rows + K alpha; NaN if the options in force do not tell alpha.
double dirichlet_sum(const ModelInfo &info);

// Both throw Error(invalid_text) naming the invalid member.

/// Members weight, entropy and counts.
void read_totals(const MemberReader &in, int components, FiniteTotals &totals);
/// Member weights: numbers that are not negative and sum to 1.
Vector read_weights(const MemberReader &in, int components);

}  // namespace bayes
