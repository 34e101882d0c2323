// The four covariance shapes of a normal mixture, and the policy for singular covariances.
//
// A shape says how many scale matrices K components have (one each, or one for all), and of which
// form: d x d, a column of d variances, or a single variance. Priors and posteriors use the same
// forms: a Wishart(a, B) on the precision for d x d, one Wishart of dimension 1 (a gamma) for each
// variance otherwise.
//
// The shape is a value, not a type, so that every formula is compiled once; branches on it are
// outside all loops over rows.
#pragma once

#include <string_view>
#include <vector>

#include "base/linalg.hpp"

namespace bayes {

struct CovarianceShape {
  const char *name;
  bool dense;      ///< d x d; else variances only
  bool shared;     ///< one for all components
  bool isotropic;  ///< one variance for all columns

  bool operator==(const CovarianceShape &other) const {
    return dense == other.dense && shared == other.shared && isotropic == other.isotropic;
  }

  // The form of a scale matrix, and how many of them K components have.
  int rows(int d) const { return isotropic ? 1 : d; }
  int columns(int d) const { return dense ? d : 1; }
  int count(int k) const { return shared ? 1 : k; }
  int index(int k) const { return shared ? 0 : k; }

  /// Free parameters of the covariances of k components.
  double parameters(int d, int k) const {
    return count(k) * (dense ? 0.5 * d * (d + 1) : double(rows(d)));
  }

  // A component's d x d precision consists of independent Wisharts (with the same a): their
  // dimension and their number.
  int wishart_dimension(int d) const { return dense ? d : 1; }
  int wishart_copies(int d) const { return dense || isotropic ? 1 : d; }
  /// The spherical precision enters the determinant once for every column.
  int determinant_power(int d) const { return isotropic ? d : 1; }
};

inline constexpr CovarianceShape full_covariance{"full", true, false, false},
    tied_covariance{"tied", true, true, false},
    diagonal_covariance{"diagonal", false, false, false},
    spherical_covariance{"spherical", false, false, true};

/// The shape of this name; nullptr if there is none.
const CovarianceShape *covariance_named(std::string_view name);

/// v v' in the shape's form: d x d, the d squares, or their sum.
Matrix outer(const CovarianceShape &shape, const Vector &v);

/// A d x d matrix reduced to the shape's form: itself, its diagonal, or the mean of its diagonal.
Matrix shaped(const CovarianceShape &shape, const Matrix &full);

/// The d x d matrix that a scale represents.
Matrix dense_form(const CovarianceShape &shape, const Matrix &scale, int d);

/// A factored scale matrix: the log determinant of the d x d matrix, and the factor that whitens a
/// centred row: for dense shapes L^-1 (lower triangular, d x d), otherwise the d reciprocal
/// standard deviations.
struct FactoredScale {
  double log_determinant = 0;
  Matrix whiten;

  double quadratic(const Vector &v) const;
};

/// False if the scale is not positive definite.
bool factor(const CovarianceShape &shape, const Matrix &scale, int d, FactoredScale &out);

/// Throws Error(numeric): the `what` of this component (from 0) is not positive definite.
[[noreturn]] void not_positive_definite(const char *what, int component);

/// Factors all scales. Throws Error(numeric), as not_positive_definite() does, for the first that
/// is not positive definite.
std::vector<FactoredScale> factor_all(const CovarianceShape &shape,
                                      const std::vector<Matrix> &scales, int d, const char *what);

/// trace(M A^-1), where `a` is A, factored, and M is in the shape's form.
double trace_solve(const CovarianceShape &shape, const Matrix &m, const FactoredScale &a);

/// The policy for singular covariances.
///
/// In units of each column's standard deviation, no component may have a standard deviation below
/// sqrt(relative) in any direction: the eigenvalues of D^-1/2 Sigma D^-1/2 are at least `relative`,
/// D being the columns' variances over all rows (1 for a constant column). Clipping the eigenvalues
/// is the exact maximiser of the likelihood under that constraint, so EM stays monotone with it,
/// and the likelihood is bounded (Ingrassia and Rocci 2007, constrained ML for normal mixtures).
class CovarianceFloor {
 public:
  /// `covariance`: that of all rows, d x d, for dense shapes.
  CovarianceFloor(const Vector &column_variances, double relative, Matrix covariance = {});

  /// The standard deviation of every column over all rows, 1 for a constant column.
  const Vector &deviation() const { return deviation_; }

  /// Raises the scale to the floor where it is below it. True if it was below.
  bool apply(const CovarianceShape &shape, Matrix &scale) const;

  /// Which of the scales are at the floor in a direction in which the rows vary? In other
  /// directions (constant columns, linearly dependent columns) every scale is at the floor,
  /// whatever rows it describes.
  std::vector<bool> reached(const CovarianceShape &shape, const std::vector<Matrix> &scales) const;

  /// For a prior, which must be regular but need not maximise anything: adds the floor in every
  /// direction if the scale may be below it. Needs no eigenvalues, which take seconds for a
  /// thousand columns.
  void regularise(const CovarianceShape &shape, Matrix &scale) const;

 private:
  Matrix standardised(const Matrix &scale) const;
  bool surely_above(const Matrix &standard, double least) const;
  Matrix directions_of_rows() const;

  double relative_, mean_variance_;
  Vector deviation_;
  /// for every column
  std::vector<bool> constant_;
  Matrix covariance_;
};

}  // namespace bayes
