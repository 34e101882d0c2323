// Allocations that draw a label for every row, and an allocation with given labels.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "data/local_step.hpp"

namespace bayes {

/// Allocation with given labels; only statistics are computed.
struct GivenAllocation {
  static constexpr bool scored = false;
  static constexpr const char *name_elsewhere = "given";
  /// of all rows, from 0
  const int *labels;
  /// how other servers label the rows that they have; may be null
  const Document *elsewhere = nullptr;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const;
};

/// Allocation with given labels; also adds up the scores of the rows under these.
struct ScoredGivenAllocation {
  static constexpr bool scored = true;
  static constexpr const char *name_elsewhere = "given, scored";
  /// as in GivenAllocation
  const int *labels;
  const Document *elsewhere = nullptr;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Soft allocation, except that for marked rows component `from`, whose weight must be 0, gets the
/// responsibility of component `into`.
struct DividedAllocation {
  static constexpr bool scored = true;
  int from, into;
  /// of all rows: 1 or 0
  const int *marks;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Allocates every row to all components, with random responsibilities.
struct ScatteredAllocation {
  static constexpr bool scored = false;
  RowRandom random;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &) const;
};

/// A label for every row in proportion to exp(logit): the full conditional of a finite mixture's
/// labels (000, 001), and the sampled E step of Monte Carlo EM (001). The label depends only on the
/// random stream and the index of the row.
struct SampledAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// may be null
  int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Responsibilities estimated by `samples` labels drawn for each row (001, Monte Carlo EM); the
/// entropy is that of the exact ones.
struct MonteCarloAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// at least 1
  int samples;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

/// Slice sampling (Walker 2007): a row's slice variable u is uniform below its component's weight
/// (the first of its two uniform numbers times that weight), and the row chooses among the
/// components with weights above u, in proportion to their densities alone.
struct SliceAllocation {
  static constexpr bool scored = true;
  RowRandom random;
  /// of all components
  const double *weights;
  /// the current labels
  const int *before;
  /// the labels drawn; a separate array, as an abandoned segment is done again
  int *labels;

  void allocate(int k, BlockRows block, const double *weight, double *logits, double *counts,
                RowSums &sums) const;
};

}  // namespace bayes
