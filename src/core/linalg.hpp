// The only file that includes Eigen.
//
// Eigen's assertions abort the process, and a server backend that aborts takes every session down with it; here they throw.
#pragma once

#include "core/error.hpp"

namespace bayes {
[[noreturn]] inline void eigen_assertion_failed(const char *condition) {
  throw Error(Errc::internal, std::string("linear algebra assertion failed: ") + condition);
}
}  // namespace bayes

#define eigen_assert(x) \
  do { if (!(x)) ::bayes::eigen_assertion_failed(#x); } while (false)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>

namespace bayes {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// The lower Cholesky factor of a symmetric matrix (lower triangle read); false if it is not numerically positive definite.
inline bool cholesky(const Matrix &a, Matrix &lower) {
  Eigen::LLT<Matrix> factor(a);
  lower = factor.matrixL();
  return factor.info() == Eigen::Success && lower.diagonal().minCoeff() > 0 && lower.allFinite();
}

/// log |A| from its Cholesky factor.
inline double log_determinant(const Matrix &lower) { return 2 * lower.diagonal().array().log().sum(); }

/// L^-1 for lower triangular L: the whitening that kernels multiply with.
inline Matrix inverse_lower(const Matrix &lower) {
  return lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(lower.rows(), lower.cols()));
}

}  // namespace bayes
