// A row of SQL, a record, an array or a value, with some of its NULLs replaced.
#pragma once

#include <span>

#include "pg/input/row_reader.hpp"
#include "questions/row_distribution.hpp"

namespace bayes::pg {

class FilledRows {
 public:
  /// `type`: of the row that `reader` has read, of the model whose rows have this distribution. All
  /// must outlive this.
  FilledRows(Oid type, const RowReader &reader, const RowDistribution &rows, Datum row);

  /// Has the row a column or an element for this element of the model?
  bool has_place(int element) const;
  /// A copy of the row, in CurrentMemoryContext, with values[j] in the places of the elements j:
  /// numbers for columns of whole numbers rounded, labels as values of the type of their column.
  /// Throws Error for a number that its type cannot hold. Throws Pending for a value that a domain
  /// forbids, be it the type of the row, of a column or of an element.
  Datum row(std::span<const int> elements, std::span<const double> values) const;

 private:
  Datum record(std::span<const int> elements, std::span<const double> values) const;
  Datum array(std::span<const int> elements, std::span<const double> values) const;
  Datum value_of(int element, double x, Oid type, std::int32_t modifier) const;

  Oid type_;
  const RowReader &reader_;
  const RowDistribution &rows_;
  Datum row_;
  /// of an array
  int length_ = 0;
};

}  // namespace bayes::pg
