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
#include <memory_resource>
#include <span>
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

// Collects the sufficient statistics of linear regression row by row.

/// Adds and removes rows.
class BAYES_API LinregAccumulator {
 public:
  explicit LinregAccumulator(std::pmr::memory_resource *memory);

  bool begun() const { return front_ > 0; }
  /// Call before the first row. `columns` gives the kinds of the columns; it is empty for
  /// `dimension` columns of numbers without names. Throws Error(too_large) for more than max_terms.
  void begin(const RowColumns &columns, int dimension, bool weighted);

  int dimension() const { return dimension_; }
  std::int64_t rows() const { return rows_; }
  /// number of terms of a regression with an intercept, counting only labels that have rows
  std::int64_t terms() const;

  /// Adds a row. Elements of `x` in columns of labels are codes, from 0, assigned by the caller.
  /// All numbers are finite, with magnitudes up to 1e150; weight > 0.
  void add(double y, std::span<const double> x, double weight);
  /// Removes a row that was added. False if the sums must be collected anew, because the rounding
  /// errors left by removed rows may matter by now, or because many labels have no rows left.
  bool remove(double y, std::span<const double> x, double weight);

  /// The sums of the present rows. `columns`: with the labels in the order of their codes. Throws
  /// Error(numeric) if a sum has overflowed.
  LinregSums sums(const RowColumns &columns);

 private:
  template <class T> using List = std::pmr::vector<T>;
  /// Doubles in the widest SIMD vectors: rows of matrices are padded to multiples of this.
  static constexpr std::size_t lanes = 8;
  /// Rows of the triangle of products that are updated together.
  static constexpr std::size_t tile = 2;
  /// Rows that are buffered before their products are added.
  static constexpr int buffered = 16;

  struct LabelCell {
    int column, code;
    std::int64_t rows;
  };

  void take(double y, std::span<const double> x, double weight, double sign);
  void take_labels(std::span<const double> x, double weight, double sign);
  int label_cell(int column, double code);
  void add_to_label(std::size_t label, double weight, double rest, const double *cells);
  /// `removed`: subtracts the buffered rows instead of adding them.
  void flush(bool removed = false);
  template <bool Weighted> void find_largest();
  template <bool Weighted> void add_products(const double *left);
  bool still_exact();
  DoubleDouble front_sum(int i, int j) const;

  static std::size_t row_of_front(std::size_t i) {
    const std::size_t block = i / lanes, within = i % lanes;
    return lanes * (lanes / 2 * block * (block + 1) + within * (block + 1));
  }
  std::size_t row_of_label(std::size_t label) const {
    return label * stride_ + label * (label - 1) / 2;
  }

  int dimension_ = 0;
  bool weighted_ = false;
  std::int64_t rows_ = 0;
  /// number of numeric cells, and the same rounded up to whole vectors
  std::size_t front_ = 0, stride_ = 0;
  /// indices of the columns of numbers, and of the columns of labels
  List<int> numbers_, labelled_;
  /// [row][cell] of the buffered rows. right_: the cells; left_: their factors, which are weight x
  /// cell (its rounding error is in rest_), or minus the cell for a removed row; unused if the
  /// factor is the cell itself
  List<double> right_, left_, rest_;
  /// [cell] largest magnitude in the buffered rows, times the square root of the weight
  List<double> largest_;
  int waiting_ = 0;
  /// sums of products of numeric cells: rows of the lower triangle, each in whole vectors
  List<double> hi_, lo_;

  List<LabelCell> label_cells_;
  /// number of labels that have rows
  std::int64_t labels_in_use_ = 0;
  /// [column of labels][code]: -1 for none
  List<List<int>> cell_of_code_;
  List<double> label_hi_, label_lo_;
  List<int> labels_of_row_;

  /// [cell] the largest value that the sum of squares has had; empty until a row is removed
  List<double> peak_;
  double changes_ = 0;
};

}  // namespace bayes
