// The only header that includes Eigen. Factorisations, solvers and products, which are slow to
// compile, and whose speed matters, are in dense.cpp.
//
// Everywhere else Eigen uses the vectors of plain x86-64 at every level, so that its order of
// summation is fixed, and an inline function of Eigen is the same whichever object the linker takes
// it from.
#pragma once

#include <vector>

#include "base/control.hpp"
#include "base/eigen_settings.hpp"
#include "base/error.hpp"

#pragma push_macro("__AVX__")
#pragma push_macro("__AVX2__")
#pragma push_macro("__FMA__")
#pragma push_macro("__AVX512F__")
#undef __AVX__
#undef __AVX2__
#undef __FMA__
#undef __AVX512F__
#include <Eigen/Core>
#pragma pop_macro("__AVX__")
#pragma pop_macro("__AVX2__")
#pragma pop_macro("__FMA__")
#pragma pop_macro("__AVX512F__")

namespace bayes {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

inline std::vector<double> to_vector(const Vector &v) { return {v.data(), v.data() + v.size()}; }

/// The numbers of a matrix row by row.
std::vector<double> row_major(const Matrix &m);

/// The columns, or entries, in this order: a subset, a permutation, or repetitions.
Matrix pick_columns(const Matrix &from, const std::vector<int> &order);
Vector pick_entries(const Vector &from, const std::vector<int> &order);
/// The indices in order of descending entries; equal entries keep their order.
std::vector<int> descending_order(const Vector &entries);

/// The lower Cholesky factor of a symmetric matrix (lower triangle read); false if it is not
/// numerically positive definite. Polls (control.hpp) while it works on a large one.
BAYES_API bool cholesky(const Matrix &a, Matrix &lower);

/// log |A| from its Cholesky factor.
double log_determinant(const Matrix &lower);

/// L^-1 for lower triangular L: the whitening that kernels multiply with. Polls while it works on a
/// large one.
BAYES_API Matrix inverse_lower(const Matrix &lower);

/// L^-1 v and L'^-1 v for lower triangular L; A^-1 v of the matrix A = LL'.
Vector forward_solved(const Matrix &lower, const Vector &v);
Vector backward_solved(const Matrix &lower, const Vector &v);
Vector solved(const Matrix &lower, const Vector &v);

/// a b
Matrix product(const Matrix &a, const Matrix &b);
Vector product(const Matrix &a, const Vector &b);
/// a b'
Matrix product_transposed(const Matrix &a, const Matrix &b);
/// a' b
Matrix transposed_product(const Matrix &a, const Matrix &b);

/// L v and L M for lower triangular L (entries above its diagonal are not read).
Vector lower_times(const Matrix &lower, const Vector &v);
Matrix lower_times(const Matrix &lower, const Matrix &m);

/// Eigenvalues in increasing order, and eigenvectors as columns, of a symmetric matrix.
struct SymmetricEigen {
  Vector values;
  Matrix vectors;
};
SymmetricEigen symmetric_eigen(const Matrix &symmetric);

}  // namespace bayes
