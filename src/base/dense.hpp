// Factorisations, solvers and products of dense matrices, with Eigen's wide kernels: the operations
// that linalg.hpp declares, on column-major arrays. Only linalg.cpp includes this header.
//
// Here Eigen uses AVX2 vectors at every level above plain x86-64, and the same block sizes on every
// machine, so results agree to the last bit on all machines with fused multiply-add.
#pragma once

#include <cstddef>

namespace bayes::dense {

using Index = std::ptrdiff_t;

/// Replaces a, n x n, the lower triangle of a symmetric matrix with zeros above, by its Cholesky
/// factor. Returns false if the matrix is not numerically positive definite; its content is then
/// lost.
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
