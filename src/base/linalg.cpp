#include "base/linalg.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/dense.hpp"

namespace bayes {

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
  lower = a.triangularView<Eigen::Lower>();
  return dense::cholesky(lower.rows(), lower.data());
}

double log_determinant(const Matrix &lower) { return 2 * lower.diagonal().array().log().sum(); }

Matrix inverse_lower(const Matrix &lower) {
  Matrix out = Matrix::Identity(lower.rows(), lower.rows());
  dense::inverse_lower(lower.rows(), lower.data(), out.data());
  return out;
}

Vector forward_solved(const Matrix &lower, const Vector &v) {
  Vector out = v;
  const Eigen::Index p = v.size();
  for (Eigen::Index j = 0; j < p; ++j) {
    out(j) /= lower(j, j);
    out.tail(p - j - 1) -= out(j) * lower.col(j).tail(p - j - 1);
  }
  return out;
}
Vector backward_solved(const Matrix &lower, const Vector &v) {
  Vector out = v;
  const Eigen::Index p = v.size();
  for (Eigen::Index j = p - 1; j >= 0; --j)
    out(j) = (out(j) - lower.col(j).tail(p - j - 1).dot(out.tail(p - j - 1))) / lower(j, j);
  return out;
}
Vector solved(const Matrix &lower, const Vector &v) {
  return backward_solved(lower, forward_solved(lower, v));
}

Matrix product(const Matrix &a, const Matrix &b) {
  Matrix out(a.rows(), b.cols());
  dense::product(a.rows(), a.cols(), b.cols(), a.data(), b.data(), out.data());
  return out;
}
Vector product(const Matrix &a, const Vector &b) {
  Vector out(a.rows());
  dense::product(a.rows(), a.cols(), a.data(), b.data(), out.data());
  return out;
}
// A transposed copy costs little compared with the product, while a further product kernel of Eigen
// costs a second of compile time.
Matrix product_transposed(const Matrix &a, const Matrix &b) {
  return product(a, Matrix(b.transpose()));
}
Matrix transposed_product(const Matrix &a, const Matrix &b) {
  return product(Matrix(a.transpose()), b);
}

Vector lower_times(const Matrix &lower, const Vector &v) {
  Vector out(v.size());
  dense::lower_times(lower.rows(), lower.data(), v.data(), out.data());
  return out;
}
Matrix lower_times(const Matrix &lower, const Matrix &m) {
  Matrix out(m.rows(), m.cols());
  dense::lower_times(lower.rows(), m.cols(), lower.data(), m.data(), out.data());
  return out;
}

SymmetricEigen symmetric_eigen(const Matrix &symmetric) {
  SymmetricEigen out{Vector(symmetric.rows()), Matrix(symmetric.rows(), symmetric.rows())};
  dense::symmetric_eigen(symmetric.rows(), symmetric.data(), out.values.data(), out.vectors.data());
  return out;
}

}  // namespace bayes
