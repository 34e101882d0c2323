// Symmetric linear systems in double-doubles: for matrices too ill-conditioned for doubles, such as
// the normal equations of a regression on powers of a number.
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
  /// Subtracts factor times row k of `other` from row i, from column `first` on. Whole vectors are
  /// changed, so up to 7 columns before `first` change too.
  void subtract_row(int i, DoubleDouble factor, const WideMatrix &other, int k, int first);
  /// Multiplies columns `first` to `end` - 1 of row i by factor.
  void scale_row(int i, DoubleDouble factor, int first, int end);

 private:
  std::size_t at(int i, int j) const { return std::size_t(i) * stride_ + std::size_t(j); }
  int size_;
  /// doubles of a row, padded to whole vectors
  std::size_t stride_;
  Buffer hi_, lo_;
};

/// The Cholesky factor A = U'U of a positive semidefinite matrix. Polls.
class BAYES_API WideCholesky {
 public:
  /// `a`: its upper triangle is read. Column k is *dependent*, and is left out, if its pivot (a_kk
  /// less the part explained by the columns before it) is at most tolerance[k] times a_kk. The last
  /// `border` columns are not factored: they are only reduced to their Schur complement, by
  /// subtracting the part that the others explain.
  WideCholesky(WideMatrix a, std::span<const double> tolerance, int border);

  /// columns that are factored
  int size() const { return size_; }
  bool dependent(int k) const { return dependent_[std::size_t(k)]; }
  int rank() const;
  /// log of the determinant, without dependent columns
  double log_determinant() const;
  /// Element (i, j) of the Schur complement of the border, from 0.
  DoubleDouble left(int i, int j) const { return u_(size_ + i, size_ + j); }
  /// Solves A x = b, where b is a column of the border; x is 0 for dependent columns.
  std::vector<DoubleDouble> solve(int column) const;
  /// The lower triangular W = U^-T, so that A^-1 = W'W; rows and columns that belong to dependent
  /// columns are 0.
  WideMatrix inverse_factor() const;

 private:
  WideMatrix u_;
  int size_;
  std::vector<bool> dependent_;
};

}  // namespace bayes
