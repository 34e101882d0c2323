#include "families/normal/covariance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {

const CovarianceShape *covariance_named(std::string_view name) {
  for (const CovarianceShape *shape :
       {&full_covariance, &tied_covariance, &diagonal_covariance, &spherical_covariance})
    if (name == shape->name) return shape;
  return nullptr;
}

Matrix outer(const CovarianceShape &shape, const Vector &v) {
  if (shape.dense) return v * v.transpose();
  if (shape.isotropic) return Matrix::Constant(1, 1, v.squaredNorm());
  return v.array().square().matrix();
}

Matrix shaped(const CovarianceShape &shape, const Matrix &full) {
  if (shape.dense) return full;
  if (shape.isotropic) return Matrix::Constant(1, 1, full.diagonal().mean());
  return full.diagonal();
}

Matrix dense_form(const CovarianceShape &shape, const Matrix &scale, int d) {
  if (shape.dense) return scale;
  if (shape.isotropic) return scale(0, 0) * Matrix::Identity(d, d);
  return scale.col(0).asDiagonal();
}

double FactoredScale::quadratic(const Vector &v) const {
  if (whiten.cols() == 1) return (whiten.col(0).cwiseProduct(v)).squaredNorm();
  return lower_times(whiten, v).squaredNorm();
}

bool factor(const CovarianceShape &shape, const Matrix &scale, int d, FactoredScale &out) {
  if (shape.dense) {
    Matrix lower;
    if (!cholesky(scale, lower)) return false;
    out.log_determinant = bayes::log_determinant(lower);
    out.whiten = inverse_lower(lower);
  } else {
    if (!(scale.minCoeff() > 0) || !scale.allFinite()) return false;
    const Vector variances =
        shape.isotropic ? Vector::Constant(d, scale(0, 0)) : Vector(scale.col(0));
    out.log_determinant = variances.array().log().sum();
    out.whiten = variances.array().rsqrt().matrix();
  }
  return out.whiten.allFinite();
}

void not_positive_definite(const char *what, int component) {
  throw Error(Errc::numeric,
              message("the {} of component {} is not positive definite", what, component + 1),
              "A matrix that must be invertible is singular or has overflowed.",
              "Check for columns with extreme values, and rescale them.");
}

std::vector<FactoredScale> factor_all(const CovarianceShape &shape,
                                      const std::vector<Matrix> &scales, int d, const char *what) {
  std::vector<FactoredScale> out(scales.size());
  for (std::size_t s = 0; s < scales.size(); ++s) {
    poll_here();
    if (!factor(shape, scales[s], d, out[s])) not_positive_definite(what, int(s));
  }
  return out;
}

double trace_solve(const CovarianceShape &shape, const Matrix &m, const FactoredScale &a) {
  if (shape.dense) return product(a.whiten, m).cwiseProduct(a.whiten).sum();
  if (shape.isotropic) return m(0, 0) * a.whiten(0, 0) * a.whiten(0, 0);
  return (m.col(0).array() * a.whiten.col(0).array().square()).sum();
}

CovarianceFloor::CovarianceFloor(const Vector &column_variances, double relative, Matrix covariance)
    : relative_(relative),
      covariance_(std::move(covariance)) {
  for (const double v : column_variances) constant_.push_back(!(v > 0));
  deviation_ = column_variances.unaryExpr([](double v) { return v > 0 ? std::sqrt(v) : 1.0; });
  mean_variance_ = deviation_.array().square().mean();
}

bool CovarianceFloor::apply(const CovarianceShape &shape, Matrix &scale) const {
  if (!shape.dense) {
    const Matrix least = shape.isotropic ? Matrix::Constant(1, 1, relative_ * mean_variance_)
                                         : Matrix(relative_ * deviation_.array().square().matrix());
    const bool low = (scale.array() < least.array()).any();
    scale = scale.cwiseMax(least);
    return low;
  }
  Matrix standard = standardised(scale);
  if (surely_above(standard, relative_)) return false;
  const SymmetricEigen eigen = symmetric_eigen(standard);
  if (eigen.values(0) >= relative_) return false;
  standard = product_transposed(eigen.vectors * eigen.values.cwiseMax(relative_).asDiagonal(),
                                eigen.vectors);
  scale = deviation_.asDiagonal() * standard * deviation_.asDiagonal();
  scale = 0.5 * (scale + scale.transpose()).eval();
  return true;
}

void CovarianceFloor::regularise(const CovarianceShape &shape, Matrix &scale) const {
  if (!shape.dense)
    apply(shape, scale);
  else if (!surely_above(standardised(scale), relative_))
    scale.diagonal() += relative_ * deviation_.array().square().matrix();
}

Matrix CovarianceFloor::standardised(const Matrix &scale) const {
  const Vector inverse = deviation_.cwiseInverse();
  return inverse.asDiagonal() * scale * inverse.asDiagonal();
}

/// The smallest eigenvalue is at least 1 / trace of the inverse: usually this bound suffices, and
/// it is much cheaper.
bool CovarianceFloor::surely_above(const Matrix &standard, double least) const {
  Matrix lower;
  return cholesky(standard, lower) && inverse_lower(lower).squaredNorm() * least <= 1;
}

/// A basis of the directions in which the standard deviation of the rows is at least ten times the
/// floor's or, if the floor is high, the geometric mean of the floor's and 1.
Matrix CovarianceFloor::directions_of_rows() const {
  const SymmetricEigen eigen = symmetric_eigen(standardised(covariance_));
  const Eigen::Index all = eigen.values.size();
  const double least = std::min(100 * relative_, std::sqrt(relative_));
  Eigen::Index wide = 0;
  while (wide < all && eigen.values(all - 1 - wide) >= least) ++wide;
  return eigen.vectors.rightCols(wide);
}

std::vector<bool> CovarianceFloor::reached(const CovarianceShape &shape,
                                           const std::vector<Matrix> &scales) const {
  const double edge = 1.001 * relative_;  // clipped eigenvalues have rounding errors
  const auto varies = [this](Eigen::Index j) { return !constant_[std::size_t(j)]; };
  std::vector<bool> out;
  std::optional<Matrix> directions;
  for (const Matrix &scale : scales) {
    poll_here();
    bool low = false;
    if (shape.isotropic) {
      low = scale(0, 0) <= edge * mean_variance_ &&
            std::find(constant_.begin(), constant_.end(), false) != constant_.end();
    } else if (!shape.dense) {
      for (Eigen::Index j = 0; j < scale.rows(); ++j)
        low |= varies(j) && scale(j, 0) <= edge * deviation_(j) * deviation_(j);
    } else if (const Matrix standard = standardised(scale); !surely_above(standard, edge)) {
      if (!directions) directions = directions_of_rows();
      const Matrix &v = *directions;
      low = v.cols() > 0 &&
            symmetric_eigen(transposed_product(v, product(standard, v))).values(0) <= edge;
    }
    out.push_back(low);
  }
  return out;
}

}  // namespace bayes
