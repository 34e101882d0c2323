// Factorisations, solvers and products of dense matrices, with Eigen's wide kernels: what
// linalg.hpp declares for its matrices, on numbers column by column. Only linalg.cpp includes it.
//
// Eigen's vectors here are those of AVX2 at all levels above plain x86-64, and its blocks have the
// same size on every machine: so results are the same to the last bit wherever there is a fused
// multiply-add.
#pragma once

#include <cstddef>

namespace bayes::dense {

using Index = std::ptrdiff_t;

/// a, n x n, a lower triangle with zeros above: replaced by its Cholesky factor. False if it is not
/// numerically positive definite; then it is no longer what it was.
bool cholesky(Index n, double *a);

/// L^-1 of the lower triangular L, n x n; out: on entry the identity.
void inverse_lower(Index n, const double *lower, double *out);

/// a b, a rows x inner, b inner x columns.
void product(Index rows, Index inner, Index columns, const double *a, const double *b, double *out);
/// a b for a vector b.
void product(Index rows, Index inner, const double *a, const double *b, double *out);

/// L v, and L M for M of `columns` columns, for the lower triangular L, n x n.
void lower_times(Index n, const double *lower, const double *v, double *out);
void lower_times(Index n, Index columns, const double *lower, const double *m, double *out);

/// Eigenvalues in increasing order, and eigenvectors as columns, of a symmetric matrix, n x n.
void symmetric_eigen(Index n, const double *symmetric, double *values, double *vectors);

}  // namespace bayes::dense
