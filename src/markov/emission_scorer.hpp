// The emissions of a hidden Markov model as its recursions see them: scores of blocks of steps, and
// expected sufficient statistics. Observation families are called through this interface, so that
// recursions are compiled once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "data/local_step.hpp"
#include "questions/row_part.hpp"

namespace bayes {

/// Tabulated scores of observations with few distinct values, [value][padded]; the last row is that
/// of a missing value.
struct EmissionTable {
  /// observations are 0 .. values - 1
  int values = 0;
  /// exp(score - shift) by value and state; shift of each value: its largest score
  Buffer likelihoods, shifts;
  /// scores
  Buffer logarithms;
};

/// One thread's part of an EmissionScorer.
class EmissionWorker {
 public:
  virtual ~EmissionWorker() = default;
  /// out: [state][block_rows], log density (or its expectation) of rows [from, to) of a block,
  /// undefined for others; 0 for a missing row.
  virtual void score(const double *block, int from, int to, double *out) = 0;
  /// Adds the sufficient statistics of a block's rows, weighted by responsibilities r
  /// ([state][block_rows], modified; 0 for rows outside the sequence). The block need not be the
  /// last one scored. `first`: index of the block's first row.
  virtual void accumulate(const double *block, std::int64_t first, double *r) = 0;
  /// With a table, instead of accumulate(): sums of responsibilities by entry, [value][padded].
  virtual double *table_sums() { return nullptr; }
  virtual void clear() = 0;
  /// Adds the sums accumulated since clear() to raw and to counts (K: sums of responsibilities,
  /// without entirely missing steps for families of whole rows).
  virtual void reduce(double *counts, double *raw) = 0;
};

class EmissionScorer {
 public:
  virtual ~EmissionScorer() = default;
  virtual int states() const = 0;
  /// per step
  virtual double operations() const = 0;
  virtual std::size_t raw_size() const = 0;
  virtual std::unique_ptr<EmissionWorker> worker() const = 0;
  /// The scorer as a message to other servers that have sequences, which make the same emissions of
  /// it with the family of emissions_of(); by default throws Error(invalid_argument).
  virtual Document message() const;
  /// if not null, it replaces scoring and accumulating step by step
  virtual const EmissionTable *table() const { return nullptr; }
};

/// Imputes the missing elements of a step, given its state. For use by one thread.
using CompleteStep = std::function<void(std::span<double> x, int state, std::int64_t row)>;

/// Emissions from an observation family's scorer, which must outlive them. `whole_steps`: the
/// family needs whole rows, so a step of NaNs only contributes to no sum; otherwise such a step is
/// counted. `values`: as in Sequences. `completion`, for families of whole rows: makes a function
/// that imputes the missing elements of incomplete steps before their statistics are added, given
/// the first state whose responsibility is not 0.
BAYES_API std::unique_ptr<EmissionScorer> emissions_of(
    const BlockScorer &scorer, bool whole_steps, int values,
    std::function<CompleteStep()> completion = {});

/// Tabulates the scores of other emissions for observations 0 .. values - 1.
std::unique_ptr<EmissionScorer> table_emissions(std::unique_ptr<EmissionScorer> of, int values);

/// Scores a row of d numbers under K states; `out` has K entries, rounded up to a multiple of the
/// SIMD lanes.
using RowScorer = std::function<void(const double *x, double *out)>;

/// Posterior predictive densities, with the parameters of the states integrated out, row by row;
/// for scoring only. `make`: returns the distribution of steps under the K states, for use by one
/// thread.
std::unique_ptr<EmissionScorer> predictive_emissions(
    int states, int dimension, std::function<std::unique_ptr<RowPart>()> make);

/// For scoring only: the scores of `of`, which must outlive them, plus the terms that `add`
/// computes for a step of d numbers under the K states.
std::unique_ptr<EmissionScorer> emissions_with(const EmissionScorer &of, int dimension,
                                               RowScorer add);

/// For scoring only: the averages of the log densities under several emissions, which must outlive
/// them. A log density that overflowed to -infinity under some, but not all, of them counts as
/// -1e290.
std::unique_ptr<EmissionScorer> averaged_emissions(std::vector<const EmissionScorer *> parts);

}  // namespace bayes
