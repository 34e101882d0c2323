// The sufficient statistics of linear regression: weighted sums of products of all pairs of a row's
// cells (see below). They are mergeable, and a fit depends on the rows through them alone.
//
// Sums of doubles would lose the digits of ill-conditioned regressions (of NIST's Wampler1 all but
// 6), and sums about a shift would depend on the choice of the shift. So these are the sums of the
// numbers as they came, with the precision of double-doubles: the products are exact, and sums
// about the mean, computed from them, have no larger errors than one more rounding of the rows'
// squared numbers would cause.
//
// A row consists of *cells*: a 1, the response, the numbers of its predictors (booleans are 1 and
// 0), and an indicator for every label of every column of labels; no reference label is left out
// here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/double_double.hpp"
#include "document/document.hpp"
#include "document/row_columns.hpp"

namespace bayes {

class MemberReader;

/// Indices of the cells that precede those of the predictors.
inline constexpr int one_cell = 0, response_cell = 1, first_predictor_cell = 2;

/// The sums, as a value: it does not depend on the order of the rows, except for the last of some
/// 100 bits. Cells are in the order: 1, response, the columns that are numbers, the labels of each
/// column of labels in the order of their bytes.
class BAYES_API LinregSums {
 public:
  /// Columns of the predictors; empty if they come as arrays.
  RowColumns columns;
  /// number of predictors
  int dimension = 0;
  /// number of rows in the sums, and of rows left out
  std::int64_t rows = 0, skipped = 0;
  /// number of additions and removals whose rounding errors are in the sums, relative to the
  /// present sums; equals `rows` unless rows were removed
  double operations = 0;
  /// number of rows with each label, one column of labels after another
  std::vector<std::int64_t> label_rows;

  /// Sizes everything by columns and dimension, with zeros.
  void resize();
  int cells() const { return cells_; }
  int labels() const { return int(label_rows.size()); }
  /// the cell of a column of numbers, or of the first label of a column of labels
  int cell_of(int column) const;
  /// the sum over rows of weight x cell i x cell j
  DoubleDouble at(int i, int j) const {
    const std::size_t k = index(i, j);
    return {hi_[k], lo_[k]};
  }
  void set(int i, int j, DoubleDouble sum) {
    const std::size_t k = index(i, j);
    hi_[k] = sum.hi;
    lo_[k] = sum.lo;
  }
  /// The total weight of all rows.
  double weight() const { return rows == 0 ? 0 : hi_[0]; }

  /// Adds the sums of other rows. Columns are matched by name; the result has the labels of both.
  /// Throws Error(invalid_argument) for rows with other columns, Error(array_shape) for rows of
  /// another length, Error(too_large) for more than max_terms, Error(numeric) if a sum overflows.
  void add(const LinregSums &other);
  /// Throws Error(numeric) if a sum has overflowed.
  void require_finite() const;

  /// Checks that the matrix of sums is positive semidefinite, as it is for all rows, if it has at
  /// most 500 cells. For values from outside. Throws Error(invalid_text).
  void require_semidefinite() const;

  Document to_document() const;
  /// Checks every member: throws Error(invalid_text) that names the invalid one.
  static LinregSums from_document(const Document &document);
  /// The byte form: a header with a fingerprint, the document.
  std::string to_bytes() const;
  /// Checks every member: throws Error(invalid_binary).
  static LinregSums from_bytes(std::string_view bytes);

 private:
  static std::size_t index(int i, int j) {
    const auto a = std::size_t(i > j ? i : j), b = std::size_t(i > j ? j : i);
    return a * (a + 1) / 2 + b;
  }
  static LinregSums read(const Document &document);
  /// Throws Error(invalid_text) for sums of labels that no rows can have.
  void check_labels(const MemberReader &in) const;
  /// Counts the cells and sizes label_rows, but not yet the sums.
  void count_cells();
  /// Adds the labels that only `other` has, with sums of 0.
  void widen(const LinregSums &other);

  int cells_ = 0;
  /// packed lower triangles
  std::vector<double> hi_, lo_;
};

}  // namespace bayes
