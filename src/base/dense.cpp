#include "base/dense.hpp"

#include <algorithm>
#include <cmath>

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

/// Calls f(first, count) for blocks of columns, of `operations` each, and polls between them. Eigen
/// computes the columns of a product independently, four at a time, so blocks of fours give the
/// same bits; a single column would be another kernel's, so the last block takes what is left.
template <class F> void in_blocks(Index columns, Index operations, F f) {
  constexpr Index operations_at_once = 1 << 26;
  if (columns < 2 * columns_at_once || columns * operations < 2 * operations_at_once)
    return f(0, columns);
  const Index block = std::max(columns_at_once, operations_at_once / operations / 4 * 4);
  for (Index first = 0; first < columns;) {
    if (first) poll_here();
    const Index count = columns - first < 2 * block ? columns - first : block;
    f(first, count);
    first += count;
  }
}

/// A vector that polls where the iteration over a tridiagonal matrix asks for its numbers, once in
/// each step.
struct PolledVector : Vector {
  using Vector::Vector;
  double *data() {
    work_(std::size_t(size() * size()));
    return Vector::data();
  }
  using Vector::data;

 private:
  WorkPoll work_;
};

/// Eigen's tridiagonalization_inplace (Golub's algorithm 8.3.1), and the product of its
/// reflections, with polls.
void tridiagonalize(Matrix &a, Vector &diagonal, Vector &subdiagonal) {
  const Index n = a.rows();
  Vector coefficients(n - 1), workspace(n);
  WorkPoll work;
  for (Index i = 0; i < n - 1; ++i) {
    const Index rest = n - i - 1;
    work(std::size_t(rest * rest));
    double beta, h;
    a.col(i).tail(rest).makeHouseholderInPlace(h, beta);
    a(i + 1, i) = 1;
    auto reflected = coefficients.tail(rest);
    reflected.noalias() =
        a.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>() * (h * a.col(i).tail(rest));
    reflected += (h * -0.5 * reflected.dot(a.col(i).tail(rest))) * a.col(i).tail(rest);
    a.bottomRightCorner(rest, rest)
        .selfadjointView<Eigen::Lower>()
        .rankUpdate(a.col(i).tail(rest), reflected, -1.0);
    a(i + 1, i) = beta;
    coefficients(i) = h;
  }
  diagonal = a.diagonal();
  subdiagonal = a.diagonal<-1>();
  a.diagonal().setOnes();
  a.triangularView<Eigen::StrictlyUpper>().setZero();
  for (Index k = n - 2; k >= 0; --k) {
    const Index rest = n - k - 1;
    work(std::size_t(rest * rest));
    a.bottomRightCorner(rest, rest)
        .applyHouseholderOnTheLeft(a.col(k).tail(rest - 1), coefficients(k), workspace.data());
    a.col(k).tail(rest).setZero();
  }
}

/// Up to this order plain loops take less time than Eigen's preparations for large matrices.
constexpr Index small = 8;

bool small_cholesky(Index n, double *a) {
  for (Index j = 0; j < n; ++j) {
    for (Index k = 0; k < j; ++k)
      for (Index i = j; i < n; ++i) a[j * n + i] -= a[k * n + i] * a[k * n + j];
    const double pivot = a[j * n + j];
    if (!(pivot > 0)) return false;
    const double root = std::sqrt(pivot);
    a[j * n + j] = root;
    for (Index i = j + 1; i < n; ++i) a[j * n + i] /= root;
  }
  return std::all_of(a, a + n * n, [](double x) { return std::isfinite(x); });
}

void small_inverse_lower(Index n, const double *lower, double *out) {
  for (Index j = 0; j < n; ++j)
    for (Index k = j; k < n; ++k) {
      const double x = out[j * n + k] /= lower[k * n + k];
      for (Index i = k + 1; i < n; ++i) out[j * n + i] -= x * lower[k * n + i];
    }
}

}  // namespace

bool cholesky(Index n, double *a) {
  if (n <= small) return small_cholesky(n, a);
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
  if (n <= small) return small_inverse_lower(n, from, to);
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
  const In left(a, rows, inner), right(b, inner, columns);
  Out product(out, rows, columns);
  in_blocks(columns, rows * inner, [&](Index first, Index count) {
    product.middleCols(first, count).noalias() = left * right.middleCols(first, count);
  });
}
void product(Index rows, Index inner, const double *a, const double *b, double *out) {
  OutVector(out, rows).noalias() = In(a, rows, inner) * InVector(b, inner);
}

void lower_times(Index n, const double *lower, const double *v, double *out) {
  OutVector(out, n).noalias() = In(lower, n, n).triangularView<Eigen::Lower>() * InVector(v, n);
}
void lower_times(Index n, Index columns, const double *lower, const double *m, double *out) {
  const In left(lower, n, n), right(m, n, columns);
  Out product(out, n, columns);
  in_blocks(columns, n * n, [&](Index first, Index count) {
    product.middleCols(first, count).noalias() =
        left.triangularView<Eigen::Lower>() * right.middleCols(first, count);
  });
}

void symmetric_eigen(Index n, const double *symmetric, double *values, double *vectors) {
  constexpr Index takes_long = 256;
  if (n < takes_long) {
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(Matrix(In(symmetric, n, n)));
    OutVector(values, n) = solver.eigenvalues();
    Out(vectors, n, n) = solver.eigenvectors();
    return;
  }
  // Eigen's solver, with polls. Its last bits may be others.
  Matrix a = In(symmetric, n, n).triangularView<Eigen::Lower>();
  // In [-1, 1] numbers neither overflow nor underflow.
  const double largest = a.cwiseAbs().maxCoeff(), scale = largest == 0 ? 1 : largest;
  a.triangularView<Eigen::Lower>() /= scale;
  PolledVector diagonal(n);
  Vector subdiagonal(n - 1);
  tridiagonalize(a, diagonal, subdiagonal);
  constexpr Index max_iterations = Eigen::SelfAdjointEigenSolver<Matrix>::m_maxIterations;
  Eigen::internal::computeFromTridiagonal_impl(diagonal, subdiagonal, max_iterations, true, a);
  OutVector(values, n) = diagonal * scale;
  Out(vectors, n, n) = a;
}

}  // namespace bayes::dense
