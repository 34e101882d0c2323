// Allocations that draw a label for every row, and one that is told the labels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "data/local_step.hpp"

namespace bayes {

/// The labels that there are: only statistics are gathered.
struct GivenAllocation {
  static constexpr bool scored = false;
  /// of all rows, from 0
  const int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const;
};

/// Every row to all components, in random proportions.
struct ScatteredAllocation {
  static constexpr bool scored = false;
  RowRandom random;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const;
};

/// A label for every row in proportion to exp(logit): the full conditional of a finite mixture's
/// labels (000, 001), and the sampled E step of Monte Carlo EM (001). Which label depends on the
/// stream and the row's number alone.
struct SampledAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// null: of no interest
  int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Responsibilities estimated by `samples` labels drawn for each row (001, Monte Carlo EM); their
/// own entropy is that of the true ones.
struct MonteCarloAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// at least 1
  int samples;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Slice sampling (Walker 2007): a row at height u below its component's weight chooses among the
/// components whose weights are above u, in proportion to their densities alone. The height of a
/// row is the first of its two uniform numbers times its component's weight.
struct SliceAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// of all components
  const double *weights;
  /// the labels that there are
  const int *before;
  /// those drawn; elsewhere, as a segment that is abandoned is done again
  int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

}  // namespace bayes
