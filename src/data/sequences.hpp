// Sequences of observations, stored as rows, one row per step, in order of time.
//
// A row's weight is that of its sequence, negated at the first step to mark where the sequence
// begins. A weight of 0 marks padding: a sequence that fits into a piece lies within one, so that
// threads can divide the pieces among themselves; a longer one starts a new piece, and is listed.
// NaN is a missing value. Known states are a last element of every row: the state from 1, or 0
// where it is unknown.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/unseen.hpp"
#include "data/rows.hpp"

namespace bayes {

/// A sequence that does not fit into a piece.
struct LongSequence {
  std::int64_t first, steps;
};

/// The sequences of a fit, or of a call.
struct Sequences {
  RowSource &rows;
  /// dimension d of an observation, without the known state
  int dimension = 0;
  /// whether rows end with a known state
  bool labelled = false;
  /// number of sequences
  std::int64_t count = 0;
  /// number of steps of all sequences
  std::int64_t steps = 0;
  /// the number of steps, each weighted by its sequence
  double weight = 0;
  /// sum of the weights of all sequences
  double weights = 0;
  /// steps of the longest sequence
  std::int64_t longest = 0;
  std::vector<LongSequence> long_sequences = {};
  /// if not 0: an observation is one whole number from 0 to values - 1, or missing
  int values = 0;
  /// total weight of steps whose elements are all missing
  double unobserved = 0;
  /// whether some element is a category that the fit did not have (base/unseen.hpp)
  bool unseen = false;

  /// not null if they are on other servers
  RemoteRows *remote() const { return rows.remote(); }
};

/// The sequences of one part of a fit.
struct PartOfSequences {
  Sequences &sequences;
  /// its number among all parts, from 0
  std::size_t number = 0;
  /// as PartOfRows::checked, of their observations
  std::string checked = {};

  const Sequences &data() { return sequences; }
};

/// Writes sequences into a store of rows: `append(x, weight)` takes one row of d (+ 1 if labelled)
/// numbers.
template <class Append> class SequenceWriter {
 public:
  /// `shape`: of the store's rows, weighted.
  SequenceWriter(Sequences &to, RowShape shape, Append append)
      : to_(to),
        capacity_(shape.piece_rows()),
        append_(append),
        nothing_(std::size_t(shape.dimension), 0.0) {}

  /// Call before the steps of a sequence, of which there is at least one.
  void begin(std::int64_t steps, double weight) {
    const std::int64_t used = to_.rows.rows() % capacity_;
    if (used > 0 && used + steps > capacity_)
      for (std::int64_t i = used; i < capacity_; ++i) append_(nothing_.data(), 0.0);
    if (steps >= capacity_) to_.long_sequences.push_back({to_.rows.rows(), steps});
    ++to_.count;
    to_.steps += steps;
    to_.weight += weight * double(steps);
    to_.weights += weight;
    if (steps > to_.longest) to_.longest = steps;
    weight_ = -weight;
  }
  /// Appends a further step to a sequence of at least one full piece, in addition to those given to
  /// begin().
  void extend(const double *x) {
    const double weight = std::fabs(weight_);
    ++to_.long_sequences.back().steps;
    ++to_.steps;
    to_.weight += weight;
    to_.longest = std::max(to_.longest, to_.long_sequences.back().steps);
    step(x);
  }
  void step(const double *x) {
    append_(x, weight_);
    weight_ = std::fabs(weight_);
    bool any = false;
    for (int j = 0; j < to_.dimension; ++j) {
      any |= x[j] == x[j];
      to_.unseen |= is_unseen(x[j]);
    }
    if (!any) to_.unobserved += weight_;
  }

 private:
  Sequences &to_;
  std::int64_t capacity_;
  Append append_;
  std::vector<double> nothing_;
  double weight_ = 0;
};

}  // namespace bayes
