#include "base/dense.hpp"

#include <algorithm>

#include "base/control.hpp"
#include "base/eigen_settings.hpp"
#include "base/error.hpp"

// Stops Eigen from querying the cache sizes of the CPU: they would determine its block sizes, and
// with them the order of summation, so results would depend on the machine.
#define EIGEN_NO_CPUID
// Other translation units compile Eigen with narrower vectors. Another namespace keeps the linker
// from merging inline functions of both.
#define Eigen bayes_wide_eigen
#if defined(__AVX512F__)
#include <immintrin.h>
#undef __AVX512F__
#endif
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace bayes::dense {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
// The alignment with which Eigen allocates its matrices, so that the order of summation does not
// depend on addresses.
using In = Eigen::Map<const Matrix, EIGEN_MAX_ALIGN_BYTES>;
using Out = Eigen::Map<Matrix, EIGEN_MAX_ALIGN_BYTES>;
using InVector = Eigen::Map<const Vector, EIGEN_MAX_ALIGN_BYTES>;
using OutVector = Eigen::Map<Vector, EIGEN_MAX_ALIGN_BYTES>;

/// Columns of a large matrix processed between two polls: a few milliseconds of work.
constexpr Index columns_at_once = 64;

}  // namespace

bool cholesky(Index n, double *a) {
  if (n == 0) return true;
  Out lower(a, n, n);
  for (Index j = 0; j < n; j += columns_at_once) {
    if (j) poll_here();
    const Index size = std::min(columns_at_once, n - j), rest = n - j - size;
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

void inverse_lower(Index n, const double *from, double *to) {
  const In lower(from, n, n);
  Out out(to, n, n);
  for (Index j = 0; j < n; j += columns_at_once) {
    if (j) poll_here();
    // Above the block the columns of L^-1 are zero.
    auto columns = out.block(j, j, n - j, std::min(columns_at_once, n - j));
    lower.block(j, j, n - j, n - j).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
}

void product(Index rows, Index inner, Index columns, const double *a, const double *b,
             double *out) {
  Out(out, rows, columns).noalias() = In(a, rows, inner) * In(b, inner, columns);
}
void product(Index rows, Index inner, const double *a, const double *b, double *out) {
  OutVector(out, rows).noalias() = In(a, rows, inner) * InVector(b, inner);
}

void lower_times(Index n, const double *lower, const double *v, double *out) {
  OutVector(out, n).noalias() = In(lower, n, n).triangularView<Eigen::Lower>() * InVector(v, n);
}
void lower_times(Index n, Index columns, const double *lower, const double *m, double *out) {
  Out(out, n, columns).noalias() =
      In(lower, n, n).triangularView<Eigen::Lower>() * In(m, n, columns);
}

void symmetric_eigen(Index n, const double *symmetric, double *values, double *vectors) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(Matrix(In(symmetric, n, n)));
  OutVector(values, n) = solver.eigenvalues();
  Out(vectors, n, n) = solver.eigenvectors();
}

}  // namespace bayes::dense
