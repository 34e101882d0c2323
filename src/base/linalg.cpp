#include "base/linalg.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>
#include <string>

namespace bayes {
namespace {

/// Columns of a large matrix processed between two polls: a few milliseconds of work.
constexpr Eigen::Index columns_at_once = 64;

}  // namespace

void eigen_assertion_failed(const char *condition) {
  throw Error(Errc::internal, std::string("linear algebra assertion failed: ") + condition);
}

std::vector<double> row_major(const Matrix &m) {
  const Matrix rows = m.transpose();
  return {rows.data(), rows.data() + rows.size()};
}

Matrix pick_columns(const Matrix &from, const std::vector<int> &order) {
  Matrix out(from.rows(), Eigen::Index(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) out.col(Eigen::Index(i)) = from.col(order[i]);
  return out;
}

Vector pick_entries(const Vector &from, const std::vector<int> &order) {
  Vector out(static_cast<Eigen::Index>(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) out(Eigen::Index(i)) = from(order[i]);
  return out;
}

std::vector<int> descending_order(const Vector &entries) {
  std::vector<int> order(static_cast<std::size_t>(entries.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return entries(a) > entries(b); });
  return order;
}

bool cholesky(const Matrix &a, Matrix &lower) {
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

double log_determinant(const Matrix &lower) { return 2 * lower.diagonal().array().log().sum(); }

Matrix inverse_lower(const Matrix &lower) {
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

Matrix product(const Matrix &a, const Matrix &b) { return a * b; }
Vector product(const Matrix &a, const Vector &b) { return a * b; }
// A transposed copy costs little beside the product, and another of Eigen's kernels a second.
Matrix product_transposed(const Matrix &a, const Matrix &b) {
  return product(a, Matrix(b.transpose()));
}
Matrix transposed_product(const Matrix &a, const Matrix &b) {
  return product(Matrix(a.transpose()), b);
}

Vector lower_times(const Matrix &lower, const Vector &v) {
  return lower.triangularView<Eigen::Lower>() * v;
}
Matrix lower_times(const Matrix &lower, const Matrix &m) {
  return lower.triangularView<Eigen::Lower>() * m;
}

SymmetricEigen symmetric_eigen(const Matrix &symmetric) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace bayes
