// The four shapes that the covariances of a normal mixture can have, and the one policy for
// singular ones.
//
// A shape says how many scale matrices K components have (one each, or one for all), and of which
// form: d x d, a column of d variances, or a single variance. Priors and posteriors use the same
// forms: a Wishart(a, B) on the precision for d x d, one Wishart of dimension 1 (a gamma) for each
// variance otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/linalg.hpp"

namespace bayes {

struct FullCovariance {
  static constexpr const char *name = "full";
  static constexpr bool dense = true, shared = false, isotropic = false;
};
struct TiedCovariance {
  static constexpr const char *name = "tied";
  static constexpr bool dense = true, shared = true, isotropic = false;
};
struct DiagonalCovariance {
  static constexpr const char *name = "diagonal";
  static constexpr bool dense = false, shared = false, isotropic = false;
};
struct SphericalCovariance {
  static constexpr const char *name = "spherical";
  static constexpr bool dense = false, shared = false, isotropic = true;
};

template <class S> constexpr int scale_rows(int d) { return S::isotropic ? 1 : d; }
template <class S> constexpr int scale_columns(int d) { return S::dense ? d : 1; }
template <class S> constexpr int scale_count(int k) { return S::shared ? 1 : k; }
template <class S> constexpr int scale_index(int k) { return S::shared ? 0 : k; }

/// Free parameters of the covariances of k components.
template <class S> double scale_parameters(int d, int k) {
  return scale_count<S>(k) * (S::dense ? 0.5 * d * (d + 1) : double(scale_rows<S>(d)));
}

/// v v' in the shape's form: d x d, the d squares, or their sum.
template <class S> Matrix outer(const Vector &v) {
  if constexpr (S::dense)
    return v * v.transpose();
  else if constexpr (S::isotropic)
    return Matrix::Constant(1, 1, v.squaredNorm());
  else
    return v.array().square().matrix();
}

/// A d x d matrix reduced to the shape's form: itself, its diagonal, or the mean of its diagonal.
template <class S> Matrix shaped(const Matrix &full) {
  if constexpr (S::dense)
    return full;
  else if constexpr (S::isotropic)
    return Matrix::Constant(1, 1, full.diagonal().mean());
  else
    return full.diagonal();
}

/// The d x d matrix that a scale stands for.
template <class S> Matrix dense_form(const Matrix &scale, int d) {
  if constexpr (S::dense)
    return scale;
  else if constexpr (S::isotropic)
    return scale(0, 0) * Matrix::Identity(d, d);
  else
    return scale.col(0).asDiagonal();
}

/// A scale matrix factored for use: log-determinant of the d x d matrix, and what whitens a centred
/// row. For dense shapes `whiten` is L^-1 (lower triangular, d x d); otherwise d reciprocal
/// standard deviations.
struct FactoredScale {
  double log_determinant = 0;
  Matrix whiten;

  double quadratic(const Vector &v) const {
    return whiten.cols() == 1 ? (whiten.col(0).cwiseProduct(v)).squaredNorm()
                              : (whiten.triangularView<Eigen::Lower>() * v).squaredNorm();
  }
};

/// False if the scale is not positive definite.
template <class S> bool factor(const Matrix &scale, int d, FactoredScale &out) {
  if constexpr (S::dense) {
    Matrix lower;
    if (!cholesky(scale, lower)) return false;
    out.log_determinant = bayes::log_determinant(lower);
    out.whiten = inverse_lower(lower);
  } else {
    if (!(scale.minCoeff() > 0) || !scale.allFinite()) return false;
    const Vector variances = S::isotropic ? Vector::Constant(d, scale(0, 0)) : Vector(scale.col(0));
    out.log_determinant = variances.array().log().sum();
    out.whiten = variances.array().rsqrt().matrix();
  }
  return out.whiten.allFinite();
}

/// trace(M A^-1) where `scale` stands for A, factored, and M is d x d or in the shape's form.
template <class S> double trace_solve(const Matrix &m, const FactoredScale &a) {
  if constexpr (S::dense)
    return (a.whiten * m * a.whiten.transpose()).trace();
  else if constexpr (S::isotropic)
    return m(0, 0) * a.whiten(0, 0) * a.whiten(0, 0);
  else
    return (m.col(0).array() * a.whiten.col(0).array().square()).sum();
}

/// The policy for singular covariances.
///
/// In units of each column's standard deviation, no component may be thinner than sqrt(relative) in
/// any direction: the eigenvalues of D^-1/2 Sigma D^-1/2 are kept at `relative` or above, D being
/// the columns' variances over all rows (1 for a constant column). Clipping the eigenvalues is the
/// exact maximiser of the likelihood under that constraint, so EM stays monotone with it, and the
/// likelihood is bounded (Ingrassia and Rocci 2007, constrained ML for normal mixtures).
class CovarianceFloor {
 public:
  CovarianceFloor(const Vector &column_variances, double relative) : relative_(relative) {
    deviation_ = column_variances.unaryExpr([](double v) { return v > 0 ? std::sqrt(v) : 1.0; });
    mean_variance_ = deviation_.array().square().mean();
  }

  /// The standard deviation of every column over all rows, 1 for a constant column.
  const Vector &deviation() const { return deviation_; }

  /// Lifts the scale to the floor where it is below it. True if it was.
  template <class S> bool apply(Matrix &scale) const {
    if constexpr (S::dense) {
      Matrix standard = standardised(scale);
      if (surely_above(standard)) return false;
      const Eigen::SelfAdjointEigenSolver<Matrix> eigen(standard);
      if (eigen.eigenvalues()(0) >= relative_) return false;
      standard = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(relative_).asDiagonal() *
                 eigen.eigenvectors().transpose();
      scale = deviation_.asDiagonal() * standard * deviation_.asDiagonal();
      scale = 0.5 * (scale + scale.transpose()).eval();
      return true;
    } else {
      const Matrix least = S::isotropic ? Matrix::Constant(1, 1, relative_ * mean_variance_)
                                        : Matrix(relative_ * deviation_.array().square().matrix());
      const bool low = (scale.array() < least.array()).any();
      scale = scale.cwiseMax(least);
      return low;
    }
  }

  /// For a prior, which needs to be regular but not the maximiser of anything: where the scale may
  /// be below the floor, adds the floor to every direction. Needs no eigenvalues, which take
  /// seconds for a thousand columns.
  template <class S> void regularise(Matrix &scale) const {
    if constexpr (!S::dense)
      apply<S>(scale);
    else if (!surely_above(standardised(scale)))
      scale.diagonal() += relative_ * deviation_.array().square().matrix();
  }

 private:
  Matrix standardised(const Matrix &scale) const {
    const Vector inverse = deviation_.cwiseInverse();
    return inverse.asDiagonal() * scale * inverse.asDiagonal();
  }

  /// The smallest eigenvalue is at least 1 / trace of the inverse: mostly enough to know, and much
  /// cheaper than finding it.
  bool surely_above(const Matrix &standard) const {
    Matrix lower;
    return cholesky(standard, lower) && inverse_lower(lower).squaredNorm() * relative_ <= 1;
  }

  double relative_, mean_variance_;
  Vector deviation_;
};

}  // namespace bayes
