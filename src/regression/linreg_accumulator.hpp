// Collects the sufficient statistics of linear regression row by row.
#pragma once

#include <memory_resource>
#include <span>
#include <vector>

#include "regression/linreg_sums.hpp"

namespace bayes {

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
