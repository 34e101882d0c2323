// Symmetric systems in double-doubles: for matrices whose condition is beyond what doubles resolve,
// such as the normal equations of a regression on powers of a number.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/api.hpp"
#include "base/double_double.hpp"

namespace bayes {

/// A square matrix of double-doubles, row by row.
class BAYES_API WideMatrix {
 public:
  explicit WideMatrix(int size);
  int size() const { return size_; }
  DoubleDouble operator()(int i, int j) const { return {hi_[at(i, j)], lo_[at(i, j)]}; }
  void set(int i, int j, DoubleDouble x) {
    hi_[at(i, j)] = x.hi;
    lo_[at(i, j)] = x.lo;
  }
  /// From column `first` on, row i minus factor times row k of `other`. Whole vectors are changed,
  /// so up to 7 columns before `first` too.
  void subtract_row(int i, DoubleDouble factor, const WideMatrix &other, int k, int first);
  /// Columns `first` to `end` - 1 of row i times factor.
  void scale_row(int i, DoubleDouble factor, int first, int end);

 private:
  std::size_t at(int i, int j) const { return std::size_t(i) * stride_ + std::size_t(j); }
  int size_;
  /// whole vectors
  std::size_t stride_;
  Buffer hi_, lo_;
};

/// The Cholesky factor A = U'U of a positive semidefinite matrix. Polls.
class BAYES_API WideCholesky {
 public:
  /// `a`: its upper triangle is read. Column k is *dependent*, and is left out, if what is left of
  /// a_kk when all that the columns before explain is taken off is at most tolerance[k] times
  /// a_kk. `border`: so many of the last columns are not factored, only what the others explain is
  /// taken off them.
  WideCholesky(WideMatrix a, std::span<const double> tolerance, int border);

  /// columns that are factored
  int size() const { return size_; }
  bool dependent(int k) const { return dependent_[std::size_t(k)]; }
  int rank() const;
  /// log of the determinant, without dependent columns
  double log_determinant() const;
  /// What is left of elements of the border, counted from 0.
  DoubleDouble left(int i, int j) const { return u_(size_ + i, size_ + j); }
  /// x of A x = the border's column; 0 for dependent columns.
  std::vector<DoubleDouble> solve(int column) const;
  /// The lower triangular W = U^-T, so that A^-1 = W'W; rows and columns of dependent ones are 0.
  WideMatrix inverse_factor() const;

 private:
  WideMatrix u_;
  int size_;
  std::vector<bool> dependent_;
};

}  // namespace bayes
