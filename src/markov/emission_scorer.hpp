// What the states of a hidden Markov model emit, as its recursions see it: scores of blocks of
// steps, and expected sufficient statistics. Every observation family comes in through this
// interface, so that recursions are compiled once.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "data/local_step.hpp"

namespace bayes {

/// Scores of observations that are few different numbers, [value][padded]; the last entry is that
/// of a missing one.
struct EmissionTable {
  /// observations are 0 .. values - 1
  int values = 0;
  /// exp(score - shift), shift: the largest score of a value
  Buffer likelihoods, shifts;
  /// scores
  Buffer logarithms;
};

/// A thread's share of it.
class EmissionWorker {
 public:
  virtual ~EmissionWorker() = default;
  /// out: [state][block_rows], log density (or its expectation) of rows [from, to) of a block, and
  /// anything for others; 0 for a missing row.
  virtual void score(const double *block, int from, int to, double *out) = 0;
  /// Adds the rows of a block with responsibilities r ([state][block_rows], changed), zero for rows
  /// that do not take part. The block need not be the one that was scored last.
  virtual void accumulate(const double *block, double *r) = 0;
  /// Where there is a table: sums of responsibilities of its entries, [value][padded], in place of
  /// accumulate().
  virtual double *table_sums() { return nullptr; }
  virtual void clear() = 0;
  /// Adds what was accumulated since clear() to counts (K: sums of responsibilities, of steps that
  /// are not missing as a whole where the family has such) and raw sums.
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
  /// what saves scoring and accumulating step by step
  virtual const EmissionTable *table() const { return nullptr; }
};

/// Emissions of any observation family's scorer, which outlives them. `whole_steps`: it knows
/// nothing of missing elements; a step of NaNs is missing. values: as in Sequences.
std::unique_ptr<EmissionScorer> emissions_of(const BlockScorer &scorer, bool whole_steps,
                                             int values);

/// Any other emissions, of observations that are whole numbers from 0 below `values`, looked up.
std::unique_ptr<EmissionScorer> table_emissions(std::unique_ptr<EmissionScorer> of, int values);

/// Scores a row of d numbers under K states: out has room for K up to a multiple of the lanes.
using RowScorer = std::function<void(const double *x, double *out)>;

/// States with their parameters integrated out, for scoring only, row by row. `make`: gives what
/// scores rows, for one thread's use.
std::unique_ptr<EmissionScorer> predictive_emissions(int states, int dimension,
                                                     std::function<RowScorer()> make);

}  // namespace bayes
