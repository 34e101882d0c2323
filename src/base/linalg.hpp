// The only file that includes Eigen.
//
// Eigen's assertions abort the process, and a server backend that aborts takes every session down
// with it; here they throw.
#pragma once

#include <algorithm>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"

namespace bayes {
[[noreturn]] inline void eigen_assertion_failed(const char *condition) {
  throw Error(Errc::internal, std::string("linear algebra assertion failed: ") + condition);
}
}  // namespace bayes

#define eigen_assert(x)                            \
  do {                                             \
    if (!(x)) ::bayes::eigen_assertion_failed(#x); \
  } while (false)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>

namespace bayes {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

inline std::vector<double> to_vector(const Vector &v) { return {v.data(), v.data() + v.size()}; }

/// Columns of a large matrix that are worked on between two looks at the control: some milliseconds
/// of work.
inline constexpr Eigen::Index columns_at_once = 64;

/// The lower Cholesky factor of a symmetric matrix (lower triangle read); false if it is not
/// numerically positive definite. Polls (control.hpp) while it works on a large one.
inline bool cholesky(const Matrix &a, Matrix &lower) {
  const Eigen::Index n = a.rows();
  lower = a.triangularView<Eigen::Lower>();
  for (Eigen::Index j = 0; j < n; j += columns_at_once) {
    if (j) poll_here();
    const Eigen::Index size = std::min(columns_at_once, n - j), rest = n - j - size;
    const Eigen::LLT<Matrix> factor(lower.block(j, j, size, size));
    if (factor.info() != Eigen::Success) return false;
    lower.block(j, j, size, size) = factor.matrixL();
    if (rest == 0) break;
    auto panel = lower.block(j + size, j, rest, size);
    factor.matrixL().transpose().solveInPlace<Eigen::OnTheRight>(panel);
    lower.block(j + size, j + size, rest, rest)
        .selfadjointView<Eigen::Lower>()
        .rankUpdate(panel, -1);
  }
  return lower.diagonal().minCoeff() > 0 && lower.allFinite();
}

/// log |A| from its Cholesky factor.
inline double log_determinant(const Matrix &lower) {
  return 2 * lower.diagonal().array().log().sum();
}

/// L^-1 for lower triangular L: the whitening that kernels multiply with. Polls while it works on a
/// large one.
inline Matrix inverse_lower(const Matrix &lower) {
  const Eigen::Index n = lower.rows();
  Matrix out = Matrix::Identity(n, n);
  for (Eigen::Index j = 0; j < n; j += columns_at_once) {
    if (j) poll_here();
    // Above the block the columns of L^-1 are zero.
    auto columns = out.block(j, j, n - j, std::min(columns_at_once, n - j));
    lower.block(j, j, n - j, n - j).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  return out;
}

}  // namespace bayes
