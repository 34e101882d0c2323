// The sufficient statistics of linear regression: weighted sums of products of all pairs of what a
// row has. They are mergeable, and whatever is fitted from them depends on the rows no further.
//
// Sums of doubles would lose the digits of ill-conditioned regressions (of the NIST's Wampler1 all
// but 6), and sums about a shift would depend on where they begin. So these are the sums of the
// numbers as they came, with the precision of double-doubles: the products are exact, and sums
// about the mean, taken from them, have no larger errors than if the rows' numbers had one more
// rounding of their square.
//
// What a row has are its *cells*: a 1, the response, the numbers of its predictors (booleans are 1
// and 0), and an indicator for every label of every column of labels; no label is left out here.
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

/// Cells that every row has before those of its predictors.
inline constexpr int one_cell = 0, response_cell = 1, first_predictor_cell = 2;

/// The sums, as a value: it does not depend on the order of the rows but for the last of some 100
/// bits. Cells are in the order: 1, response, the columns that are numbers, the labels of each
/// column of labels in the order of their bytes.
class BAYES_API LinregSums {
 public:
  /// Of the predictors; empty if they come as arrays.
  RowColumns columns;
  /// predictors
  int dimension = 0;
  /// rows that count, and rows left out
  std::int64_t rows = 0, skipped = 0;
  /// additions and removals whose rounding errors are in the sums, in units of what they are now;
  /// `rows` unless rows were removed
  double operations = 0;
  /// rows that have each label, of all columns of labels one after another
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
  /// The weight of all rows.
  double weight() const { return rows == 0 ? 0 : hi_[0]; }

  /// Adds those of other rows. Columns are matched by name; labels that are in one of them alone
  /// are in the result. Throws Error(invalid_argument) for rows of other columns,
  /// Error(array_shape) of another length, Error(too_large) for more than max_terms,
  /// Error(numeric) if a sum overflows.
  void add(const LinregSums &other);
  /// Throws Error(numeric) if a sum has overflowed.
  void require_finite() const;

  /// Are there rows with these sums, as far as products of up to 500 cells tell? For values that
  /// come from elsewhere. Throws Error(invalid_text).
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
  /// Throws Error(invalid_text) for labels that cannot be those of rows.
  void check_labels(const MemberReader &in) const;
  /// Sizes the labels, not yet the sums.
  void count_cells();
  /// Gets the columns of `other` as well, with zeros.
  void widen(const LinregSums &other);

  int cells_ = 0;
  /// packed lower triangles
  std::vector<double> hi_, lo_;
};

}  // namespace bayes
