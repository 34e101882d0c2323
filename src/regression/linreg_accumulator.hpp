// Collects the sufficient statistics of linear regression row by row.
#pragma once

#include <memory_resource>
#include <span>
#include <vector>

#include "regression/linreg_sums.hpp"

namespace bayes {

/// Collects rows, and takes rows away again.
class BAYES_API LinregAccumulator {
 public:
  explicit LinregAccumulator(std::pmr::memory_resource *memory);

  bool begun() const { return front_ > 0; }
  /// Before the first row: the kinds of the columns, or their number if they have no names. Throws
  /// Error(too_large) for more than max_terms.
  void begin(const RowColumns &columns, int dimension, bool weighted);

  int dimension() const { return dimension_; }
  std::int64_t rows() const { return rows_; }
  /// terms that a regression with an intercept has, of labels that rows have
  std::int64_t terms() const;

  /// Elements of `x` that are of columns of labels are codes, from 0, that the caller gave them.
  /// All are finite, with magnitudes up to 1e150; weight > 0.
  void add(double y, std::span<const double> x, double weight);
  /// Takes a row that was added away. False if the sums have to be collected anew: the rounding
  /// errors that earlier rows have left in them may matter by now, or many labels have no rows
  /// left.
  bool remove(double y, std::span<const double> x, double weight);

  /// `columns`: with the labels in the order of their codes. Throws Error(numeric) if a sum has
  /// overflowed.
  LinregSums sums(const RowColumns &columns);

 private:
  template <class T> using List = std::pmr::vector<T>;
  /// Numbers of the widest vectors: rows of matrices are multiples of it.
  static constexpr std::size_t lanes = 8;
  /// Rows of the triangle of products that are added to together.
  static constexpr std::size_t tile = 2;
  /// Rows before their products are added.
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
  /// cells that are numbers, and the same rounded up to whole vectors
  std::size_t front_ = 0, stride_ = 0;
  /// columns of the numbers, and of the labels
  List<int> numbers_, labelled_;
  /// [row][cell] of rows that wait: the cells; what they are multiplied with, weight x cell and its
  /// rest, or minus the cell, unless that is the cell itself
  List<double> right_, left_, rest_;
  /// [cell] of those rows, the largest magnitude, times the root of the weight
  List<double> largest_;
  int waiting_ = 0;
  /// of pairs of the front: rows of the lower triangle, each in whole vectors
  List<double> hi_, lo_;

  List<LabelCell> label_cells_;
  /// those that have rows
  std::int64_t labels_in_use_ = 0;
  /// [column of labels][code]: -1 for none
  List<List<int>> cell_of_code_;
  List<double> label_hi_, label_lo_;
  List<int> labels_of_row_;

  /// the largest that sums of squares have been, once rows are removed
  List<double> peak_;
  double changes_ = 0;
};

}  // namespace bayes
