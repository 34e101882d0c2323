// Matches the columns of one table with those of another: which topic or factor of one draw, or of
// one model, is which of another.
#pragma once

#include <vector>

#include "base/assignment.hpp"
#include "base/control.hpp"
#include "counts/padded_table.hpp"

namespace bayes {

/// Compares tables with a reference: counts of a draw, or expected counts.
class ColumnMatcher {
 public:
  explicit ColumnMatcher(const CountMatrix &reference);
  explicit ColumnMatcher(PaddedMatrix reference);
  /// For each column of a table the matching column of the reference: the permutation that
  /// maximises the sum over rows and columns of the geometric means of the two numbers, among those
  /// that keep every column in its group.
  std::vector<int> match(const CountMatrix &table, const ExchangeableGroups &groups,
                         Control &control) const;
  std::vector<int> match(const PaddedMatrix &table, Control &control) const;
  /// The reference must be of counts.
  void exchange(StateNumbers &numbers);

 private:
  template <class T>
  std::vector<int> match_table(const PaddedTable<T> &table, const ExchangeableGroups &groups,
                               Control &control) const;
  /// the square roots of the reference
  PaddedMatrix roots_;
};

}  // namespace bayes
